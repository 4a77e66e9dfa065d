//! What a soak has come to: whether anything grew, as a table, as JSON and as a plot.

use std::fmt;

use serde_json::{Value, json};

use super::Options;
use super::plot::{Panel, Series, draw};
use super::sample::Sample;
use super::trend::slope;
use crate::chaos::tally::{Broken, Tally};

/// So much of a run is not judged: buffers find their size.
const WARM_UP: f64 = 0.25;
/// By how much the judged part may make something grow, as its trend tells.
const MEMORY: f64 = 4.0 * 1024.0 * 1024.0;
const FILES: f64 = 4.0;
const TASKS: f64 = 4.0;

/// What a soak has come to.
#[derive(Debug, Clone)]
pub struct Report {
    options: Options,
    /// What was seen, one after the other.
    pub samples: Vec<Sample>,
    /// When servers were restarted, in seconds.
    pub restarts: Vec<f64>,
    /// What the calls came to.
    pub tally: Tally,
    /// How long the machine was busy elsewhere.
    pub seconds_lost: f64,
    /// By how much the trends made memory, files and tasks grow.
    growth: [f64; 3],
    /// How many promises were broken.
    pub broken_promises: u64,
    broken: Vec<String>,
}

impl Report {
    /// One of a run that begins.
    pub fn new(options: Options, nodes: usize) -> Self {
        Self {
            options,
            samples: Vec::new(),
            restarts: Vec::new(),
            tally: Tally::new(nodes),
            seconds_lost: 0.0,
            growth: [0.0; 3],
            broken_promises: 0,
            broken: Vec::new(),
        }
    }

    /// Looks at the trends, and takes down what was broken.
    pub fn judge(&mut self, broken: &Broken) {
        let figures: [(&str, Figure, f64); 3] = [
            ("memory, in bytes,", |sample| whole(sample.memory), MEMORY),
            ("open files", |sample| whole(sample.files as u64), FILES),
            ("tasks", |sample| whole(sample.tasks as u64), TASKS),
        ];
        for (growth, (name, figure, tolerated)) in self.growth.iter_mut().zip(figures) {
            *growth = trend(&self.samples, figure);
            if *growth > tolerated {
                broken.report(format_args!(
                    "{name} grew by {growth:.0}, and {tolerated:.0} would be chance"
                ));
            }
        }
        self.broken_promises = broken.count();
        self.broken = broken.told();
    }

    fn series(&self, name: &'static str, figure: impl Fn(&Sample) -> f64) -> Series {
        let points = self.samples.iter();
        Series {
            name,
            points: points
                .map(|sample| (sample.seconds, figure(sample)))
                .collect(),
        }
    }

    /// Latencies, failures and what the process held, over time.
    pub fn plot(&self) -> String {
        let latencies = Panel {
            title: "Latency of all calls, failed ones included, in µs",
            logarithmic: true,
            series: vec![
                self.series("median", |sample| f64::from(sample.p50)),
                self.series("99 %", |sample| f64::from(sample.p99)),
                self.series("99.9 %", |sample| f64::from(sample.p999)),
            ],
        };
        let rate = |count: usize, sample: &Sample| whole(count as u64) / sample.lasted;
        let calls = Panel {
            title: "Calls a second",
            logarithmic: false,
            series: vec![
                self.series("ended", |sample| rate(sample.calls, sample)),
                self.series("failed", |sample| rate(sample.failed, sample)),
            ],
        };
        let memory = Panel {
            title: "Resident memory in MiB",
            logarithmic: false,
            series: vec![self.series("memory", |sample| mebibytes(sample.memory))],
        };
        let held = Panel {
            title: "Open files and tasks",
            logarithmic: false,
            series: vec![
                self.series("files", |sample| whole(sample.files as u64)),
                self.series("tasks", |sample| whole(sample.tasks as u64)),
            ],
        };
        let marked = "marks: a server is killed";
        draw(&[latencies, calls, memory, held], &self.restarts, marked)
    }

    /// All of it.
    pub fn json(&self) -> Value {
        json!({
            "seed": self.options.seed,
            "seconds": self.options.duration.as_secs_f64(),
            "seconds_lost": self.seconds_lost,
            "restarts": self.restarts.len(),
            "calls": self.tally.calls(),
            "answers_held_against_a_write": self.tally.held,
            "memory_growth": self.growth[0],
            "files_growth": self.growth[1],
            "tasks_growth": self.growth[2],
            "broken_promises": self.broken_promises,
            "broken": self.broken,
            "samples": self.samples,
        })
    }
}

type Figure = fn(&Sample) -> f64;

/// By how much a figure's trend makes it grow from the warm-up to the end.
fn trend(samples: &[Sample], figure: Figure) -> f64 {
    let Some(last) = samples.last() else {
        return 0.0;
    };
    let begin = last.seconds * WARM_UP;
    let judged = samples.iter().filter(|sample| sample.seconds >= begin);
    let points: Vec<_> = judged
        .map(|sample| (sample.seconds, figure(sample)))
        .collect();
    slope(&points) * (last.seconds - begin)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn whole(count: u64) -> f64 {
    count as f64
}

fn mebibytes(bytes: u64) -> f64 {
    whole(bytes) / f64::from(1 << 20)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>8} {:>9} {:>8} {:>9} {:>9} {:>9} {:>11} {:>6} {:>6}",
            "SECONDS",
            "CALLS",
            "FAILED",
            "P50 µs",
            "P99 µs",
            "P99.9 µs",
            "MEMORY MiB",
            "FILES",
            "TASKS"
        )?;
        // A dozen lines tell the story.
        let step = self.samples.len().div_ceil(12).max(1);
        for sample in self.samples.iter().rev().step_by(step).rev() {
            let memory = mebibytes(sample.memory);
            writeln!(
                f,
                "{:>8.0} {:>9} {:>8} {:>9} {:>9} {:>9} {memory:>11.1} {:>6} {:>6}",
                sample.seconds,
                sample.calls,
                sample.failed,
                sample.p50,
                sample.p99,
                sample.p999,
                sample.files,
                sample.tasks
            )?;
        }
        let [memory, files, tasks] = self.growth;
        writeln!(
            f,
            "\nseed {}: {} restarts in {:.0} s, of which the machine was busy elsewhere for {:.1} s\n\
             {} calls, {} answers held against a confirmed write\n\
             trend after the first quarter: memory {:+.2} MiB, files {files:+.1}, tasks {tasks:+.1}",
            self.options.seed,
            self.restarts.len(),
            self.options.duration.as_secs_f64(),
            self.seconds_lost,
            self.tally.calls(),
            self.tally.held,
            memory / f64::from(1 << 20),
        )?;
        for broken in &self.broken {
            writeln!(f, "broken: {broken}")?;
        }
        write!(f, "{} promises broken", self.broken_promises)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn report(memory: impl Fn(u32) -> u64, files: impl Fn(u32) -> usize) -> Report {
        let options = Options {
            seed: 1,
            duration: Duration::from_secs(200),
            rate: 1,
        };
        let sample = |second: u32| Sample {
            seconds: f64::from(second),
            lasted: 1.0,
            calls: 10,
            failed: 1,
            p50: 100,
            p99: 200,
            p999: 400,
            memory: memory(second),
            files: files(second),
            tasks: 7,
        };
        let mut report = Report::new(options, 1);
        report.samples = (0..200).map(sample).collect();
        report
    }

    fn broken(mut report: Report) -> u64 {
        let broken = Broken::default();
        report.judge(&broken);
        assert!(report.plot().contains("polyline"));
        broken.count()
    }

    #[test]
    fn what_grows_is_told_and_what_settles_is_not() {
        // All of it grows in the first quarter.
        let settles = |second: u32| (20 << 20) + 500_000 * u64::from(second.min(40));
        assert_eq!(broken(report(settles, |_| 30)), 0);
        let grows = |second: u32| (20 << 20) + 40_000 * u64::from(second);
        assert_eq!(broken(report(grows, |_| 30)), 1);
        let leaks = |second: u32| 30 + second as usize / 15;
        assert_eq!(broken(report(settles, leaks)), 1);
        // Restarts make files come and go.
        let restarts = |second: u32| 30 - usize::from(second.is_multiple_of(5)) * 4;
        assert_eq!(broken(report(settles, restarts)), 0);
    }
}
