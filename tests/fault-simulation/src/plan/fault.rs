//! What can go wrong, and what ends it.

use std::time::Duration;

use crate::network::{Direction, Pace, Temper};

/// Something that goes wrong, or that is over.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    /// The way between a client, or all of them, and a host changes.
    Way {
        client: Option<usize>,
        host: usize,
        trouble: WayTrouble,
    },
    /// A host changes.
    Host { host: usize, trouble: HostTrouble },
    /// All processes are suspended for a while: for them, time leaps.
    Leap { by: Duration },
    /// A name stands for another host, and before it for so many addresses where nobody is.
    Rename {
        member: usize,
        host: usize,
        vacant: usize,
    },
    /// The name server answers in another way.
    Names { temper: Temper },
    /// These are the members now.
    Members { hosts: Vec<usize> },
    /// The source of the list of members answers in another way.
    Source { temper: Temper },
}

/// What happens on the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WayTrouble {
    /// Nothing gets through in this direction.
    Cut(Direction),
    /// Everything gets through, and with it what was held back; or the connections are reset.
    Mend { resets: bool },
    /// Packets take their time, get lost, or are read slowly.
    Pace(Direction, Pace),
    /// Connections are reset, and what is on them is lost.
    Reset,
}

/// What happens to a server and its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HostTrouble {
    /// The process is killed.
    Kill,
    /// It is started, with nothing stored.
    Start,
    /// The machine loses its power, and nobody is told.
    PowerOff,
    /// It starts again, with nothing stored.
    PowerOn,
    /// The process is stopped by a signal, or goes on.
    Freeze(bool),
    /// Requests are executed, and replies held back, or no longer.
    Stall(bool),
    /// The next requests are answered by an error line and not executed.
    ErrorLines { times: u32 },
    /// The next connections break off within a reply.
    CutReplies {
        times: u32,
        after: usize,
        resets: bool,
    },
    /// The server's clock is set to another time of day.
    SetClock { seconds: i64 },
}
