//! The traces as their files have them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A file of traces. Keys that only describe the traces are passed over.
#[derive(Deserialize)]
pub(crate) struct File {
    #[serde(default)]
    pub(crate) score_traces: Vec<ScoreTrace>,
    #[serde(default)]
    pub(crate) plan_traces: Vec<PlanTrace>,
    #[serde(default)]
    pub(crate) chained_traces: Vec<PlanTrace>,
    /// Present in files that come straight from the Java class; these have all log messages too.
    pub(crate) outcomes: Option<serde_json::Value>,
}

#[derive(Deserialize)]
pub(crate) struct Parameters {
    pub(crate) scale_ns: u64,
    pub(crate) retry_period_ns: u64,
    pub(crate) exclusion_threshold: f64,
    pub(crate) min_measured: u32,
    pub(crate) update_rate_ns: Option<u64>,
}

/// The score of a node after each of its samples.
#[derive(Deserialize)]
pub(crate) struct ScoreTrace {
    pub(crate) name: String,
    pub(crate) params: Parameters,
    /// Time and latency.
    pub(crate) samples: Vec<(i64, u64)>,
    pub(crate) expect: Vec<Option<State>>,
    #[serde(default)]
    pub(crate) tolerance_ns: u64,
}

/// A score: time of the last sample, average, number of samples.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) ts: i64,
    pub(crate) avg: i64,
    pub(crate) n: u64,
}

/// What happened to several nodes, and which plans there were.
#[derive(Deserialize)]
pub(crate) struct PlanTrace {
    pub(crate) name: String,
    pub(crate) params: Parameters,
    pub(crate) hosts: Vec<String>,
    #[serde(default)]
    pub(crate) tolerance_ns: u64,
    /// In a chained trace, the child: Java's datacenter-aware policy.
    pub(crate) child_policy: Option<ChildPolicy>,
    #[serde(default)]
    pub(crate) dcs: BTreeMap<String, String>,
    pub(crate) events: Vec<Event>,
}

#[derive(Deserialize)]
pub(crate) struct ChildPolicy {
    pub(crate) local_dc: String,
    pub(crate) used_hosts_per_remote_dc: usize,
    pub(crate) allow_remote_for_local_cl: bool,
    pub(crate) index_at_start: i32,
}

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub(crate) enum Event {
    Sample {
        t: i64,
        host: String,
        latency: u64,
        outcome: String,
        counted: bool,
        state: Option<State>,
    },
    UpdateMin {
        t: i64,
        expect_min: i64,
        #[serde(default)]
        log: Vec<(String, String)>,
    },
    UpOrAdd {
        host: String,
    },
    DownOrRemove {
        host: String,
    },
    Plan {
        t: i64,
        child: Vec<String>,
        expect: Vec<String>,
        penalised: Option<Vec<String>>,
        consistency: Option<String>,
    },
    OpenPlan {
        id: serde_json::Value,
        child: Vec<String>,
        consistency: Option<String>,
    },
    Next {
        id: serde_json::Value,
        t: i64,
        expect: Option<String>,
    },
}
