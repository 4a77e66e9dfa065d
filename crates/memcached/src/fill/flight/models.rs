//! Every order in which those who take part in a flight can come and go, by loom.

use loom::thread;

use super::*;

#[test]
fn a_flight_ends_with_whoever_leaves_last() {
    loom::model(|| {
        let flights = Arc::<Flights>::default();
        let key = Bytes::from_static(b"key");
        let other = {
            let (flights, key) = (Arc::clone(&flights), key.clone());
            thread::spawn(move || drop(flights.join(&key)))
        };
        drop(flights.join(&key));
        other.join().unwrap();
        assert_eq!(flights.len(), 0);
    });
}

#[test]
fn of_two_who_join_one_leads() {
    loom::model(|| {
        let flights = Arc::<Flights>::default();
        let key = Bytes::from_static(b"key");
        // Held, so that they are in the same flight.
        let seat = flights.join(&key);
        let other = {
            let (flights, key) = (Arc::clone(&flights), key.clone());
            thread::spawn(move || flights.join(&key).try_lead())
        };
        let mine = flights.join(&key).try_lead();
        let others = other.join().unwrap();
        assert!(mine.is_some() != others.is_some());
        drop((mine, others));
        assert_eq!(flights.len(), 1);
        drop(seat);
        assert_eq!(flights.len(), 0);
    });
}
