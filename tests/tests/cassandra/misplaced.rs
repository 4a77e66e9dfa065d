//! A balancer whose datacenter is not there.

use std::fmt;
use std::sync::{Arc, Mutex};

use scylla::policies::load_balancing::RoutingInfo;
use steersman_e2e::cassandra::{Connector, Reads};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::world::{EVERYWHERE, World, balancer};

/// What the balancer warns of.
#[derive(Debug, Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN && metadata.target().starts_with("steersman_scylla")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut warnings = self.0.lock().expect("nothing panics here");
        event.record(&mut Messages(&mut warnings));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Messages<'a>(&'a mut Vec<String>);

impl Visit for Messages<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.push(format!("{value:?}"));
        }
    }
}

/// Requests fail, and why is said once and can be asked for.
pub(crate) async fn a_wrong_name_is_told_once(_: &World) {
    let warnings = Warnings::default();
    let guard = tracing::subscriber::set_default(warnings.clone());
    let balancer = balancer("DC1");
    let session = Connector::new(balancer.clone()).connect().await;
    let reads = Reads::new(session, EVERYWHERE)
        .await
        .expect("the table is there");
    for number in 0..20 {
        let failed = reads.read(number).await;
        assert!(failed.is_err(), "no node is permitted");
    }
    let state = reads.session().get_cluster_state();
    let why = balancer
        .explain(&RoutingInfo::default(), &state)
        .to_string();
    drop(guard);

    let found = balancer.misplacement(&state).expect("there is no such one");
    let said = warnings.0.lock().expect("nothing panics here").clone();
    assert_eq!(said, [found.to_string()]);
    assert!(
        said[0].contains(r#""DC1""#) && said[0].contains(r#"has "dc1""#),
        "{said:?}"
    );
    assert!(why.contains("no node"), "{why}");
}
