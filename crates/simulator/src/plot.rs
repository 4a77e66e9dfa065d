//! Plots as SVG: latency over time, and who gets how much.

use std::fmt::Write as _;

use crate::PolicyKind;
use crate::compare::Comparison;
use crate::measure::{Bucket, Report};
use crate::scenario::Scenario;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const PANEL: f64 = 260.0;
const TOP: f64 = 60.0;
const BETWEEN: f64 = 60.0;

/// Colours that people with colour blindness can tell apart (Okabe and Ito, 2008).
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8f8f00",
];

/// An SVG with a line for each policy: the 99th percentile of latency over time, and below it the share of
/// the servers that are impaired the longest, or of the server that gets most if none is. Both are of the
/// first seed; the times of faults are grey.
pub fn plot(scenario: &Scenario, comparison: &Comparison) -> String {
    let runs: Vec<(PolicyKind, &Report)> = comparison
        .rows()
        .iter()
        .filter_map(|row| Some((row.policy, row.reports.first()?)))
        .collect();
    let height = TOP + 2.0 * PANEL + 2.0 * BETWEEN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"15\">{}: {}</text>\n",
        escaped(&scenario.name),
        escaped(&scenario.title)
    );
    legend(&mut svg, &runs);
    let seconds = scenario.duration.seconds();
    let latency = Panel::new(TOP, seconds, Scale::logarithmic(&runs), "p99");
    let shares = share_lines(&runs);
    let most = shares
        .iter()
        .flatten()
        .map(|(_, share)| *share)
        .fold(0.0, f64::max);
    let below = TOP + PANEL + BETWEEN;
    let title = if runs
        .iter()
        .any(|(_, report)| !report.most_impaired().is_empty())
    {
        "share of the impaired"
    } else {
        "largest share"
    };
    let share = Panel::new(below, seconds, Scale::Linear(nice(most)), title);
    for panel in [&latency, &share] {
        panel.shade(&mut svg, scenario);
        panel.axes(&mut svg);
    }
    for ((_, report), (colour, shares)) in runs.iter().zip(COLOURS.iter().cycle().zip(&shares)) {
        let latencies = report.buckets().filter(|bucket| bucket.requests > 0);
        let latencies: Vec<_> = latencies
            .map(|bucket| (bucket.from.seconds(), bucket.p99))
            .collect();
        latency.line(&mut svg, colour, &latencies);
        share.line(&mut svg, colour, shares);
    }
    svg.push_str("</svg>\n");
    svg
}

fn legend(svg: &mut String, runs: &[(PolicyKind, &Report)]) {
    let mut x = LEFT;
    for ((policy, _), colour) in runs.iter().zip(COLOURS.iter().cycle()) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.0}\" y=\"32\" width=\"14\" height=\"4\" fill=\"{colour}\"/>\
             <text x=\"{:.0}\" y=\"38\">{policy}</text>",
            x + 18.0
        );
        let letters = u32::try_from(policy.name().len()).unwrap_or_default();
        x += 34.0 + 7.0 * f64::from(letters);
    }
}

/// By run, the share over time that is plotted.
fn share_lines(runs: &[(PolicyKind, &Report)]) -> Vec<Vec<(f64, f64)>> {
    let line = |report: &Report| {
        let impaired = report.most_impaired();
        let share = |bucket: Bucket<'_>| {
            let total: u64 = bucket.attempts.iter().map(|count| u64::from(*count)).sum();
            let shown: u64 = if impaired.is_empty() {
                bucket
                    .attempts
                    .iter()
                    .copied()
                    .max()
                    .unwrap_or_default()
                    .into()
            } else {
                impaired
                    .iter()
                    .map(|server| u64::from(bucket.attempts[*server]))
                    .sum()
            };
            #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
            (total > 0).then(|| (bucket.from.seconds(), shown as f64 / total as f64))
        };
        report.buckets().filter_map(share).collect()
    };
    runs.iter().map(|(_, report)| line(report)).collect()
}

/// How values become heights.
enum Scale {
    /// From 0 to this.
    Linear(f64),
    /// Decades, from one power of ten to another.
    Logarithmic(i32, i32),
}

impl Scale {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "logarithms of seconds are small"
    )]
    fn logarithmic(runs: &[(PolicyKind, &Report)]) -> Self {
        let latencies = runs.iter().flat_map(|(_, report)| report.buckets());
        let logs = latencies
            .filter(|bucket| bucket.p99 > 0.0)
            .map(|bucket| bucket.p99.log10());
        let (least, most) = logs.fold((0.0, -9.0), |(least, most): (f64, f64), log| {
            (least.min(log), most.max(log))
        });
        let least = least.floor() as i32;
        Self::Logarithmic(least, (most.ceil() as i32).max(least + 1))
    }

    /// From 0 at the bottom to 1 at the top.
    fn place(&self, value: f64) -> f64 {
        match *self {
            Self::Linear(most) => value / most,
            Self::Logarithmic(least, most) => {
                let (least, most) = (f64::from(least), f64::from(most));
                (value.max(1e-9).log10() - least) / (most - least)
            }
        }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        match *self {
            Self::Linear(most) => {
                let percent = |value: f64| format!("{} %", (value * 1_000.0).round() / 10.0);
                (0..=4)
                    .map(|tick| most * f64::from(tick) / 4.0)
                    .map(|at| (at, percent(at)))
                    .collect()
            }
            Self::Logarithmic(least, most) => (least..=most)
                .map(|power| (10_f64.powi(power), seconds(power)))
                .collect(),
        }
    }
}

/// A power of ten seconds in the unit that suits it.
fn seconds(power: i32) -> String {
    let (unit, below) = match power {
        0.. => ("s", 0),
        -3.. => ("ms", -3),
        -6.. => ("µs", -6),
        _ => ("ns", -9),
    };
    format!("{} {unit}", 10_f64.powi(power - below).round())
}

/// The least of 0.1, 0.2, 0.4, 1 and so on that is not below.
fn nice(most: f64) -> f64 {
    [0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8]
        .into_iter()
        .find(|step| most <= *step)
        .unwrap_or(1.0)
}

struct Panel {
    top: f64,
    seconds: f64,
    scale: Scale,
    title: &'static str,
}

impl Panel {
    fn new(top: f64, seconds: f64, scale: Scale, title: &'static str) -> Self {
        Self {
            top,
            seconds,
            scale,
            title,
        }
    }

    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (seconds / self.seconds).clamp(0.0, 1.0)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + PANEL * (1.0 - self.scale.place(value).clamp(0.0, 1.0))
    }

    fn axes(&self, svg: &mut String) {
        let (top, right, bottom) = (self.top, WIDTH - RIGHT, self.top + PANEL);
        for (value, label) in self.scale.ticks() {
            let y = self.y(value);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
                 <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
        for tick in 0..=6 {
            let seconds = self.seconds * f64::from(tick) / 6.0;
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} s</text>",
                self.x(seconds),
                bottom + 16.0,
                (seconds * 10.0).round() / 10.0
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {top}V{bottom}H{right}\" fill=\"none\" stroke=\"black\"/>\
             <text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
            top - 8.0,
            self.title
        );
    }

    /// Shades the times of faults that stay or come seldom.
    fn shade(&self, svg: &mut String, scenario: &Scenario) {
        for fault in scenario.faults.iter().filter(|fault| fault.every.is_none()) {
            let until = fault.until.unwrap_or(scenario.duration);
            let (from, until) = (self.x(fault.from.seconds()), self.x(until.seconds()));
            let _ = writeln!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{PANEL}\" fill=\"#f0f0f0\"/>",
                self.top,
                until - from
            );
        }
    }

    fn line(&self, svg: &mut String, colour: &str, points: &[(f64, f64)]) {
        let mut path = String::new();
        for (seconds, value) in points {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(
                path,
                "{command}{:.1} {:.1}",
                self.x(*seconds),
                self.y(*value)
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.3\" \
             stroke-linejoin=\"round\" opacity=\"0.85\"/>"
        );
    }
}

/// Text that is nothing but text in XML.
fn escaped(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .map(|c| match c {
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '&' => "&amp;".to_owned(),
            _ => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{Comparison, PolicyKind, Scenario, Simulation};

    #[test]
    fn a_plot_has_two_lines_for_each_policy_and_no_markup_of_others() {
        let mut scenario = Scenario::builtin("s9").unwrap().remove(0);
        scenario.title = "<b> & \"c\"\u{1b}".to_owned();
        let simulation = Simulation::new(&scenario).unwrap();
        let comparison = Comparison::run(&simulation, &PolicyKind::ALL, &[1], &|| ());
        let svg = super::plot(&scenario, &comparison);
        assert!(svg.contains("s9: &lt;b&gt; &amp; \"c\"</text>"));
        assert_eq!(
            svg.matches("stroke-linejoin").count(),
            2 * PolicyKind::ALL.len()
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
