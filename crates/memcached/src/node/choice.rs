//! Which connection takes the next request, and when there should be another one.

use tokio::time::Instant;

use super::lane::Lane;
use super::state::State;
use crate::options::Options;

impl State {
    /// The connection for the next request, with a free place: one whose next write it can join, else
    /// the first that has few enough to be filled up, and when all have many the one with the fewest.
    ///
    /// What shares a connection shares lines, writes and wake-ups, so a further one is used when it is
    /// needed, as it is opened when it is needed. Spread evenly, the requests of 256 tasks over 128
    /// connections would be two for each, and cost several times as much. One that owes an answer for
    /// long comes last: it may be stuck.
    ///
    /// While noreply writes are outstanding on a connection it takes everything, so that what a
    /// task sends after such a write cannot overtake it on another connection. So there is at
    /// most one such connection. If that is to go, requests wait until those writes are answered.
    pub(super) fn best_lane(&self, options: &Options) -> Option<usize> {
        if self.quiet > 0
            && let Some(index) = self.lanes.iter().position(|lane| lane.quiet > 0)
            && self.lanes[index].is_open()
        {
            let lane = &self.lanes[index];
            let takes = lane.in_flight < options.max_in_flight && !self.is_held(lane.id);
            return takes.then_some(index);
        }
        let few = options
            .open_connection_above
            .clamp(1, options.max_in_flight);
        let mut best: Option<(usize, &Lane)> = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            if !lane.is_open() {
                continue;
            }
            if lane.in_flight < few && !lane.outbox.is_empty() {
                return Some(index);
            }
            if best.is_none_or(|(_, best)| lane.fill(few) < best.fill(few)) {
                best = Some((index, lane));
            }
        }
        let (index, lane) = best?;
        if lane.outbox.is_empty() && lane.in_flight > 0 {
            // Only for the first request of a batch: the clock is read.
            return self.most_prompt_lane(few, options);
        }
        (lane.in_flight < options.max_in_flight).then_some(index)
    }

    /// The same with a look at the clock: one that may be stuck comes behind all others.
    fn most_prompt_lane(&self, few: usize, options: &Options) -> Option<usize> {
        let now = Instant::now();
        let lanes = self.lanes.iter().enumerate();
        let best = lanes
            .filter(|(_, lane)| lane.is_open() && lane.in_flight < options.max_in_flight)
            .min_by_key(|(_, lane)| (lane.silence(now), lane.fill(few)));
        best.map(|(index, _)| index)
    }

    /// Whether every open connection is busy enough that another one should be opened.
    pub(super) fn wants_growth(&self, options: &Options) -> bool {
        // A connection that is full is busy enough, however few that are.
        let busy = options.open_connection_above.min(options.max_in_flight - 1);
        // It is asked for each request, and the answer is mostly found at the first connection.
        let mut open = 0;
        for lane in self.lanes.iter().filter(|lane| lane.is_open()) {
            if lane.in_flight <= busy {
                return false;
            }
            open += 1;
        }
        open < options.max_connections
    }
}
