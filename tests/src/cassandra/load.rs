//! Load, and what came of it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use scylla::errors::ExecutionError;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior};

use super::Reads;

/// One read.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// When it was due, since the load began.
    pub at: Duration,
    /// How long it took since then.
    pub latency: Duration,
    /// Who answered; none if it failed.
    pub node: Option<u8>,
}

/// What came of a load.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order in which the reads ended.
    pub samples: Vec<Sample>,
    /// Why the first read failed that did.
    pub failure: Option<String>,
}

/// Load that runs until it is stopped.
#[derive(Debug)]
pub struct Load {
    began: Instant,
    stopped: Arc<AtomicBool>,
    task: JoinHandle<Report>,
}

impl Load {
    /// So many reads a second, whether earlier ones are answered or not.
    pub fn start(reads: &Arc<Reads>, per_second: u64) -> Self {
        let stopped = Arc::new(AtomicBool::new(false));
        let began = Instant::now();
        let task = tokio::spawn(run(
            Arc::clone(reads),
            per_second,
            began,
            Arc::clone(&stopped),
        ));
        Self {
            began,
            stopped,
            task,
        }
    }

    /// So many reads a second for a while.
    pub async fn run(reads: &Arc<Reads>, per_second: u64, time: Duration) -> Report {
        let load = Self::start(reads, per_second);
        load.until(time).await;
        load.stop().await
    }

    /// So many reads in all, by 32 tasks that wait for each answer.
    pub async fn closed(reads: &Arc<Reads>, count: u64) -> Report {
        let (next, began) = (Arc::new(AtomicU64::new(0)), Instant::now());
        let mut tasks = JoinSet::new();
        for _ in 0..32 {
            let (reads, next) = (Arc::clone(reads), Arc::clone(&next));
            tasks.spawn(async move {
                let mut report = Report::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return report;
                    }
                    report.add(sample(&reads, number, began, Instant::now()).await);
                }
            });
        }
        let mut report = Report::default();
        for part in tasks.join_all().await {
            report.samples.extend(part.samples);
            report.failure = report.failure.or(part.failure);
        }
        report
    }

    /// How long it has been running.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// Waits until it has been running for so long.
    pub async fn until(&self, time: Duration) {
        tokio::time::sleep_until(self.began + time).await;
    }

    /// No more reads begin; waits for those that have begun.
    pub async fn stop(self) -> Report {
        self.stopped.store(true, Ordering::Relaxed);
        self.task.await.expect("the load does not panic")
    }
}

async fn run(
    reads: Arc<Reads>,
    per_second: u64,
    began: Instant,
    stopped: Arc<AtomicBool>,
) -> Report {
    let mut ticks = tokio::time::interval_at(began, Duration::from_millis(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut tasks = JoinSet::new();
    let mut report = Report::default();
    let mut begun = 0;
    while !stopped.load(Ordering::Relaxed) {
        let due = ticks.tick().await;
        let elapsed = u64::try_from((due - began).as_millis()).unwrap_or_default() + 1;
        while begun < elapsed * per_second / 1_000 {
            let (reads, number) = (Arc::clone(&reads), begun);
            tasks.spawn(async move { sample(&reads, number, began, due).await });
            begun += 1;
        }
        while let Some(ended) = tasks.try_join_next() {
            report.add(ended.expect("a read does not panic"));
        }
    }
    for ended in tasks.join_all().await {
        report.add(ended);
    }
    report
}

type Ended = (Sample, Option<ExecutionError>);

async fn sample(reads: &Reads, number: u64, began: Instant, due: Instant) -> Ended {
    let answer = reads.read(number).await;
    let sample = Sample {
        at: due - began,
        latency: due.elapsed(),
        node: answer.as_ref().ok().copied(),
    };
    (sample, answer.err())
}

impl Report {
    fn add(&mut self, (sample, failure): Ended) {
        self.samples.push(sample);
        if let (None, Some(failure)) = (&self.failure, failure) {
            self.failure = Some(failure.to_string());
        }
    }

    /// The reads that were due within that time.
    pub fn during(&self, time: Range<Duration>) -> Self {
        let samples = self
            .samples
            .iter()
            .filter(|sample| time.contains(&sample.at));
        Self {
            samples: samples.copied().collect(),
            failure: self.failure.clone(),
        }
    }

    /// Panics if a read failed, and says why it did.
    #[track_caller]
    pub fn assert_none_failed(&self, when: &str) {
        let (failed, all) = (self.failed(), self.samples.len());
        let why = self.failure.as_deref().unwrap_or_default();
        assert!(failed == 0, "{failed} of {all} reads failed {when}: {why}");
    }

    /// How many reads failed.
    pub fn failed(&self) -> usize {
        let failed = self.samples.iter().filter(|sample| sample.node.is_none());
        failed.count()
    }

    /// How many reads a node answered.
    pub fn count(&self, node: u8) -> usize {
        let answered = self
            .samples
            .iter()
            .filter(|sample| sample.node == Some(node));
        answered.count()
    }

    /// Which share of the answers was a node's, in percent.
    pub fn percent(&self, node: u8) -> f64 {
        let answered = self.samples.len() - self.failed();
        100.0 * ratio(self.count(node), answered)
    }

    /// The latency that so many percent of the reads did not exceed.
    pub fn percentile(&self, percent: usize) -> Duration {
        self.permille(10 * percent)
    }

    /// The latency that so many of each thousand reads did not exceed.
    pub fn permille(&self, count: usize) -> Duration {
        let mut latencies: Vec<_> = self.samples.iter().map(|sample| sample.latency).collect();
        latencies.sort_unstable();
        let index = (latencies.len() * count).div_ceil(1_000).saturating_sub(1);
        latencies.get(index).copied().unwrap_or_default()
    }

    /// The most reads that a node answered of those that were due within any `window`, of windows
    /// that begin every tenth of one.
    pub fn burst(&self, node: u8, window: Duration) -> usize {
        let step = window / 10;
        let mut steps = BTreeMap::new();
        for sample in self
            .samples
            .iter()
            .filter(|sample| sample.node == Some(node))
        {
            let step = sample.at.as_nanos() / step.as_nanos().max(1);
            *steps.entry(step).or_insert(0_usize) += 1;
        }
        let bursts = steps
            .keys()
            .map(|&first| steps.range(first..first + 10).map(|(_, count)| count).sum());
        bursts.max().unwrap_or_default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a test are small")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
