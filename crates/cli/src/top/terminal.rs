//! The terminal while the screen is live: taken over at first, given back whatever happens.

use std::io::{self, Write};
use std::time::Duration;

use ratatui::Frame as Area;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::view::Key;
use crate::answer::Failure;

/// How long the thread that reads keys takes to notice that nobody waits for them.
const NOTICE: Duration = Duration::from_millis(100);

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Key(Key),
    Resized,
}

pub(super) struct Terminal<'a> {
    drawn: ratatui::Terminal<CrosstermBackend<&'a mut dyn Write>>,
    inputs: mpsc::Receiver<Input>,
    terminate: Signal,
}

impl<'a> Terminal<'a> {
    /// Takes the terminal over.
    pub(super) fn take(mut out: &'a mut dyn Write) -> Result<Self, Failure> {
        let terminate = signal(SignalKind::terminate()).map_err(|error| unusable(&error))?;
        enable_raw_mode().map_err(|error| unusable(&error))?;
        let (sender, inputs) = mpsc::channel(16);
        let taken = execute!(&mut out, EnterAlternateScreen, cursor::Hide)
            .and_then(|()| ratatui::Terminal::new(CrosstermBackend::new(out)));
        let drawn = taken.map_err(|error| {
            let _ = disable_raw_mode();
            unusable(&error)
        })?;
        std::thread::spawn(move || read(&sender));
        Ok(Self {
            drawn,
            inputs,
            terminate,
        })
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Area<'_>)) -> Result<(), Failure> {
        self.drawn.draw(draw)?;
        Ok(())
    }

    /// What the user does next. A request to end the process ends the screen.
    pub(super) async fn next(&mut self) -> Input {
        tokio::select! {
            input = self.inputs.recv() => input.unwrap_or(Input::Key(Key::Quit)),
            _ = self.terminate.recv() => Input::Key(Key::Quit),
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        // Each as far as it goes: a terminal that is gone needs nothing.
        let _ = execute!(self.drawn.backend_mut(), LeaveAlternateScreen, cursor::Show);
        let _ = disable_raw_mode();
    }
}

fn unusable(error: &io::Error) -> Failure {
    Failure::told(format!(
        "cannot use the terminal: {error}; --once needs none"
    ))
}

/// Reads what the user does until nobody waits for it, or the terminal is gone.
fn read(inputs: &mpsc::Sender<Input>) {
    while !inputs.is_closed() {
        let input = match event::poll(NOTICE) {
            Ok(false) => continue,
            Ok(true) => event::read(),
            Err(error) => Err(error),
        };
        let Ok(event) = input else { return };
        if let Some(input) = meaning(&event)
            && inputs.blocking_send(input).is_err()
        {
            return;
        }
    }
}

fn meaning(event: &Event) -> Option<Input> {
    let KeyEvent {
        code,
        modifiers,
        kind,
        ..
    } = match event {
        Event::Resize(..) => return Some(Input::Resized),
        Event::Key(key) => *key,
        _ => return None,
    };
    if kind == KeyEventKind::Release {
        return None;
    }
    let control = modifiers.contains(KeyModifiers::CONTROL);
    Some(Input::Key(match code {
        // In raw mode Ctrl-C is a key like any other.
        KeyCode::Char('c') if control => Key::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
        KeyCode::Up | KeyCode::Char('k') => Key::Up,
        KeyCode::Down | KeyCode::Char('j') => Key::Down,
        KeyCode::Char('s') | KeyCode::Right => Key::Sort,
        KeyCode::Char('r') => Key::Reverse,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_meaning_when_pressed() {
        let key = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
        let plain = |code| meaning(&key(code, KeyModifiers::NONE));
        let is = |key| Some(Input::Key(key));
        assert_eq!(plain(KeyCode::Char('q')), is(Key::Quit));
        assert_eq!(plain(KeyCode::Char('c')), None);
        let interrupt = key(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!(meaning(&interrupt), is(Key::Quit));
        assert_eq!(plain(KeyCode::Down), is(Key::Down));
        assert_eq!(meaning(&Event::Resize(80, 24)), Some(Input::Resized));
        let mut released = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        released.kind = KeyEventKind::Release;
        assert_eq!(meaning(&Event::Key(released)), None);
    }
}
