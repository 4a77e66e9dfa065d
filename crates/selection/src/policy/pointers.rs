//! Pointers to policies are policies, so that one can be shared or chosen at run time.

use std::sync::Arc;
use std::time::Duration;

use super::{Attempt, Call, Candidate, NodeReport, Policy, Turn};
use crate::{Locality, NodeIndex, Timestamp, Topology};

macro_rules! policy_behind {
    ($($pointer:ty),*) => {$(
        impl<P: Policy + ?Sized> Policy for $pointer {
            type Plan<'a>
                = P::Plan<'a>
            where
                Self: 'a;

            #[inline]
            fn plan<'a>(&'a self, call: Call<'a>) -> P::Plan<'a> {
                (**self).plan(call)
            }

            #[inline]
            fn appraise(
                &self,
                call: &Call<'_>,
                node: NodeIndex,
                now: Timestamp,
                turn: Turn,
            ) -> Option<Candidate> {
                (**self).appraise(call, node, now, turn)
            }

            #[inline]
            fn is_off_rack(&self, call: &Call<'_>, node: NodeIndex) -> bool {
                (**self).is_off_rack(call, node)
            }

            fn preferred(&self) -> Option<Locality> {
                (**self).preferred()
            }

            fn report(&self, node: NodeIndex, now: Timestamp) -> Option<NodeReport> {
                (**self).report(node, now)
            }

            #[inline]
            fn begin(&self, node: NodeIndex, now: Timestamp) {
                (**self).begin(node, now);
            }

            #[inline]
            fn record(&self, attempt: &Attempt) {
                (**self).record(attempt);
            }

            #[inline]
            fn probe(&self, call: &Call<'_>, nth: usize, now: Timestamp) -> Option<NodeIndex> {
                (**self).probe(call, nth, now)
            }

            fn topology_changed(&self, topology: &Topology, now: Timestamp) {
                (**self).topology_changed(topology, now);
            }

            fn tick(&self, now: Timestamp) {
                (**self).tick(now);
            }

            fn tick_every(&self) -> Option<Duration> {
                (**self).tick_every()
            }
        }
    )*};
}

policy_behind!(&P, Box<P>, Arc<P>);
