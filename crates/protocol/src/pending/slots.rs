//! The tokens of requests that wait for their replies, in order.

use std::collections::VecDeque;

use crate::Reply;

/// A place for one request's token.
#[derive(Debug)]
pub(super) struct Slot<T> {
    /// `None` once it is cancelled or answered.
    pub(super) token: Option<T>,
    /// How many slots further the next request for the same key of the same line is; 0 if there
    /// is none.
    next: u32,
    /// Whether it is answered together with an earlier slot, which links to it.
    pub(super) linked: bool,
}

/// A queue of slots, numbered through.
#[derive(Debug)]
pub(super) struct Slots<T> {
    queue: VecDeque<Slot<T>>,
    /// The number of the first slot; those behind it are numbered on.
    first: u64,
    /// How many are not answered yet.
    waiting: usize,
}

impl<T> Slots<T> {
    pub(super) fn new() -> Self {
        Self {
            queue: VecDeque::new(),
            first: 0,
            waiting: 0,
        }
    }

    pub(super) fn push(&mut self, token: T) {
        self.push_slot(token, false);
    }

    /// Adds a request that is answered together with the slot `earlier`, the last one of its key.
    pub(super) fn push_linked(&mut self, earlier: u64, token: T) {
        let distance = self.end() - earlier;
        let index = self
            .index(earlier)
            .expect("the slots of an unwritten line are all there");
        self.queue[index].next =
            u32::try_from(distance).expect("a line has fewer requests than that");
        self.push_slot(token, true);
    }

    /// The number that the next slot will have.
    pub(super) fn end(&self) -> u64 {
        self.first + self.queue.len() as u64
    }

    /// Takes the token out of a slot, which keeps its place.
    pub(super) fn cancel(&mut self, slot: u64) -> Option<T> {
        let index = self.index(slot)?;
        self.queue.get_mut(index)?.token.take()
    }

    /// The tokens that wait for an answer, in order.
    pub(super) fn tokens(&self) -> impl Iterator<Item = &T> {
        self.queue.iter().filter_map(|slot| slot.token.as_ref())
    }

    /// The same, to be changed.
    pub(super) fn tokens_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.queue.iter_mut().filter_map(|slot| slot.token.as_mut())
    }

    /// How many requests are not answered yet, those cancelled included.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Answers the first slot and those linked to it.
    pub(super) fn answer(&mut self, reply: Reply, sink: &mut impl FnMut(T, Reply)) {
        let Some(slot) = self.pop() else {
            return;
        };
        if slot.next > 0 {
            self.answer_all(slot, reply, sink);
        } else {
            self.waiting -= 1;
            if let Some(token) = slot.token {
                sink(token, reply);
            }
        }
        // Those linked to a slot that has been answered are answered too.
        while self.queue.front().is_some_and(|slot| slot.linked) {
            self.pop();
        }
    }

    /// Answers a slot that has just been popped, and those linked to it.
    fn answer_all(&mut self, mut slot: Slot<T>, reply: Reply, sink: &mut impl FnMut(T, Reply)) {
        let mut index = 0;
        loop {
            self.waiting -= 1;
            // The first slot is gone, so what is one further is at index 0.
            index += slot.next as usize;
            let linked = match slot.next {
                0 => None,
                _ => self.queue.get_mut(index - 1),
            };
            let Some(linked) = linked else {
                break;
            };
            let linked = Slot {
                token: linked.token.take(),
                ..*linked
            };
            if let Some(token) = slot.token {
                sink(token, reply.clone());
            }
            slot = linked;
        }
        if let Some(token) = slot.token {
            sink(token, reply);
        }
    }

    /// Moves everything from `other` behind what is here.
    pub(super) fn append(&mut self, other: &mut Self) {
        self.queue.append(&mut other.queue);
        self.waiting += std::mem::take(&mut other.waiting);
    }

    /// Takes out every slot, those that are answered included.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Slot<T>> {
        self.waiting = 0;
        self.queue.drain(..)
    }

    fn index(&self, slot: u64) -> Option<usize> {
        usize::try_from(slot.checked_sub(self.first)?).ok()
    }

    fn pop(&mut self) -> Option<Slot<T>> {
        let slot = self.queue.pop_front()?;
        self.first += 1;
        Some(slot)
    }

    fn push_slot(&mut self, token: T, linked: bool) {
        self.queue.push_back(Slot {
            token: Some(token),
            next: 0,
            linked,
        });
        self.waiting += 1;
    }
}
