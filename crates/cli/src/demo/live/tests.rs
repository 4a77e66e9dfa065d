//! Frames, and what of them fits.

use super::layout::BAR;
use super::*;

const WIDE: Layout = Layout {
    name: 7,
    bar: BAR,
    rate: true,
    median: true,
};

fn screen(out: &mut Vec<u8>, is_live: bool, colours: bool) -> Screen<'_> {
    let names = ["node-1", "node-10"].map(str::to_owned);
    let mut screen = Screen::new(out, false, &names);
    screen.is_live = is_live;
    screen.size = || (120, 40);
    screen.colours = colours;
    screen.title("under load".to_owned());
    screen.owners(&[0, 1, 0, 0]);
    screen
}

#[test]
fn a_frame_shows_shares_and_states() {
    let mut out = Vec::new();
    let mut screen = screen(&mut out, true, false);
    screen.state(1, State::Dead);
    let half = "#".repeat(20);
    assert_eq!(
        screen.frame(WIDE),
        [
            "steersman demo: under load".to_owned(),
            String::new(),
            format!("  node-1   well  {half}{half}   75.0%"),
            format!(
                "  node-10  dead  {half}{:20}   25.0%  its keys live on the others",
                ""
            ),
        ]
    );
}

#[test]
fn a_frame_compares_clients_below_the_shares_of_reads() {
    let mut out = Vec::new();
    let mut screen = screen(&mut out, true, false);
    let (nodes, clients) = (Arc::new(Meters::new(2)), Arc::new(Meters::new(2)));
    screen.watch_shares(&nodes);
    screen.watch_clients(["quick", "latency-aware"], &clients);
    let layout = Layout {
        rate: false,
        ..WIDE
    };
    let before = screen.frame(layout);
    assert!(before[3].starts_with("  node-10  well   "), "{before:?}");
    for (at, reads) in [(0, 1), (1, 3)] {
        for _ in 0..reads {
            let latency = Duration::from_millis(1);
            nodes.note(at, |seen| seen.latency.record(latency));
            clients.note(at, |seen| seen.latency.record(latency * 8));
        }
    }
    let half = "#".repeat(20);
    assert_eq!(
        screen.frame(layout)[2..],
        [
            format!("  node-1   well  {half}{:20}   25.0%   1.00 ms", ""),
            format!("  node-10  well  {half}{half}   75.0%   1.00 ms"),
            String::new(),
            "  quick          p99  8.00 ms".to_owned(),
            "  latency-aware  p99  8.00 ms".to_owned(),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn frames_are_drawn_over_each_other_and_leave_nothing() {
    let mut out = Vec::new();
    let mut screen = screen(&mut out, true, true);
    let work = tokio::time::sleep(TICK * 5 / 2);
    screen.during(work).await.unwrap();
    screen.clear().unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("under load").count(), 3);
    assert_eq!(text.matches("\x1b[4A").count(), 3);
    assert!(text.contains("\x1b[32mwell\x1b[0m"), "{text:?}");
    assert!(text.ends_with("\x1b[4A\x1b[J"), "{text:?}");
}

#[tokio::test(start_paused = true)]
async fn without_a_terminal_nothing_is_drawn() {
    let mut out = Vec::new();
    let mut screen = screen(&mut out, false, true);
    screen.during(tokio::time::sleep(TICK * 5)).await.unwrap();
    screen.clear().unwrap();
    assert_eq!(out, b"");
}

#[test]
fn a_narrow_terminal_has_shorter_bars_then_fewer_columns() {
    for (width, expected) in [
        (200, Some((40, true, true))),
        (93, Some((40, true, true))),
        (92, Some((39, true, true))),
        (80, Some((27, true, true))),
        (63, Some((10, true, true))),
        (62, Some((28, false, true))),
        (44, Some((10, false, true))),
        (43, Some((19, false, false))),
        (34, Some((10, false, false))),
        (33, None),
        (0, None),
    ] {
        let layout = Layout::new((width, 24), 7, 6);
        let layout = layout.map(|layout| (layout.bar, layout.rate, layout.median));
        assert_eq!(layout, expected, "{width}");
    }
}

#[test]
fn a_frame_leaves_a_line_for_the_cursor() {
    assert!(Layout::new((80, 8), 7, 6).is_some());
    assert_eq!(Layout::new((80, 7), 7, 6), None);
}

#[test]
fn lines_are_no_wider_than_the_terminal() {
    for width in [35, 36, 45, 46, 64, 65, 80, 200] {
        let mut out = Vec::new();
        let mut screen = screen(&mut out, true, false);
        screen.watched = Some(Watch::new(&Arc::new(Meters::new(2))));
        screen.watch_clients(["quick", "latency-aware"], &Arc::new(Meters::new(2)));
        let layout = Layout::new((width, 40), 4, 7).unwrap();
        screen.frame(layout);
        for state in [State::Well, State::Slow, State::Dead] {
            screen.state(0, state);
            let frame = screen.frame(layout);
            assert_eq!(frame[3].contains("reads/s"), layout.rate);
            assert_eq!(frame[3].ends_with("  -"), layout.median);
            for line in frame {
                assert!(line.chars().count() <= width, "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn a_terminal_that_becomes_too_small_is_left_clean() {
    let mut out = Vec::new();
    let mut screen = screen(&mut out, true, false);
    screen.draw().unwrap();
    screen.size = || (20, 40);
    screen.draw().unwrap();
    screen.draw().unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("under load").count(), 1);
    assert!(text.ends_with("\x1b[4A\x1b[J"), "{text:?}");
}
