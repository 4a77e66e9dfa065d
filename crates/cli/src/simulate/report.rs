//! What a comparison says, as tables and as JSON.

use std::io::{self, Write};

use serde_json::Value;
use steersman_simulator::{
    Checked, Comparison, Estimate, Measure, Recording, Report, Row, Scenario, Unit,
};

use crate::json::Object;
use crate::printable::printable;
use crate::table::{Align, Table};

/// A column: a measure, or the name of the policy.
type Column = (Option<Measure>, &'static str);

/// How fast, how sure, at what cost.
const SPEED: [Column; 8] = [
    (None, "POLICY"),
    (Some(Measure::Success), "SUCCESS"),
    (Some(Measure::P50), "P50"),
    (Some(Measure::P90), "P90"),
    (Some(Measure::P99), "P99"),
    (Some(Measure::P999), "P99.9"),
    (Some(Measure::SlowShare), "TO IMPAIRED"),
    (Some(Measure::ExtraLoad), "EXTRA"),
];

/// How it behaves over time.
const BEHAVIOUR: [Column; 7] = [
    (None, "POLICY"),
    (Some(Measure::Notice), "NOTICES"),
    (Some(Measure::Readmit), "READMITS"),
    (Some(Measure::LongestQueue), "QUEUE"),
    (Some(Measure::Swing), "SWING"),
    (Some(Measure::Starved), "STARVED"),
    (Some(Measure::RemoteShare), "REMOTE"),
];

/// The names of all scenarios and their variants.
pub(super) fn list(json: bool, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(["SCENARIO", "WHAT"], [Align::Left; 2]);
    let all = Scenario::names().filter_map(|name| Scenario::builtin(name).ok());
    for scenario in all.flatten() {
        if json {
            let object = Object::default().with("scenario", scenario.name);
            object.with("title", scenario.title).write_line(out)?;
        } else {
            table.row([scenario.name, scenario.title]);
        }
    }
    if json { Ok(()) } else { table.write(out) }
}

/// One scenario under all policies.
pub(super) fn text(
    scenario: &Scenario,
    comparison: &Comparison,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (name, title) = (printable(&scenario.name), printable(&scenario.title));
    writeln!(out, "{name}: {title}")?;
    if let Some(source) = &scenario.source {
        writeln!(out, "After {}", printable(source))?;
    }
    measures(comparison, SPEED, out)?;
    writeln!(out)?;
    measures(comparison, BEHAVIOUR, out)?;
    published(comparison, out)
}

fn measures<const N: usize>(
    comparison: &Comparison,
    columns: [Column; N],
    out: &mut dyn Write,
) -> io::Result<()> {
    let align = columns.map(|(measure, _)| measure.map_or(Align::Left, |_| Align::Right));
    let mut table = Table::new(columns.map(|(_, heading)| heading), align);
    for row in comparison.rows() {
        table.row(columns.map(|(measure, _)| match measure {
            None => row.policy.name().to_owned(),
            Some(measure) => estimate(measure, row.estimate(measure)),
        }));
    }
    table.write(out)
}

fn published(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let heading = [
        "POLICY",
        "MEASURE",
        "PUBLISHED",
        "OURS",
        "DIFFERENCE",
        "WITHIN",
        "",
    ];
    let mut align = [Align::Right; 7];
    (align[0], align[1], align[6]) = (Align::Left, Align::Left, Align::Left);
    let mut table = Table::new(heading, align);
    let mut notes = Vec::new();
    for Checked {
        published,
        ours,
        difference,
        agrees,
        ..
    } in comparison.checked()
    {
        let measure = published.measure;
        table.row([
            published.policy.name().to_owned(),
            measure.name().to_owned(),
            number(measure, published.value),
            number(measure, ours.mean),
            format!("{:+.1}%", 100.0 * difference),
            format!("±{:.1}%", 100.0 * published.margin),
            if agrees { "agrees" } else { "differs" }.to_owned(),
        ]);
        if let Some(note) = &published.note {
            notes.push(format!("{} {measure}: {note}", published.policy));
        }
    }
    if comparison.checked().next().is_some() {
        writeln!(out)?;
        table.write(out)?;
    }
    let mut notes = notes.iter();
    notes.try_for_each(|note| writeln!(out, "{}", printable(note)))
}

/// A figure for people, with its interval if there is one.
fn estimate(measure: Measure, estimate: Option<Estimate>) -> String {
    match estimate {
        None => "-".to_owned(),
        Some(Estimate { mean, .. }) if mean.is_infinite() => "never".to_owned(),
        Some(Estimate {
            mean, half_width, ..
        }) if half_width > 0.0 => {
            let relative = 100.0 * half_width / mean;
            match measure.unit() {
                Unit::Share => format!("{}±{:.2}", number(measure, mean), 100.0 * half_width),
                _ => format!("{}±{relative:.0}%", number(measure, mean)),
            }
        }
        Some(Estimate { mean, .. }) => number(measure, mean),
    }
}

fn number(measure: Measure, value: f64) -> String {
    match measure.unit() {
        Unit::Share => format!("{:.2}%", 100.0 * value),
        Unit::Seconds => seconds(value),
        _ => format!("{value:.0}"),
    }
}

/// Three digits and a unit.
fn seconds(value: f64) -> String {
    let (scaled, unit) = match value {
        _ if value >= 1.0 => (value, "s"),
        _ if value >= 1e-3 => (value * 1e3, "ms"),
        _ => (value * 1e6, "us"),
    };
    let decimals = match scaled {
        _ if scaled >= 100.0 => 0,
        _ if scaled >= 10.0 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$}{unit}")
}

/// The same as [`text`], for programs. Seconds and parts of 1; null where there is nothing to measure.
pub(super) fn json(scenario: &Scenario, comparison: &Comparison) -> Object {
    let published: Vec<Value> = comparison
        .checked()
        .map(
            |Checked {
                 published,
                 ours,
                 difference,
                 agrees,
                 ..
             }| {
                Object::default()
                    .with("policy", published.policy.name())
                    .with("measure", published.measure.name())
                    .with("published", published.value)
                    .with("ours", ours.mean)
                    .with("difference", difference)
                    .with("margin", published.margin)
                    .with("agrees", agrees)
                    .with("note", published.note.as_deref())
                    .into()
            },
        )
        .collect();
    Object::default()
        .with("scenario", scenario.name.as_str())
        .with("title", scenario.title.as_str())
        .with(
            "policies",
            comparison
                .rows()
                .iter()
                .map(|policy| row(policy).into())
                .collect::<Vec<Value>>(),
        )
        .with("published", published)
}

fn row(row: &Row) -> Object {
    let start = Object::default()
        .with("policy", row.policy.name())
        .with("seeds", row.reports.len())
        .with(
            "requests",
            row.reports.iter().map(Report::requests).sum::<u64>(),
        );
    Measure::ALL.into_iter().fold(start, |object, measure| {
        object.with(measure.name(), figure(row.estimate(measure)))
    })
}

fn figure(estimate: Option<Estimate>) -> Value {
    match estimate {
        None => Value::Null,
        // JSON knows no infinity.
        Some(Estimate { mean, .. }) if mean.is_infinite() => "never".into(),
        Some(Estimate {
            mean, half_width, ..
        }) => Object::default()
            .with("mean", mean)
            .with("half_width", half_width)
            .into(),
    }
}

/// What happened, and what would have happened.
pub(super) fn replayed(
    recording: &Recording,
    comparison: &Comparison,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (count, nodes) = (recording.len(), recording.nodes().len());
    writeln!(out, "{count} attempts at {nodes} nodes")?;
    let heading = ["POLICY", "SUCCESS", "P50", "P90", "P99", "P99.9"];
    let mut align = [Align::Right; 6];
    align[0] = Align::Left;
    let mut table = Table::new(heading, align);
    let measures = [
        Measure::Success,
        Measure::P50,
        Measure::P90,
        Measure::P99,
        Measure::P999,
    ];
    let real = recording.report();
    let [success, half, most, nearly_all, tail] = measures.map(|measure| {
        estimate(
            measure,
            real.measure(measure)
                .and_then(|value| Estimate::of(&[value])),
        )
    });
    table.row([
        "(recorded)".to_owned(),
        success,
        half,
        most,
        nearly_all,
        tail,
    ]);
    for row in comparison.rows() {
        let [success, half, most, nearly_all, tail] =
            measures.map(|measure| estimate(measure, row.estimate(measure)));
        table.row([
            row.policy.name().to_owned(),
            success,
            half,
            most,
            nearly_all,
            tail,
        ]);
    }
    table.write(out)?;
    writeln!(out)?;
    let mut table = Table::new(
        ["POLICY", "NODE", "SHARE"],
        [Align::Left, Align::Left, Align::Right],
    );
    let reports = comparison
        .rows()
        .iter()
        .filter_map(|row| Some((row.policy.name(), row.reports.first()?)));
    for (policy, report) in std::iter::once(("(recorded)", &real)).chain(reports) {
        for (node, share) in recording.nodes().iter().zip(report.shares()) {
            table.row([
                policy.to_owned(),
                node.clone(),
                format!("{:.2}%", 100.0 * share),
            ]);
        }
    }
    table.write(out)
}

/// The same as [`replayed`], for programs.
pub(super) fn replayed_json(recording: &Recording, comparison: &Comparison) -> Object {
    let real = recording.report();
    let recorded = Measure::ALL
        .into_iter()
        .take(5)
        .fold(Object::default(), |object, measure| {
            object.with(measure.name(), real.measure(measure))
        });
    let policies = comparison.rows().iter().map(|policy| {
        let shares = policy.reports.first().map(Report::shares);
        Value::from(row(policy).with("shares", shares))
    });
    Object::default()
        .with("attempts", recording.len())
        .with("nodes", recording.nodes().to_vec())
        .with("recorded", recorded.with("shares", real.shares()))
        .with("policies", policies.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_have_their_interval() {
        let figure = |measure, values: &[f64]| estimate(measure, Estimate::of(values));
        assert_eq!(figure(Measure::P99, &[]), "-");
        assert_eq!(figure(Measure::Notice, &[1.0, f64::INFINITY]), "never");
        assert_eq!(figure(Measure::P99, &[0.012_345_6]), "12.3ms");
        assert_eq!(figure(Measure::P99, &[0.000_9]), "900us");
        assert_eq!(figure(Measure::P99, &[9.0, 10.0, 11.0]), "10.0s±25%");
        assert_eq!(figure(Measure::Success, &[0.99, 1.0]), "99.50%±6.35");
        assert_eq!(figure(Measure::LongestQueue, &[17.0]), "17");
    }
}
