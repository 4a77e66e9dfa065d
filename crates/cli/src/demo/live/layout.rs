//! What of a frame fits into a terminal.

/// How wide the bar is that shares of one half and more fill, if the terminal is wide enough.
pub(super) const BAR: usize = 40;

/// A bar narrower than this tells nothing.
const MIN_BAR: usize = 10;

/// What is assumed of a terminal that does not know how large it is.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// What of a frame fits into the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    /// The widths of the names and of the bars.
    pub(super) name: usize,
    pub(super) bar: usize,
    /// Whether there is room for the reads a second, and for how long they take.
    pub(super) rate: bool,
    pub(super) median: bool,
}

impl Layout {
    /// The widest bar and the most columns in a frame of this many lines; `None` if nothing useful
    /// fits.
    pub(super) fn new((width, height): (usize, usize), lines: usize, name: usize) -> Option<Self> {
        // The cursor has a line of its own below the frame.
        if height <= lines {
            return None;
        }
        // What stands around the bar: margin, name, state and share, with their spaces.
        let fixed = 2 + name + 2 + 4 + 2 + 2 + 6;
        let columns = [(true, true, 19 + 10), (false, true, 10), (false, false, 0)];
        columns.into_iter().find_map(|(rate, median, columns)| {
            let bar = width.saturating_sub(fixed + columns).min(BAR);
            (bar >= MIN_BAR).then_some(Self {
                name,
                bar,
                rate,
                median,
            })
        })
    }
}

/// The terminal's width and height.
pub(super) fn terminal_size() -> (usize, usize) {
    terminal_size::terminal_size().map_or(USUAL_SIZE, |(width, height)| {
        (width.0.into(), height.0.into())
    })
}
