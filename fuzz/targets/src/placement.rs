//! Schemes by name, members, changes and keys.
//!
//! After any changes each key has an owner that is an active member, and replicas that differ; who comes
//! next owns it while the owner is away; and a placement that is made from nothing agrees.

use arbitrary::{Arbitrary, Result, Unstructured};
use steersman_selection::{Error, ErrorKind, Member, NodeIndex, Placement, Scheme};

/// Rings are made afresh at each change, so more members, or heavier ones, take long and tell no more.
const MAX_MEMBERS: usize = 6;
const MAX_STEPS: usize = 24;

#[derive(Arbitrary, Debug)]
enum SchemeName<'a> {
    Known(u8),
    /// Written by somebody.
    Text(&'a str),
    Slots(u8),
}

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Insert(Name<'a>, Weight),
    Remove(u8),
    Deactivate(u8),
    Activate(u8),
    Fill,
    Look(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
enum Name<'a> {
    /// An address.
    Number(u8),
    Text(&'a str),
}

#[derive(Arbitrary, Debug)]
enum Weight {
    One,
    Small(u8),
    Any(u32),
}

/// Runs the target.
pub fn run(input: &[u8]) {
    // What is too short says nothing.
    let _ = play(Unstructured::new(input));
}

fn play(mut input: Unstructured<'_>) -> Result<()> {
    let Some(scheme) = scheme(&input.arbitrary()?) else {
        return Ok(());
    };
    let replicas = input.int_in_range(0..=4)?;
    let mut placement = match Placement::with_replicas(scheme, replicas, []) {
        Ok(placement) => placement,
        Err(error) => {
            let kinds = [ErrorKind::InvalidReplicas, ErrorKind::InvalidSlotBits];
            assert!(kinds.contains(&error.kind()), "{error}");
            return Ok(());
        }
    };
    for _ in 0..MAX_STEPS {
        if input.is_empty() {
            break;
        }
        take(&input.arbitrary()?, &mut placement);
    }
    look_further(&placement, input.take_rest());
    Ok(())
}

fn scheme(name: &SchemeName<'_>) -> Option<Scheme> {
    let scheme = match name {
        SchemeName::Known(number) => {
            let all: Vec<Scheme> = Scheme::all().collect();
            all[usize::from(*number) % all.len()]
        }
        SchemeName::Text(text) => text.parse().map_err(shown).ok()?,
        SchemeName::Slots(slot_bits) => Scheme::Rendezvous {
            // Large tables take long to make.
            slot_bits: slot_bits % 12,
        },
    };
    // The name is that of the scheme, but for its slot bits.
    let read: Scheme = scheme.to_string().parse().expect("a scheme has a name");
    match scheme {
        Scheme::Rendezvous { .. } => assert_eq!(read, Scheme::default()),
        _ => assert_eq!(read, scheme),
    }
    Some(scheme)
}

fn shown(error: Error) -> Error {
    assert!(!error.to_string().is_empty());
    error
}

fn take(step: &Step<'_>, placement: &mut Placement) {
    let before = (placement.len(), placement.active_len());
    match *step {
        Step::Insert(ref name, ref weight) => {
            let name = match name {
                Name::Number(number) => format!("10.0.0.{}:11211", number % 16),
                Name::Text(text) => (*text).to_owned(),
            };
            let weight = match weight {
                Weight::One => 1,
                Weight::Small(weight) => u32::from(weight % 5),
                Weight::Any(weight) if (*weight as usize) <= Placement::MAX_TOTAL_WEIGHT => {
                    weight % 8
                }
                Weight::Any(weight) => *weight,
            };
            if placement.len() == MAX_MEMBERS {
                return;
            }
            let known = placement.find(&name).is_some();
            match placement.insert(Member::new(name.clone()).weighted(weight)) {
                Ok(index) => {
                    assert!(!known && weight > 0);
                    assert_eq!(placement.find(&name), Some(index));
                    assert_eq!(placement.len(), before.0 + 1);
                }
                Err(error) => {
                    shown(error);
                    assert_eq!((placement.len(), placement.active_len()), before);
                }
            }
        }
        Step::Remove(number) => {
            let index = NodeIndex::try_from(usize::from(number) % 8).expect("there are more");
            let is_there = placement.member(index).is_some();
            assert_eq!(placement.remove(index), is_there);
            assert_eq!(placement.len(), before.0 - usize::from(is_there));
        }
        Step::Deactivate(number) => {
            let index = NodeIndex::try_from(usize::from(number) % 8).expect("there are more");
            let changed = placement.deactivate(index);
            assert_eq!(placement.active_len(), before.1 - usize::from(changed));
        }
        Step::Activate(number) => {
            let index = NodeIndex::try_from(usize::from(number) % 8).expect("there are more");
            let changed = placement.activate(index);
            assert_eq!(placement.active_len(), before.1 + usize::from(changed));
        }
        Step::Fill => placement.fill(),
        Step::Look(key) => drop(look(placement, key)),
    }
}

/// The best nodes for a key, which have to be what they are called.
fn look(placement: &Placement, key: &[u8]) -> Vec<NodeIndex> {
    let best = ranked(placement, key);
    assert_eq!(best.len(), placement.active_len());
    assert_eq!(placement.owner(key), best.first().copied());
    for (number, index) in best.iter().enumerate() {
        let active = placement
            .iter()
            .any(|(at, _, active)| at == *index && active);
        assert!(active, "{index:?} is no active member");
        assert!(!best[..number].contains(index), "{index:?} comes twice");
    }
    // A list of fewer is the beginning of it.
    let mut few = [NodeIndex::default(); 2];
    let count = placement.replicas(key, &mut few);
    assert_eq!(few[..count], best[..best.len().min(2)]);
    best
}

/// The same, and without the owner, and without the history.
fn look_further(placement: &Placement, key: &[u8]) {
    let best = look(placement, key);
    if let [owner, rest @ ..] = &best[..] {
        let mut without = placement.clone();
        assert!(without.deactivate(*owner));
        assert_eq!(without.owner(key), rest.first().copied());
        assert!(without.activate(*owner));
        assert_eq!(ranked(&without, key), best);
    }
    let fresh = made_afresh(placement);
    let names = |placement: &Placement| -> Vec<String> {
        let nodes = ranked(placement, key).into_iter();
        nodes
            .filter_map(|node| Some(placement.member(node)?.name().to_owned()))
            .collect()
    };
    assert_eq!(names(placement), names(&fresh));
}

fn ranked(placement: &Placement, key: &[u8]) -> Vec<NodeIndex> {
    let mut best = [NodeIndex::default(); MAX_MEMBERS + 1];
    let count = placement.replicas(key, &mut best);
    best[..count].to_vec()
}

/// The same members, without the history.
fn made_afresh(placement: &Placement) -> Placement {
    let members = placement.iter().map(|(_, member, _)| member.clone());
    let mut fresh = Placement::new(placement.scheme(), members).expect("they were taken before");
    for (number, (_, _, active)) in placement.iter().enumerate() {
        if !active {
            let index = NodeIndex::try_from(number).expect("there are more");
            assert!(fresh.deactivate(index));
        }
    }
    fresh
}
