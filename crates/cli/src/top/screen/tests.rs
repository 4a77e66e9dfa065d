//! What is on the terminal, recorded: a change of it shows as a change of a file.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::super::view::Key;
use super::*;

fn frame() -> Frame {
    let node = |name: &str, rate: f64, us: u64| Seen {
        name: name.to_owned(),
        ops_per_second: Some(rate),
        p50: Some(Duration::from_micros(us)),
        p99: Some(Duration::from_micros(us * 3)),
        score: Some(Duration::from_micros(us + 5)),
        report: "within the limit".to_owned(),
        connections: Some(12),
        ..Seen::default()
    };
    let unreachable = "cache-3: refused".parse::<steersman_memcached::NodeConfig>();
    Frame {
        nodes: vec![
            node("cache-1", 12_345.0, 90),
            Seen {
                penalised: true,
                report: "penalised".to_owned(),
                in_flight: 1,
                ..node("cache-2", 2_000.0, 25_000)
            },
            Seen {
                name: "cache-3".to_owned(),
                failure: unreachable.err(),
                ..Seen::default()
            },
        ],
    }
}

fn drawn(frame: &Frame, view: &View, (width, height): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|area| draw(area, frame, view)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let lines = buffer.content.chunks(width).map(|cells| {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned() + "\n"
    });
    lines.collect()
}

fn pressed(keys: &[Key]) -> View {
    let mut view = View::new(true);
    for key in keys {
        view.press(*key, &frame());
    }
    view
}

#[test]
fn all_nodes_stand_below_each_other() {
    let screen = text(&drawn(&frame(), &pressed(&[]), (84, 9)));
    assert_eq!(screen, include_str!("snapshots/all.txt"));
}

#[test]
fn what_is_known_of_the_chosen_node_stands_below() {
    let view = pressed(&[Key::Down, Key::Down]);
    let screen = text(&drawn(&frame(), &view, (84, 9)));
    assert_eq!(screen, include_str!("snapshots/chosen.txt"));
}

#[test]
fn nodes_can_be_sorted_by_any_column() {
    let view = pressed(&[Key::Sort, Key::Sort, Key::Sort, Key::Sort]);
    let screen = text(&drawn(&frame(), &view, (84, 9)));
    assert_eq!(screen, include_str!("snapshots/sorted.txt"));
}

#[test]
fn columns_that_do_not_fit_are_left_out() {
    let screen = text(&drawn(&frame(), &pressed(&[]), (40, 7)));
    assert_eq!(screen, include_str!("snapshots/small.txt"));
    for size in [(0, 0), (1, 1), (3, 200), (200, 3)] {
        drawn(&frame(), &pressed(&[Key::Down]), size);
    }
}

#[test]
fn colours_tell_what_needs_attention_and_can_be_left_out() {
    let colours = |colours| {
        let view = View::new(colours);
        let buffer = drawn(&frame(), &view, (84, 9));
        [3, 4, 5].map(|row| buffer[(0, row)].fg)
    };
    assert_eq!(colours(true), [Color::Reset, Color::Yellow, Color::Red]);
    assert_eq!(colours(false), [Color::Reset; 3]);
}
