use super::*;

const NOW: Seconds = 1_800_000_000;

fn store() -> Store {
    Store::new(1024 * 1024, 1024)
}

fn set(store: &mut Store, key: &str, value: &str) {
    let stored = store.store(StoreMode::Set, key.as_bytes(), 0, 0, value.as_bytes(), NOW);
    assert_eq!(stored, Verdict::Stored);
}

fn value(store: &mut Store, key: &str, now: Seconds) -> Option<String> {
    let item = store.get(key.as_bytes(), now)?;
    Some(String::from_utf8(item.value.to_vec()).unwrap())
}

#[test]
fn conditions_decide_what_is_stored() {
    let mut store = store();
    let mut put = |mode, now| store.store(mode, b"k", 7, 0, b"v", now);
    assert_eq!(put(StoreMode::Replace, NOW), Verdict::NotStored);
    assert_eq!(put(StoreMode::Append, NOW), Verdict::NotStored);
    assert_eq!(put(StoreMode::Prepend, NOW), Verdict::NotStored);
    assert_eq!(put(StoreMode::Cas(1), NOW), Verdict::NotFound);
    assert_eq!(put(StoreMode::Add, NOW), Verdict::Stored);
    assert_eq!(put(StoreMode::Add, NOW), Verdict::NotStored);
    assert_eq!(put(StoreMode::Replace, NOW), Verdict::Stored);
    assert_eq!(put(StoreMode::Cas(1), NOW), Verdict::Exists);
    assert_eq!(put(StoreMode::Cas(2), NOW), Verdict::Stored);
    assert_eq!(store.get(b"k", NOW).map(|item| item.cas), Some(3));
}

#[test]
fn joining_keeps_flags_and_expiry() {
    let mut store = store();
    store.store(StoreMode::Set, b"k", 7, 10, b"b", NOW);
    assert_eq!(
        store.store(StoreMode::Append, b"k", 1, 0, b"c", NOW),
        Verdict::Stored
    );
    assert_eq!(
        store.store(StoreMode::Prepend, b"k", 1, 0, b"a", NOW),
        Verdict::Stored
    );
    let item = store.get(b"k", NOW).unwrap();
    assert_eq!((&item.value[..], item.flags), (&b"abc"[..], 7));
    assert_eq!(value(&mut store, "k", NOW + 10), None);
}

#[test]
fn joining_stops_at_the_largest_item() {
    let mut store = store();
    set(&mut store, "k", "12345");
    let room = 1024 - item_size(1, 0, 5);
    let long = vec![b'x'; room + 1];
    assert_eq!(
        store.store(StoreMode::Append, b"k", 0, 0, &long, NOW),
        Verdict::NotStored
    );
    assert_eq!(
        store.store(StoreMode::Append, b"k", 0, 0, &long[1..], NOW),
        Verdict::Stored
    );
}

#[test]
fn counters_wrap_upwards_floor_downwards_and_keep_their_length() {
    let mut store = store();
    set(&mut store, "n", "18446744073709551615");
    assert_eq!(store.count_by(b"n", Direction::Up, 1, NOW), Counted::Now(0));
    assert_eq!(value(&mut store, "n", NOW).unwrap(), format!("{:<20}", 0));

    set(&mut store, "n", "10");
    assert_eq!(
        store.count_by(b"n", Direction::Down, 1, NOW),
        Counted::Now(9)
    );
    assert_eq!(value(&mut store, "n", NOW).unwrap(), "9 ");
    assert_eq!(
        store.count_by(b"n", Direction::Down, 10, NOW),
        Counted::Now(0)
    );
    assert_eq!(
        store.count_by(b"n", Direction::Up, 1234, NOW),
        Counted::Now(1234)
    );
    assert_eq!(value(&mut store, "n", NOW).unwrap(), "1234");

    set(&mut store, "n", "apple");
    assert_eq!(
        store.count_by(b"n", Direction::Up, 1, NOW),
        Counted::NonNumeric
    );
    assert_eq!(
        store.count_by(b"m", Direction::Up, 1, NOW),
        Counted::NotFound
    );
}

#[test]
fn items_expire_with_their_second() {
    let mut store = store();
    store.store(StoreMode::Set, b"k", 0, 5, b"v", NOW);
    assert!(value(&mut store, "k", NOW + 4).is_some());
    assert!(store.touch(b"k", 10, NOW + 4));
    assert!(value(&mut store, "k", NOW + 13).is_some());
    assert_eq!(
        store
            .get_and_touch(b"k", 1, NOW + 13)
            .map(|item| item.value.len()),
        Some(1)
    );
    assert_eq!(value(&mut store, "k", NOW + 14), None);
    assert_eq!(store.len(), 0);

    store.store(StoreMode::Set, b"k", 0, -1, b"v", NOW);
    assert_eq!(value(&mut store, "k", NOW), None);
}

#[test]
fn a_flush_takes_what_is_there_and_a_delayed_one_what_will_be() {
    let mut store = store();
    set(&mut store, "a", "1");
    store.flush(0, NOW);
    assert_eq!(value(&mut store, "a", NOW), None);
    set(&mut store, "a", "1");
    assert!(value(&mut store, "a", NOW).is_some());

    store.flush(10, NOW);
    assert!(value(&mut store, "a", NOW + 8).is_some());
    store.store(StoreMode::Set, b"b", 0, 0, b"2", NOW + 10);
    assert_eq!(value(&mut store, "a", NOW + 10), None);
    assert!(value(&mut store, "b", NOW + 10).is_some());
}

#[test]
fn the_least_recently_used_make_room() {
    let size = item_size(1, 0, 1);
    let mut store = Store::new(3 * size, 1024);
    for key in ["a", "b", "c"] {
        set(&mut store, key, "1");
    }
    assert!(value(&mut store, "a", NOW).is_some());
    set(&mut store, "d", "1");
    assert_eq!(value(&mut store, "b", NOW), None);
    assert_eq!(store.memory_used(), 3 * size);
    assert_eq!(store.counters().evictions, 1);

    store.set_memory_limit(size);
    assert_eq!(store.len(), 1);
    assert!(value(&mut store, "d", NOW).is_some());
}

#[test]
fn what_no_eviction_can_make_room_for_is_refused() {
    let mut store = Store::new(100, 1024);
    set(&mut store, "k", "1");
    let stored = store.store(StoreMode::Set, b"k", 0, 0, &[b'x'; 100], NOW);
    assert_eq!(stored, Verdict::OutOfMemory);
    assert_eq!((store.len(), store.memory_used()), (0, 0));

    set(&mut store, "k", "1");
    let stored = store.store(StoreMode::Append, b"k", 0, 0, &[b'x'; 100], NOW);
    assert_eq!(stored, Verdict::NotStored);
    assert_eq!(value(&mut store, "k", NOW).as_deref(), Some("1"));
}

#[test]
fn an_item_too_large_takes_the_old_value_with_it_if_set() {
    let mut store = store();
    set(&mut store, "k", "old");
    store.refuse_too_large(StoreMode::Add, b"k", NOW);
    assert!(value(&mut store, "k", NOW).is_some());
    store.refuse_too_large(StoreMode::Set, b"k", NOW);
    assert_eq!(value(&mut store, "k", NOW), None);
}

mod model {
    //! The store against a map, within a limit that evicts nothing.

    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Set(u8, Vec<u8>),
        Add(u8, Vec<u8>),
        Append(u8, Vec<u8>),
        Delete(u8),
        Get(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        let key = 0u8..6;
        let value = proptest::collection::vec(any::<u8>(), 0..8);
        prop_oneof![
            (key.clone(), value.clone()).prop_map(|(k, v)| Step::Set(k, v)),
            (key.clone(), value.clone()).prop_map(|(k, v)| Step::Add(k, v)),
            (key.clone(), value).prop_map(|(k, v)| Step::Append(k, v)),
            key.clone().prop_map(Step::Delete),
            key.prop_map(Step::Get),
        ]
    }

    proptest! {
        #[test]
        fn agrees(steps in proptest::collection::vec(step(), 0..60)) {
            let mut store = store();
            let mut model: HashMap<u8, Vec<u8>> = HashMap::new();
            for step in steps {
                match step {
                    Step::Set(key, value) => {
                        store.store(StoreMode::Set, &[key], 0, 0, &value, NOW);
                        model.insert(key, value);
                    }
                    Step::Add(key, value) => {
                        let stored = store.store(StoreMode::Add, &[key], 0, 0, &value, NOW);
                        prop_assert_eq!(stored == Verdict::Stored, !model.contains_key(&key));
                        model.entry(key).or_insert(value);
                    }
                    Step::Append(key, value) => {
                        let stored = store.store(StoreMode::Append, &[key], 0, 0, &value, NOW);
                        prop_assert_eq!(stored == Verdict::Stored, model.contains_key(&key));
                        if let Some(old) = model.get_mut(&key) {
                            old.extend(value);
                        }
                    }
                    Step::Delete(key) => {
                        prop_assert_eq!(store.delete(&[key], NOW), model.remove(&key).is_some());
                    }
                    Step::Get(key) => {
                        let found = store.get(&[key], NOW).map(|item| item.value.to_vec());
                        prop_assert_eq!(found.as_ref(), model.get(&key));
                    }
                }
                let size: usize =
                    model.values().map(|value| item_size(1, 0, value.len())).sum();
                prop_assert_eq!((store.len(), store.memory_used()), (model.len(), size));
            }
        }
    }
}
