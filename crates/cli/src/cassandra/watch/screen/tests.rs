//! Frames on a terminal.

use crate::cassandra::watch::report::tests::frame;

use super::*;

fn screen(colours: bool, height: fn() -> usize) -> Screen {
    Screen {
        height,
        ..Screen::new(colours)
    }
}

#[test]
fn a_frame_is_drawn_over_the_one_before() {
    let mut screen = screen(false, || 40);
    let mut out = Vec::new();
    screen.draw(&frame(), &mut out).unwrap();
    let first = String::from_utf8(std::mem::take(&mut out)).unwrap();
    assert!(first.starts_with("\x1b[?7l\x1b[J"), "{first:?}");
    assert!(first.ends_with("\x1b[?7h"), "{first:?}");
    // A title, a gap, a heading, three nodes, a gap, an event.
    assert_eq!(first.lines().count() - 1, 8);
    assert!(!first.contains("\x1b[31m"), "{first:?}");
    screen.draw(&frame(), &mut out).unwrap();
    let second = String::from_utf8(out).unwrap();
    assert!(second.starts_with("\x1b[8A"), "{second:?}");
    // What changed stays.
    assert_eq!(second.matches("is penalised").count(), 2);
}

#[test]
fn nodes_in_trouble_have_a_colour() {
    let mut screen = screen(true, || 40);
    let lines = screen.lines(&frame()).unwrap();
    assert!(lines[3].starts_with("127.0.0.1:9042"), "{lines:?}");
    assert!(lines[4].starts_with("\x1b[31m127.0.0.2:9042"), "{lines:?}");
    assert!(lines[5].ends_with("\x1b[0m"), "{lines:?}");
}

#[test]
fn the_last_changes_are_kept_and_a_low_terminal_shows_what_fits() {
    let mut screen = screen(false, || 5);
    let mut out = Vec::new();
    for _ in 0..CHANGES + 3 {
        out.clear();
        screen.draw(&frame(), &mut out).unwrap();
    }
    assert_eq!(screen.changes.len(), CHANGES);
    assert_eq!(screen.drawn, 4);
    assert!(String::from_utf8(out).unwrap().starts_with("\x1b[4A"));
}
