//! Figures over time, as SVG: panels one below the other over one axis, legible on light and dark pages.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 74.0;
/// Room for the names of the lines.
const RIGHT: f64 = 96.0;
const PANEL: f64 = 128.0;
/// Between two panels, with the title of the lower one.
const GAP: f64 = 42.0;
const GREY: &str = "#7d8590";
const COLOURS: [&str; 3] = ["#2f81f7", "#d9730d", "#d1242f"];

/// A figure over time.
#[derive(Debug, Clone)]
pub struct Series {
    /// What it is called.
    pub name: &'static str,
    /// Seconds and the figure then.
    pub points: Vec<(f64, f64)>,
}

/// Some figures of one kind.
#[derive(Debug, Clone)]
pub struct Panel {
    /// What they are, with their unit.
    pub title: &'static str,
    /// Whether equal distances are equal factors; figures below 1 are drawn as 1 then.
    pub logarithmic: bool,
    /// Up to three.
    pub series: Vec<Series>,
}

/// The panels, with a mark at each of the `marks`, in seconds.
pub fn draw(panels: &[Panel], marks: &[f64], marked: &str) -> String {
    let all = panels.iter().flat_map(|panel| &panel.series);
    let last = all
        .flat_map(|series| &series.points)
        .map(|point| point.0)
        .fold(1.0, f64::max);
    let mut svg = String::new();
    let mut top = 0.0;
    for panel in panels {
        top += GAP;
        Frame::new(panel, top, last).draw(&mut svg, panel, marks);
        top += PANEL;
    }
    text(&mut svg, (LEFT, top + 20.0), "start", GREY, "0");
    let end = format!("{:.0} min", last / 60.0);
    text(&mut svg, (WIDTH - RIGHT, top + 20.0), "end", GREY, &end);
    let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
    text(&mut svg, (middle, top + 20.0), "middle", GREY, marked);
    let height = top + 32.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n{svg}</svg>\n"
    )
}

/// Where a panel's figures are on the page.
struct Frame {
    top: f64,
    last: f64,
    logarithmic: bool,
    least: f64,
    most: f64,
}

impl Frame {
    fn new(panel: &Panel, top: f64, last: f64) -> Self {
        let mut frame = Self {
            top,
            last,
            logarithmic: panel.logarithmic,
            least: 0.0,
            most: 1.0,
        };
        let points = panel.series.iter().flat_map(|series| &series.points);
        let figures: Vec<_> = points.map(|point| frame.measure(point.1)).collect();
        frame.most = figures.iter().copied().fold(1.0, f64::max) * 1.05;
        if frame.logarithmic {
            frame.least = figures.iter().copied().fold(frame.most, f64::min).floor();
        }
        frame
    }

    fn measure(&self, figure: f64) -> f64 {
        if self.logarithmic {
            figure.max(1.0).log10()
        } else {
            figure
        }
    }

    fn x(&self, seconds: f64) -> f64 {
        LEFT + seconds / self.last * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, measure: f64) -> f64 {
        let share = (measure - self.least) / (self.most - self.least);
        self.top + PANEL - share * PANEL
    }

    fn draw(&self, svg: &mut String, panel: &Panel, marks: &[f64]) {
        let (top, bottom, right) = (self.top, self.top + PANEL, WIDTH - RIGHT);
        text(svg, (LEFT, top - 10.0), "start", GREY, panel.title);
        let mark = |mark: &f64| format!("M{:.1} {bottom}v-5", self.x(*mark));
        let marks: Vec<_> = marks.iter().map(mark).collect();
        let _ = writeln!(
            svg,
            "<path d=\"{}\" stroke=\"{GREY}\" stroke-opacity=\"0.6\"/>",
            marks.concat()
        );
        for tick in self.ticks() {
            let y = self.y(self.measure(tick));
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"{GREY}\" stroke-opacity=\"0.25\"/>"
            );
            text(svg, (LEFT - 8.0, y + 4.5), "end", GREY, &figure(tick));
        }
        let mut least = f64::NEG_INFINITY;
        let mut labels: Vec<_> = panel.series.iter().zip(COLOURS).collect();
        for (series, colour) in &labels {
            self.line(svg, series, colour);
        }
        labels.sort_by(|(one, _), (other, _)| self.end(one).total_cmp(&self.end(other)));
        for (series, colour) in labels {
            let y = self.end(series).max(least);
            least = y + 16.0;
            text(svg, (right + 8.0, y + 4.5), "start", colour, series.name);
        }
    }

    /// The height at which a line ends.
    fn end(&self, series: &Series) -> f64 {
        let last = series.points.last().map_or(0.0, |point| point.1);
        self.y(self.measure(last))
    }

    fn line(&self, svg: &mut String, series: &Series, colour: &str) {
        let at = |(seconds, figure): &(f64, f64)| {
            format!(
                "{:.1},{:.1}",
                self.x(*seconds),
                self.y(self.measure(*figure))
            )
        };
        let points: Vec<_> = series.points.iter().map(at).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" \
             stroke-linejoin=\"round\"/>",
            points.join(" ")
        );
    }

    /// Round figures that are on the page, about four.
    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let tens = (0..10).map(|exponent| 10_f64.powi(exponent));
            return tens
                .filter(|tick| (self.least..=self.most).contains(&tick.log10()))
                .collect();
        }
        let ten = 10_f64.powf((self.most / 4.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * ten);
        let step = steps.into_iter().find(|step| self.most / step <= 5.0);
        let step = step.unwrap_or(self.most);
        (0..=5)
            .map(|count| f64::from(count) * step)
            .filter(|tick| *tick <= self.most)
            .collect()
    }
}

fn figure(tick: f64) -> String {
    if tick >= 1e6 {
        format!("{} M", tick / 1e6)
    } else if tick >= 1e3 {
        format!("{} k", tick / 1e3)
    } else {
        format!("{tick}")
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, colour: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_on_the_page() {
        let series = |name, scale: f64| Series {
            name,
            points: (0..50)
                .map(|x| (f64::from(x), scale * f64::from(x * x)))
                .collect(),
        };
        let panel = |title, logarithmic| Panel {
            title,
            logarithmic,
            series: vec![series("low", 0.1), series("high", 9.0)],
        };
        let svg = draw(
            &[panel("µs", true), panel("MiB", false)],
            &[10.0, 20.0],
            "marks",
        );
        assert_eq!(svg.matches("<polyline").count(), 4);
        for line in svg.split("points=\"").skip(1) {
            let points = line.split('"').next().unwrap();
            for point in points.split(' ') {
                let (x, y) = point.split_once(',').unwrap();
                let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
                assert!((LEFT..=WIDTH - RIGHT).contains(&x), "{point}");
                assert!((0.0..400.0).contains(&y), "{point}");
            }
        }
    }

    #[test]
    fn nothing_measured_is_no_failure() {
        let empty = Panel {
            title: "none",
            logarithmic: true,
            series: vec![Series {
                name: "none",
                points: Vec::new(),
            }],
        };
        assert!(!draw(&[empty], &[], "").contains("NaN"));
    }
}
