//! Random histories of a placement against a plain list of its members.

use proptest::prelude::*;
use steersman_selection::{Member, NodeIndex, Placement, Scheme};

use crate::{keys, owner, replicas};

const NAMES: usize = 9;

#[derive(Debug, Clone)]
enum Step {
    Insert {
        name: usize,
        weight: u32,
    },
    Remove {
        name: usize,
    },
    Deactivate {
        name: usize,
    },
    Activate {
        name: usize,
    },
    /// Looks keys up, so that some slots are known and others are not.
    Look {
        keys: usize,
    },
    Fill,
    Clone,
}

/// A member as the model knows it.
#[derive(Debug, Clone)]
struct Listed {
    name: usize,
    weight: u32,
    active: bool,
}

impl Listed {
    fn member(&self) -> Member {
        Member::new(name(self.name)).weighted(self.weight)
    }
}

fn name(number: usize) -> String {
    format!("10.0.0.{number}:11211")
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..NAMES, 1..4_u32).prop_map(|(name, weight)| Step::Insert { name, weight }),
        3 => (0..NAMES).prop_map(|name| Step::Remove { name }),
        3 => (0..NAMES).prop_map(|name| Step::Deactivate { name }),
        3 => (0..NAMES).prop_map(|name| Step::Activate { name }),
        3 => (1..100_usize).prop_map(|keys| Step::Look { keys }),
        1 => Just(Step::Fill),
        1 => Just(Step::Clone),
    ];
    prop::collection::vec(step, 1..40)
}

fn scheme() -> impl Strategy<Value = Scheme> {
    // Those of the feature `compat` with all their variants. Their tables are made afresh at every
    // step, which takes long without optimisation.
    let others: Vec<Scheme> = Scheme::all().skip(4).collect();
    let more = u32::from(!others.is_empty());
    let others = prop::sample::select(if others.is_empty() {
        vec![Scheme::Emcache]
    } else {
        others
    });
    prop_oneof![3 => native_or_emcache(), more => others]
}

fn native_or_emcache() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        3 => Just(Scheme::Rendezvous { slot_bits: 8 }),
        1 => Just(Scheme::RendezvousExact),
        1 => Just(Scheme::Emcache),
        1 => Just(Scheme::EmcacheAarch64),
    ]
}

fn is_native(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Rendezvous { .. } | Scheme::RendezvousExact)
}

fn has_weights(scheme: Scheme) -> bool {
    Placement::new(scheme, [Member::new(name(0)).weighted(2)]).is_ok()
}

/// Takes the step on the placement and on the model; what the placement answers must fit.
fn take(step: &Step, placement: &mut Placement, model: &mut Vec<Listed>) {
    let position = |name| model.iter().position(|listed| listed.name == name);
    match *step {
        Step::Insert {
            name: number,
            weight,
        } => {
            let weight = if has_weights(placement.scheme()) {
                weight
            } else {
                1
            };
            let inserted = placement.insert(Member::new(name(number)).weighted(weight));
            assert_eq!(inserted.is_ok(), position(number).is_none());
            if inserted.is_ok() {
                model.push(Listed {
                    name: number,
                    weight,
                    active: true,
                });
            }
        }
        Step::Remove { name: number } => {
            let index = placement.find(&name(number));
            assert_eq!(index.is_some(), position(number).is_some());
            if let Some(index) = index {
                assert!(placement.remove(index));
                assert!(!placement.remove(index));
                model.retain(|listed| listed.name != number);
            }
        }
        Step::Deactivate { name: number } | Step::Activate { name: number } => {
            let active = matches!(step, Step::Activate { .. });
            let Some(index) = placement.find(&name(number)) else {
                return;
            };
            let position = position(number).unwrap();
            let changed = if active {
                placement.activate(index)
            } else {
                placement.deactivate(index)
            };
            assert_eq!(changed, model[position].active != active);
            model[position].active = active;
        }
        Step::Look { keys: count } => keys(count).for_each(|key| {
            placement.owner(&key);
        }),
        Step::Fill => placement.fill(),
        Step::Clone => *placement = placement.clone(),
    }
}

fn assert_lists(placement: &Placement, model: &[Listed]) {
    assert_eq!(placement.len(), model.len());
    assert_eq!(placement.is_empty(), model.is_empty());
    assert_eq!(
        placement.active_len(),
        model.iter().filter(|listed| listed.active).count()
    );
    assert_eq!(placement.iter().count(), model.len());
    for ((index, member, active), listed) in placement.iter().zip(model) {
        assert_eq!(member.name(), name(listed.name));
        assert_eq!(member.weight(), listed.weight);
        assert_eq!(active, listed.active);
        assert_eq!(placement.member(index), Some(member));
        assert_eq!(placement.find(member.name()), Some(index));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// No history leaves a trace: a placement answers like one made afresh of its members, those that
    /// are not active deactivated. The native schemes do not even know of these, nor heed the order.
    #[test]
    fn a_placement_is_its_members(
        scheme in scheme(),
        depth in 1..5_usize,
        steps in steps(),
        rotation in 0..NAMES,
    ) {
        let mut placement = Placement::with_replicas(scheme, depth, []).unwrap();
        let mut model = Vec::new();
        for step in &steps {
            take(step, &mut placement, &mut model);
            assert_lists(&placement, &model);
        }
        let mut listed = model.clone();
        if is_native(scheme) {
            listed.retain(|listed| listed.active);
            let middle = rotation % listed.len().max(1);
            listed.rotate_left(middle);
        }
        let members = listed.iter().map(Listed::member);
        let mut fresh = Placement::new(scheme, members).unwrap();
        for listed in listed.iter().filter(|listed| !listed.active) {
            let index = fresh.find(&name(listed.name)).unwrap();
            prop_assert!(fresh.deactivate(index));
        }
        for key in keys(300) {
            prop_assert_eq!(owner(&placement, &key), owner(&fresh, &key));
            for count in [1, depth, NAMES] {
                prop_assert_eq!(replicas(&placement, &key, count), replicas(&fresh, &key, count));
            }
        }
    }

    /// A change of many members at once is the same as of one after the other: the same indices, the
    /// same list, the same owners. One that is refused changes nothing.
    #[test]
    fn changes_at_once_are_changes_in_turn(
        scheme in native_or_emcache(),
        depth in 1..5_usize,
        known in 0..40_usize,
        look in 0..600_usize,
        rounds in prop::collection::vec(
            (0..4_u8, prop::collection::vec((0..40_usize, 1..4_u32), 0..40)),
            1..8,
        ),
    ) {
        let weigh = |weight| if has_weights(scheme) { weight } else { 1 };
        let members = (0..known).map(|i| Member::new(name(i)));
        let mut at_once = Placement::with_replicas(scheme, depth, members).unwrap();
        for (kind, chosen) in rounds {
            keys(look).for_each(|key| {
                at_once.owner(&key);
            });
            let mut in_turn = at_once.clone();
            let indices: Vec<_> = chosen
                .iter()
                .filter_map(|(number, _)| NodeIndex::try_from(*number).ok())
                .collect();
            if kind == 0 {
                let new = chosen.iter().map(|(number, weight)| {
                    Member::new(name(*number)).weighted(weigh(*weight))
                });
                let each: Result<Vec<_>, _> = new.clone().map(|member| in_turn.insert(member)).collect();
                if each.is_err() {
                    in_turn = at_once.clone();
                }
                let all = at_once.insert_all(new);
                prop_assert_eq!(
                    all.map_err(|error| error.to_string()),
                    each.map_err(|error| error.to_string())
                );
            } else {
                let (all, each): (_, fn(&mut Placement, NodeIndex) -> bool) = match kind {
                    1 => (at_once.remove_all(&indices), Placement::remove),
                    2 => (at_once.deactivate_all(&indices), Placement::deactivate),
                    _ => (at_once.activate_all(&indices), Placement::activate),
                };
                let changed = indices.iter().filter(|index| each(&mut in_turn, **index));
                prop_assert_eq!(all, changed.count());
            }
            prop_assert_eq!(format!("{at_once:?}"), format!("{in_turn:?}"));
            prop_assert_eq!(at_once.active_len(), in_turn.active_len());
            for key in keys(100) {
                prop_assert_eq!(at_once.owner(&key), in_turn.owner(&key));
                let (all, each) = (replicas(&at_once, &key, depth), replicas(&in_turn, &key, depth));
                prop_assert_eq!(all, each);
            }
        }
        // The indices that a refused change took for a while are free again.
        let last = Member::new("last:11211");
        let mut fresh = at_once.clone();
        prop_assert_eq!(at_once.insert(last.clone()).unwrap(), fresh.insert_all([last]).unwrap()[0]);
    }

    /// The replicas are distinct, the first is the owner, and each takes over from the one before
    /// while that is away; and all is as before when they are back.
    #[test]
    fn replicas_are_the_order_of_succession(
        scheme in scheme(),
        depth in 1..5_usize,
        weights in prop::collection::vec(1..4_u32, 1..=NAMES),
        key in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let weight = |weight| if has_weights(scheme) { weight } else { 1 };
        let member = |(i, w): (usize, &u32)| Member::new(name(i)).weighted(weight(*w));
        let members = weights.iter().enumerate().map(member);
        let mut placement = Placement::with_replicas(scheme, depth, members).unwrap();
        let order = replicas(&placement, &key, NAMES + 1);
        let order: Vec<_> = order.into_iter().map(String::from).collect();
        prop_assert_eq!(order.len(), weights.len());
        for (rank, name) in order.iter().enumerate() {
            prop_assert_eq!(replicas(&placement, &key, NAMES), &order[rank..]);
            prop_assert_eq!(owner(&placement, &key), Some(&**name));
            let index = placement.find(name).unwrap();
            prop_assert!(placement.deactivate(index));
        }
        prop_assert_eq!(owner(&placement, &key), None);
        for name in &order {
            let index = placement.find(name).unwrap();
            prop_assert!(placement.activate(index));
        }
        prop_assert_eq!(replicas(&placement, &key, NAMES), order);
    }

    /// A node that goes takes only its own keys along; a node that comes only takes keys.
    #[test]
    fn disruption_is_minimal(
        scheme in native_or_emcache(),
        count in 1..NAMES,
        moving in 0..NAMES,
    ) {
        let members = (0..count).map(|i| Member::new(name(i)));
        let with = Placement::new(scheme, members).unwrap();
        let moving = name(moving % count);
        let mut without = with.clone();
        without.remove(without.find(&moving).unwrap());
        let mut back = without.clone();
        back.insert(Member::new(moving.clone())).unwrap();
        for key in keys(500) {
            let before = owner(&with, &key);
            if before != Some(&moving) {
                prop_assert_eq!(owner(&without, &key), before);
            }
            if is_native(scheme) {
                prop_assert_eq!(owner(&back, &key), before);
            } else {
                // It comes back at the end of the list, where full ties are decided otherwise.
                let after = owner(&back, &key);
                prop_assert!(after == Some(&moving) || after == owner(&without, &key));
            }
        }
    }
}
