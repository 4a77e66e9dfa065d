//! Trying the addresses of a name: "Happy Eyeballs Version 2", RFC 8305.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

/// An address that has not answered for so long gets company by the next one: the Connection
/// Attempt Delay that section 8 of the RFC recommends.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// The addresses with the two families taking turns, beginning with that of the first (section 4).
pub(super) fn interleave(addresses: &[SocketAddr]) -> Vec<SocketAddr> {
    let first_is_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let of_first = |address: &&SocketAddr| address.is_ipv6() == first_is_v6;
    let mut first = addresses.iter().copied().filter(|a| of_first(&a));
    let mut second = addresses.iter().copied().filter(|a| !of_first(&a));
    let mut turns = Vec::with_capacity(addresses.len());
    while turns.len() < addresses.len() {
        turns.extend(first.next());
        turns.extend(second.next());
    }
    turns
}

/// Tries the addresses in their order: the next one when the last has failed or was slow (section 5).
/// The first connection wins, and the other attempts are given up.
pub(super) async fn race<T, F>(
    addresses: Vec<SocketAddr>,
    attempt: impl Fn(SocketAddr) -> F,
) -> io::Result<(SocketAddr, T)>
where
    F: Future<Output = io::Result<T>>,
{
    let mut waiting = addresses.into_iter();
    let mut running = FuturesUnordered::new();
    let mut failures = Vec::new();
    loop {
        if let Some(address) = waiting.next() {
            let attempt = attempt(address);
            running.push(async move { (address, attempt.await) });
        }
        tokio::select! {
            biased;
            ended = running.next() => match ended {
                Some((address, Ok(made))) => return Ok((address, made)),
                Some((address, Err(error))) => failures.push((address, error)),
                None => return Err(all_failed(failures)),
            },
            () = tokio::time::sleep(ATTEMPT_DELAY), if waiting.len() > 0 => {}
        }
    }
}

/// Why no address could be connected to.
fn all_failed(mut failures: Vec<(SocketAddr, io::Error)>) -> io::Error {
    let Some((_, last)) = failures.last() else {
        return io::Error::new(io::ErrorKind::HostUnreachable, "there is no address");
    };
    let kind = last.kind();
    if failures.len() == 1
        && let Some((_, only)) = failures.pop()
    {
        return only;
    }
    let same = failures.iter().all(|(_, error)| error.kind() == kind);
    let said: Vec<String> = failures
        .iter()
        .map(|(address, error)| format!("{address}: {error}"))
        .collect();
    io::Error::new(
        if same { kind } else { io::ErrorKind::Other },
        format!(
            "none of {} addresses answers: {}",
            said.len(),
            said.join("; ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::time::Instant;

    use super::*;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn families_take_turns_beginning_with_the_first() {
        let of = |texts: &[&str]| interleave(&addresses(texts));
        assert_eq!(
            of(&["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"]),
            addresses(&["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"])
        );
        assert_eq!(
            of(&["1.1.1.1:1", "2.2.2.2:1", "[::1]:1", "[::2]:1"]),
            addresses(&["1.1.1.1:1", "[::1]:1", "2.2.2.2:1", "[::2]:1"])
        );
        assert_eq!(of(&["[::1]:1"]), addresses(&["[::1]:1"]));
        assert_eq!(of(&[]), []);
    }

    /// Each address ends after so many milliseconds, well or not; says when each was tried.
    async fn run(plan: &[(u64, bool)]) -> (io::Result<usize>, Vec<u128>) {
        let begun = Instant::now();
        let tried = Mutex::new(Vec::new());
        let all =
            (1..=u16::try_from(plan.len()).unwrap()).map(|n| SocketAddr::from(([10, 0, 0, 1], n)));
        let outcome = race(all.collect(), |address| {
            let at = usize::from(address.port()) - 1;
            let (takes, succeeds) = plan[at];
            tried.lock().unwrap().push(begun.elapsed().as_millis());
            async move {
                tokio::time::sleep(Duration::from_millis(takes)).await;
                if succeeds {
                    Ok(at)
                } else {
                    Err(io::ErrorKind::ConnectionRefused.into())
                }
            }
        });
        let outcome = outcome.await.map(|(address, at)| {
            assert_eq!(usize::from(address.port()), at + 1);
            at
        });
        (outcome, tried.into_inner().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_address_gets_company_and_the_first_connection_wins() {
        let (winner, tried) = run(&[(100, true), (0, true)]).await;
        assert_eq!((winner.unwrap(), tried), (0, vec![0]));
        let (winner, tried) = run(&[(9_000, true), (10, true), (0, true)]).await;
        assert_eq!((winner.unwrap(), tried), (1, vec![0, 250]));
        let (winner, tried) = run(&[(300, true), (9_000, true)]).await;
        assert_eq!((winner.unwrap(), tried), (0, vec![0, 250]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_brings_the_next_one_at_once() {
        let (winner, tried) = run(&[(5, false), (5, false), (5, true)]).await;
        assert_eq!((winner.unwrap(), tried), (2, vec![0, 5, 10]));
        let (outcome, tried) = run(&[(400, false), (5, false)]).await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        assert!(
            error.to_string().contains("none of 2 addresses answers"),
            "{error}"
        );
        assert_eq!(tried, [0, 250]);
        let (outcome, _) = run(&[(5, false)]).await;
        assert_eq!(outcome.unwrap_err().to_string(), "connection refused");
        assert!(run(&[]).await.0.is_err());
    }
}
