//! Reads a second over numbers of connections, as SVG: both axes logarithmic, each line labelled at
//! its end, in colours that are legible on light and on dark pages.

use std::fmt::Write;

use crate::plan::{CONNECTIONS, Part};
use crate::results::{Cell, Results};

const WIDTH: f64 = 790.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 62.0;
/// Room for the labels of the lines.
const RIGHT: f64 = 200.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 48.0;

/// The least distance between the labels of two lines.
const LABEL: f64 = 17.0;

const GREY: &str = "#7d8590";

struct Series {
    label: &'static str,
    colour: &'static str,
    width: f64,
    /// Connections, and reads a second there.
    points: Vec<(usize, f64)>,
}

/// The file of the plot of reads by so many tasks.
pub(super) fn name(results: &Results, tasks: usize) -> String {
    format!("{}-connections-{tasks}.svg", results.mode.name())
}

/// The plot of reads by so many tasks; None if they were not measured.
pub(super) fn connections(results: &Results, tasks: usize) -> Option<String> {
    let points = |rate: &dyn Fn(Cell) -> f64| -> Vec<(usize, f64)> {
        CONNECTIONS
            .into_iter()
            .map(|count| (count, rate(Cell::new(Part::Connections, (count, tasks)))))
            .filter(|point| point.1 > 0.0)
            .collect()
    };
    let subject = |id: &'static str| points(&|cell| results.rate(id, cell));
    let best = points(&|cell| results.best_rust(cell).map_or(f64::NAN, |best| best.1));
    let series = [
        ("Steersman", "#2f81f7", 3.0, subject("steersman")),
        (
            "emcache, autobatching",
            "#d9730d",
            2.0,
            subject("emcache-batching"),
        ),
        ("best Rust peer", "#2da44e", 2.0, best),
        ("emcache", "#a371f7", 2.0, subject("emcache")),
    ];
    let series: Vec<_> = series
        .into_iter()
        .map(|(label, colour, width, points)| Series {
            label,
            colour,
            width,
            points,
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    let title = format!("Reads a second by {tasks} tasks");
    (!series.is_empty()).then(|| draw(&title, &series))
}

/// Where numbers are on the page.
struct Scale {
    /// Powers of ten between which all rates are.
    decades: (f64, f64),
}

impl Scale {
    fn of(series: &[Series]) -> Self {
        let rates = series.iter().flat_map(|series| &series.points);
        let logs: Vec<_> = rates.map(|point| point.1.log10()).collect();
        let least = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self {
            decades: (least - 0.05, most + 0.05),
        }
    }

    fn x(connections: usize) -> f64 {
        let last = CONNECTIONS[CONNECTIONS.len() - 1] as f64;
        LEFT + (connections as f64).log2() / last.log2() * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, rate: f64) -> f64 {
        let (least, most) = self.decades;
        let share = (rate.log10() - least) / (most - least);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    }

    /// Round rates that are on the page.
    fn ticks(&self) -> impl Iterator<Item = f64> {
        let (least, most) = self.decades;
        (3..8)
            .flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(exponent)))
            .filter(move |tick| (least..=most).contains(&tick.log10()))
    }
}

fn draw(title: &str, series: &[Series]) -> String {
    let scale = Scale::of(series);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"13\" fill=\"{GREY}\">\n<title>{title}</title>\n"
    );
    text(
        &mut svg,
        (LEFT, 18.0),
        "start",
        title,
        "font-weight=\"600\" font-size=\"15\"",
    );
    axes(&mut svg, &scale);
    for series in series {
        line(&mut svg, &scale, series);
    }
    labels(&mut svg, &scale, series);
    svg.push_str("</svg>\n");
    svg
}

fn axes(svg: &mut String, scale: &Scale) {
    let right = WIDTH - RIGHT;
    for tick in scale.ticks() {
        let y = scale.y(tick);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"{GREY}\" stroke-opacity=\"0.25\"/>"
        );
        let name = if tick < 1e6 {
            format!("{} k", tick / 1e3)
        } else {
            format!("{} M", tick / 1e6)
        };
        text(svg, (LEFT - 8.0, y + 4.5), "end", &name, "");
    }
    let bottom = HEIGHT - BOTTOM;
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {bottom}H{right}\" stroke=\"{GREY}\"/>"
    );
    for connections in CONNECTIONS {
        let at = (Scale::x(connections), bottom + 18.0);
        text(svg, at, "middle", &connections.to_string(), "");
    }
    let middle = f64::midpoint(LEFT, right);
    text(svg, (middle, HEIGHT - 10.0), "middle", "connections", "");
}

fn line(svg: &mut String, scale: &Scale, series: &Series) {
    let Series { colour, width, .. } = series;
    let points: Vec<_> = series
        .points
        .iter()
        .map(|&(connections, rate)| (Scale::x(connections), scale.y(rate)))
        .collect();
    let path: Vec<_> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
         stroke-linejoin=\"round\"/>",
        path.join(" ")
    );
    for (x, y) in points {
        let radius = width + 1.0;
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{colour}\"/>"
        );
    }
}

/// Each beside the end of its line, moved down where the one above leaves no room.
fn labels(svg: &mut String, scale: &Scale, series: &[Series]) {
    let mut ends: Vec<_> = series
        .iter()
        .filter_map(|series| Some((scale.y(series.points.last()?.1), series)))
        .collect();
    ends.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut least = f64::NEG_INFINITY;
    for (y, series) in ends {
        let y = y.max(least);
        least = y + LABEL;
        let style = format!("style=\"fill:{}\" font-weight=\"600\"", series.colour);
        text(
            svg,
            (WIDTH - RIGHT + 10.0, y + 4.5),
            "start",
            series.label,
            &style,
        );
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str, style: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{text}</text>"
    );
}
