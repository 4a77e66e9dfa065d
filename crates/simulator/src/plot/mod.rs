//! Plots as SVG: latency over time, and who gets how much.

mod scale;

use std::fmt::Write as _;

use self::scale::Scale;
use crate::PolicyKind;
use crate::compare::Comparison;
use crate::measure::{Bucket, Report};
use crate::scenario::Scenario;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 20.0;
const PANEL: f64 = 240.0;
const TOP: f64 = 98.0;
const BETWEEN: f64 = 76.0;

/// By policy, in the order of [`PolicyKind::ALL`], the same in all plots: colours that people with colour
/// blindness can tell apart (Okabe and Ito, 2008), those of them that are seen on white and on black.
const COLOURS: [&str; PolicyKind::ALL.len()] = [
    "#0072b2", "#d55e00", "#8f8f00", "#009e73", "#cc79a7", "#56b4e9", "#808080", "#e69f00",
];

/// What is drawn on and beside: light or dark as the reader's other pages are.
const STYLE: &str = "<style>\
     .paper{fill:#fff}.shade{fill:#eceef1}.grid{stroke:#d8dee4}.ink{stroke:#1f2328}text{fill:#1f2328}\
     @media(prefers-color-scheme:dark){.paper{fill:#0d1117}.shade{fill:#1f2630}.grid{stroke:#3d444d}\
     .ink{stroke:#e6edf3}text{fill:#e6edf3}}</style>\n";

/// An SVG with a line for each policy: the 99th percentile of latency over time, and below it the share of
/// the servers that are impaired the longest, or of the server that gets most if none is. Both are of the
/// first seed; the times of faults are grey. A line that is hidden by another is wider, and shows at its sides.
pub fn plot(scenario: &Scenario, comparison: &Comparison) -> String {
    let runs: Vec<(PolicyKind, &Report)> = comparison
        .rows()
        .iter()
        .filter_map(|row| Some((row.policy, row.reports.first()?)))
        .collect();
    let lines: Vec<Line> = runs
        .iter()
        .enumerate()
        .map(|(number, (policy, report))| Line::new(number, runs.len(), *policy, report))
        .collect();
    let height = TOP + 2.0 * PANEL + 2.0 * BETWEEN - 20.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n{STYLE}\
         <rect width=\"100%\" height=\"100%\" class=\"paper\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\">{}: {}</text>\n",
        escaped(&scenario.name),
        escaped(&scenario.title)
    );
    legend(&mut svg, &lines);
    let is_impaired = |(_, report): &(PolicyKind, &Report)| !report.most_impaired().is_empty();
    let latency = Panel {
        top: TOP,
        seconds: scenario.duration.seconds(),
        scale: Scale::logarithmic(values(&lines, |line| &line.latencies)),
        label: scale::seconds,
        title: "99 % of the requests take no longer than",
    };
    let share = Panel {
        top: TOP + PANEL + BETWEEN,
        scale: Scale::linear(values(&lines, |line| &line.shares)),
        label: scale::percent,
        title: if runs.iter().any(is_impaired) {
            "share of the requests that goes to the servers that are impaired the longest"
        } else {
            "share of the requests that goes to the server that gets most"
        },
        ..latency
    };
    for panel in [&latency, &share] {
        panel.shade(&mut svg, scenario);
        panel.axes(&mut svg);
    }
    for line in &lines {
        latency.draw(&mut svg, line, &line.latencies);
        share.draw(&mut svg, line, &line.shares);
    }
    svg.push_str("</svg>\n");
    svg
}

/// What is drawn of a policy.
struct Line {
    policy: PolicyKind,
    colour: &'static str,
    width: f64,
    /// Over seconds, seconds.
    latencies: Vec<(f64, f64)>,
    /// Over seconds, the share that is shown.
    shares: Vec<(f64, f64)>,
}

impl Line {
    fn new(number: usize, all: usize, policy: PolicyKind, report: &Report) -> Self {
        let above = u32::try_from(all - number).unwrap_or_default();
        let asked = report.buckets().filter(|bucket| bucket.requests > 0);
        Self {
            policy,
            colour: COLOURS[policy as usize],
            width: 0.6 + 0.7 * f64::from(above.min(8)),
            latencies: asked
                .map(|bucket| (bucket.from.seconds(), bucket.p99))
                .collect(),
            shares: report
                .buckets()
                .filter_map(|bucket| share(report.most_impaired(), bucket))
                .collect(),
        }
    }
}

/// The share that is shown of a part of the time, in which something was asked, and when that was.
fn share(impaired: &[usize], bucket: Bucket<'_>) -> Option<(f64, f64)> {
    let total: u64 = bucket.attempts.iter().map(|count| u64::from(*count)).sum();
    let of = |server: &usize| u64::from(bucket.attempts[*server]);
    let shown = if impaired.is_empty() {
        u64::from(bucket.attempts.iter().copied().max().unwrap_or_default())
    } else {
        impaired.iter().map(of).sum()
    };
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    (total > 0).then(|| (bucket.from.seconds(), shown as f64 / total as f64))
}

fn values(lines: &[Line], points: fn(&Line) -> &Vec<(f64, f64)>) -> impl Iterator<Item = f64> + '_ {
    lines.iter().flat_map(points).map(|(_, value)| *value)
}

/// Four policies in a row.
fn legend(svg: &mut String, lines: &[Line]) {
    let places = [42, 59].into_iter().cycle();
    let places = places.flat_map(|y| [0.0, 1.0, 2.0, 3.0].map(|column| (LEFT + 220.0 * column, y)));
    for (line, (x, y)) in lines.iter().zip(places) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<path d=\"M{x} {y}h24\" stroke=\"{}\" stroke-width=\"{:.1}\"/>\
             <text x=\"{}\" y=\"{}\">{}</text>",
            line.colour,
            line.width,
            x + 30.0,
            y + 4,
            line.policy
        );
    }
}

struct Panel {
    top: f64,
    seconds: f64,
    scale: Scale,
    label: fn(f64) -> String,
    title: &'static str,
}

impl Panel {
    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * (seconds / self.seconds).clamp(0.0, 1.0)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + PANEL * (1.0 - self.scale.place(value))
    }

    fn axes(&self, svg: &mut String) {
        let (top, right, bottom) = (self.top, WIDTH - RIGHT, self.top + PANEL);
        for value in self.scale.ticks() {
            let y = self.y(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{right}\" class=\"grid\"/>\
                 <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                y + 4.0,
                (self.label)(value)
            );
        }
        let times = Scale::linear(std::iter::once(self.seconds)).ticks();
        for seconds in times.into_iter().filter(|time| *time <= self.seconds) {
            let x = self.x(seconds);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {bottom}v5\" class=\"ink\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 19.0,
                scale::seconds(seconds)
            );
        }
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {top}V{bottom}H{right}\" fill=\"none\" class=\"ink\"/>\
             <text x=\"{LEFT}\" y=\"{:.1}\" font-weight=\"bold\">{}</text>\
             <text x=\"{right}\" y=\"{:.1}\" text-anchor=\"end\">time since the beginning</text>",
            top - 10.0,
            self.title,
            bottom + 35.0
        );
    }

    /// Shades the times of faults that stay or come seldom.
    fn shade(&self, svg: &mut String, scenario: &Scenario) {
        for fault in scenario.faults.iter().filter(|fault| fault.every.is_none()) {
            let until = fault.until.unwrap_or(scenario.duration);
            let (from, until) = (self.x(fault.from.seconds()), self.x(until.seconds()));
            let _ = writeln!(
                svg,
                "<rect x=\"{from:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{PANEL}\" class=\"shade\"/>",
                self.top,
                until - from
            );
        }
    }

    fn draw(&self, svg: &mut String, line: &Line, points: &[(f64, f64)]) {
        let mut path = String::new();
        for (seconds, value) in points {
            let command = if path.is_empty() { 'M' } else { 'L' };
            let (x, y) = (self.x(*seconds), self.y(*value));
            let _ = write!(path, "{command}{x:.1} {y:.1}");
        }
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:.1}\" \
             stroke-linejoin=\"round\"/>",
            line.colour, line.width
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
