//! The two modes.

/// How [`LatencyAware`](crate::LatencyAware) judges nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The default: like the reference, with its known faults mended.
    ///
    /// - A node is penalised when its score was over the limit, and not falling, at
    ///   [several ticks](crate::LatencyParameters::confirmations) without a break. The limit is the
    ///   threshold times the minimum, and at least
    ///   [an absolute difference](crate::LatencyParameters::min_difference) above it. At most
    ///   [a share of the nodes](crate::LatencyParameters::max_penalised_share) is penalised, the
    ///   slowest; a node counts until its ramp is over. One that is slower by the threshold takes
    ///   the place of another one, which has its full share again at once, without a ramp: it was
    ///   not found to be fast, and would fail there.
    /// - Nodes are compared within their datacenter, and a penalised one comes last in its
    ///   [`Tier`](crate::Tier), not behind nodes of a further tier.
    /// - A penalised node is probed once a [retry period](crate::LatencyParameters::retry_period),
    ///   and [a little after](crate::LatencyParameters::first_probe) it was penalised. A probe is
    ///   the first attempt at a request, and only for a key that the node holds, if that is known.
    ///   A good answer: the score starts anew from it, and further probes follow, one at a time.
    ///   Three good ones, and the node's share rises from nothing to its full one within
    ///   [the ramp](crate::LatencyParameters::ramp); three over the limit, or a failure, and it waits
    ///   for another retry period. (A single one would keep out nodes whose latencies vary as
    ///   everybody's do.) From the second series on, one that is four times over the limit is enough.
    ///   The ramp ends at a failure, and at the first tick that finds the score over the limit, and
    ///   not falling; a little after that the node is probed again.
    /// - Where nodes are taken in turn, the turns of one that is held back are spread over all others
    ///   ([`Plan::passed_over`](crate::Plan::passed_over)).
    /// - A node that is the only one of its tier is used while it is penalised, and comes back, by
    ///   the same ramp, when its score is within the limit.
    /// - A node that comes in among measured nodes gets its share by the ramp as well.
    /// - The minimum is that of nodes measured within the retry period. If there is none, nobody
    ///   is newly penalised.
    /// - A failure never makes a node look fast: [`Failed`](crate::Outcome::Failed),
    ///   [`TimedOut`](crate::Outcome::TimedOut) and [`Disconnected`](crate::Outcome::Disconnected)
    ///   count as ten times the limit, at most a second, if they took less.
    ///   [`Cancelled`](crate::Outcome::Cancelled) counts only if it took longer than the node's
    ///   average, or the limit if it has none or is probed, and then as an average more than it took.
    ///   [`Refused`](crate::Outcome::Refused), [`Rejected`](crate::Outcome::Rejected) and
    ///   [`Busy`](crate::Outcome::Busy) do not count. A probe that ends like that is followed by
    ///   another one a little later.
    #[default]
    Guarded,
    /// Plan for plan what `LatencyAwarePolicy` of the `DataStax` Java driver 3.11.5 does, its faults
    /// included.
    ///
    /// - A node is penalised while its score is over the threshold times the minimum, and comes
    ///   behind all other nodes.
    /// - A node that has not been heard of for the retry period is not penalised: all requests may
    ///   go to it until new samples have lifted its average.
    /// - There is one minimum, and it stays until another can be computed.
    /// - All outcomes count, failures too, but [`Refused`](crate::Outcome::Refused).
    Reference,
}
