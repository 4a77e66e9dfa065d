//! The second half's result in words, and as JSON.

use std::io::{self, Write};

use super::check::{Observed, Phase, Traffic};
use super::clients::{MIN_DIFFERENCE, NAMES, RAMP, RETRY_PERIOD};
use super::load::RATE;
use super::{LATE, REPLICAS};
use crate::demo::report::{latency, milliseconds};
use crate::json::Object;
use crate::table::{Align, Table};
use crate::words::{grouped, p99};

/// What is compared, and how both clients fared.
pub(in crate::demo) fn write(observed: &Observed, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "Now each key is on {REPLICAS} nodes. Two clients read the same keys, up to {} times a second:\n\
         one is latency-aware (retry period {RETRY_PERIOD:?}, ramp {RAMP:?}, minimum difference \
         {MIN_DIFFERENCE:?}),\n\
         one asks a key's owner first. Neither hedges.\n",
        grouped(RATE)
    )?;
    let name = &observed.name;
    let to = format!("TO {name}");
    let mut table = Table::new(
        ["", "P99", "P99", "P99", &to, &to, &to],
        [
            Align::Left,
            Align::Right,
            Align::Right,
            Align::Right,
            Align::Right,
            Align::Right,
            Align::Right,
        ],
    );
    let phases = [
        "ALL WELL".to_owned(),
        format!("{name} SLOW"),
        format!("{name} BACK"),
    ];
    let [before, during, after] = phases.clone();
    let [before_too, during_too, after_too] = phases;
    table.row([
        "READS".to_owned(),
        before,
        during,
        after,
        before_too,
        during_too,
        after_too,
    ]);
    let phases = [&observed.before, &observed.during, &observed.after];
    for (at, client) in NAMES.each().into_iter().enumerate() {
        let phases = phases.map(|phase| phase.each()[at]);
        let [before, during, after] = phases.map(|traffic| p99(&traffic.reads.latency));
        let [before_too, during_too, after_too] =
            phases.map(|traffic| traffic.share(observed.slow));
        table.row([
            (*client).to_owned(),
            before,
            during,
            after,
            before_too,
            during_too,
            after_too,
        ]);
    }
    table.write(out)
}

pub(in crate::demo) fn json(observed: &Observed) -> Object {
    let parameters = Object::default()
        .with("retry_period_ms", milliseconds(RETRY_PERIOD))
        .with("ramp_ms", milliseconds(RAMP))
        .with("min_difference_ms", milliseconds(MIN_DIFFERENCE));
    let phases = |traffic: fn(&Phase) -> &Traffic| {
        let phase = |phase: &Phase| side(traffic(phase), observed.slow);
        Object::default()
            .with("before", phase(&observed.before))
            .with("during", phase(&observed.during))
            .with("after", phase(&observed.after))
    };
    Object::default()
        .with("replicas", REPLICAS)
        .with("slow", observed.name.as_str())
        .with("late_ms", milliseconds(LATE))
        .with("parameters", parameters)
        .with("penalised_after_ms", observed.noticed.map(milliseconds))
        .with("recovering_after_ms", observed.probed.map(milliseconds))
        .with("back_after_ms", observed.back.map(milliseconds))
        .with("probes", observed.probes)
        .with("with_policy", phases(|phase| &phase.aware))
        .with("without_policy", phases(|phase| &phase.plain))
}

/// What one client's reads were like, and how many of its attempts went to the slow node.
fn side(traffic: &Traffic, slow: usize) -> Object {
    let (own, all) = traffic.attempts(slow);
    latency(&traffic.reads)
        .with("attempts", all)
        .with("attempts_at_slow", own)
}
