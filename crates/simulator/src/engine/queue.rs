//! What is going to happen, in order of time: the event queue.

/// A kind of event, with the number of what it happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// An attempt reaches its server.
    Reach(u32),
    /// An attempt is over for its client.
    End(u32),
    /// An attempt has gone on for so long that another node is asked as well.
    Hedge(u32),
    /// A worker asks again.
    Issue(u32),
    /// A client's policy does its regular work.
    Tick(u32),
}

/// Numbers of attempts, workers and clients are below this.
pub(super) const MAX_NUMBER: u32 = 1 << INDEX_BITS;

const INDEX_BITS: u32 = 23;
const PAYLOAD_BITS: u32 = INDEX_BITS + 3;
const CHILDREN: usize = 4;

/// A heap with four children a node, which share a cache line, of events packed into 16 bytes: the time,
/// the order in which events were added, by which events of the same time are ordered, and what happens.
/// So a run is exactly repeatable, and an event is ordered by one comparison.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    heap: Vec<u128>,
    added: u64,
}

impl EventQueue {
    pub(super) fn push(&mut self, at: u64, event: Event) {
        let (kind, index) = match event {
            Event::Reach(index) => (0, index),
            Event::End(index) => (1, index),
            Event::Hedge(index) => (2, index),
            Event::Issue(index) => (3, index),
            Event::Tick(index) => (4, index),
        };
        // 38 bits are left for the order: 270 billion events, more than a year of computing.
        let low = self.added << PAYLOAD_BITS | u64::from(kind << INDEX_BITS | index);
        self.added += 1;
        let packed = u128::from(at) << 64 | u128::from(low);
        let mut hole = self.heap.len();
        self.heap.push(packed);
        while hole > 0 {
            let parent = (hole - 1) / CHILDREN;
            if self.heap[parent] <= packed {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = packed;
    }

    /// When the next event is.
    #[inline]
    pub(super) fn next_at(&self) -> Option<u64> {
        self.heap.first().map(|packed| (packed >> 64) as u64)
    }

    pub(super) fn pop(&mut self) -> Option<(u64, Event)> {
        let first = *self.heap.first()?;
        let last = self.heap.pop()?;
        if !self.heap.is_empty() {
            self.sift_down(last);
        }
        let payload = (first & ((1 << PAYLOAD_BITS) - 1)) as u32;
        let index = payload & (MAX_NUMBER - 1);
        let event = match payload >> INDEX_BITS {
            0 => Event::Reach(index),
            1 => Event::End(index),
            2 => Event::Hedge(index),
            3 => Event::Issue(index),
            _ => Event::Tick(index),
        };
        Some(((first >> 64) as u64, event))
    }

    /// Puts an event in the place of the first, and lets it sink to where it belongs.
    fn sift_down(&mut self, packed: u128) {
        let heap = &mut self.heap[..];
        let mut hole = 0;
        loop {
            let first = hole * CHILDREN + 1;
            let Some(children) = heap.get(first..heap.len().min(first + CHILDREN)) else {
                break;
            };
            let Some((offset, least)) = children
                .iter()
                .copied()
                .enumerate()
                .min_by_key(|(_, child)| *child)
            else {
                break;
            };
            if packed <= least {
                break;
            }
            heap[hole] = least;
            hole = first + offset;
        }
        heap[hole] = packed;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_as_they_were_added(
            steps in proptest::collection::vec(proptest::option::weighted(0.6, 0_u64..50), 1..300)
        ) {
            let mut queue = EventQueue::default();
            let mut expected: Vec<(u64, u32)> = Vec::new();
            for (number, step) in (0..).zip(steps) {
                match step {
                    Some(at) => {
                        queue.push(at, Event::End(number));
                        expected.push((at, number));
                        // Stable: those of the same time stay in order.
                        expected.sort_by_key(|(at, _)| *at);
                    }
                    None if expected.is_empty() => prop_assert_eq!(queue.pop(), None),
                    None => {
                        let (at, number) = expected.remove(0);
                        prop_assert_eq!(queue.next_at(), Some(at));
                        prop_assert_eq!(queue.pop(), Some((at, Event::End(number))));
                    }
                }
            }
        }
    }

    #[test]
    fn what_happens_survives_the_packing() {
        let mut queue = EventQueue::default();
        let last = MAX_NUMBER - 1;
        let events = [
            Event::Reach(last),
            Event::End(0),
            Event::Hedge(5),
            Event::Issue(last),
            Event::Tick(last),
        ];
        for event in events {
            queue.push(u64::MAX, event);
        }
        for event in events {
            assert_eq!(queue.pop(), Some((u64::MAX, event)));
        }
    }
}
