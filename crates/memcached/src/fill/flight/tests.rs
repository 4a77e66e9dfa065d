use std::task::{Context, Waker};

use futures_util::FutureExt;

use super::*;
use crate::fill::Origin;

fn filled(data: &'static str) -> Filled {
    Filled {
        data: Bytes::from_static(data.as_bytes()),
        flags: 0,
        origin: Origin::Waited,
    }
}

fn flights() -> (Arc<Flights>, Bytes) {
    (Arc::default(), Bytes::from_static(b"key"))
}

#[tokio::test]
async fn what_lands_is_for_those_who_saw_what_it_replaced() {
    let (flights, key) = flights();
    let lead = flights.join(&key).try_lead().unwrap();
    let (seat, other) = (flights.join(&key), flights.join(&key));
    assert!(flights.join(&key).try_lead().is_none());
    flights.land(&key, 7, || filled("x"));
    let Next::Landed(landed) = seat.next(7).await else {
        panic!("it has landed");
    };
    assert_eq!(landed, filled("x"));
    assert!(matches!(other.next(8).await, Next::Missed));
    drop(lead);

    // Whoever comes later is in another flight.
    let later = flights.join(&key);
    assert!(
        later
            .next(7)
            .now_or_never()
            .is_some_and(|next| matches!(next, Next::Turn(_)))
    );
    drop((seat, other));
    assert_eq!(flights.len(), 1);
    drop(later);
    assert_eq!(flights.len(), 0);
}

#[tokio::test]
async fn the_lead_goes_from_one_to_the_next() {
    let (flights, key) = flights();
    let lead = flights.join(&key).try_lead().unwrap();
    let seats = [(); 3].map(|()| flights.join(&key));
    let [mut first, mut second, mut third] = seats.each_ref().map(|seat| Box::pin(seat.next(1)));
    let mut context = Context::from_waker(Waker::noop());
    for waiting in [&mut first, &mut second, &mut third] {
        assert!(waiting.poll_unpin(&mut context).is_pending());
    }
    drop(lead);
    drop(first);
    assert!(third.poll_unpin(&mut context).is_pending());
    let Next::Turn(guard) = second.await else {
        panic!("it is next");
    };
    drop(guard);
    assert!(matches!(third.await, Next::Turn(_)));
}

#[test]
fn a_flight_ends_with_the_last_who_takes_part() {
    let (flights, key) = flights();
    let keys = [key, Bytes::from_static(b"other")];
    let seats: Vec<Seat> = (0..10).map(|n| flights.join(&keys[n % 2])).collect();
    assert_eq!(flights.len(), 2);
    let mut seats = seats.into_iter();
    let last = seats.next();
    drop(seats);
    assert_eq!(flights.len(), 1);
    let lead = last.and_then(Seat::try_lead);
    assert_eq!(flights.len(), 1);
    drop(lead);
    assert_eq!(flights.len(), 0);
}
