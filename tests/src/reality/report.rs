//! Real figures beside simulated ones.

use std::fmt;
use std::time::Duration;

use steersman_simulator::PolicyKind;

use super::load::Ended;

/// What came of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Figures {
    /// The share of reads that were answered.
    pub answered: f64,
    /// What half of the reads do not exceed.
    pub p50: Duration,
    /// What 90 % of them do not exceed.
    pub p90: Duration,
    /// What 99 % of them do not exceed.
    pub p99: Duration,
}

impl Figures {
    #[expect(clippy::cast_precision_loss, reason = "thousands")]
    pub(super) fn of(ended: &[Ended], counted_from: Duration) -> Self {
        let counted: Vec<_> = ended.iter().filter(|end| end.at >= counted_from).collect();
        let mut latencies: Vec<_> = counted.iter().map(|end| end.latency).collect();
        latencies.sort_unstable();
        let answered = counted.iter().filter(|end| end.is_answered).count();
        let quantile = |percent: usize| {
            let rank = (latencies.len() * percent).div_ceil(100);
            let latency = latencies.get(rank.saturating_sub(1));
            latency.copied().unwrap_or_default()
        };
        Self {
            answered: answered as f64 / counted.len().max(1) as f64,
            p50: quantile(50),
            p90: quantile(90),
            p99: quantile(99),
        }
    }
}

/// Of each figure the median over runs.
pub(super) fn median(runs: &[Figures]) -> Figures {
    let middle = |figure: fn(&Figures) -> Duration| {
        let mut all: Vec<_> = runs.iter().map(figure).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    let mut answered: Vec<_> = runs.iter().map(|run| run.answered).collect();
    answered.sort_by(f64::total_cmp);
    Figures {
        answered: answered.get(answered.len() / 2).copied().unwrap_or(1.0),
        p50: middle(|run| run.p50),
        p90: middle(|run| run.p90),
        p99: middle(|run| run.p99),
    }
}

/// One plan under one policy: medians of the real runs, and of simulated ones.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Row {
    /// The plan.
    pub plan: &'static str,
    /// The policy.
    pub policy: PolicyKind,
    /// For real.
    pub real: Figures,
    /// How far apart the p99 of real runs are, the least and the most.
    pub real_p99: (Duration, Duration),
    /// In virtual time.
    pub simulated: Figures,
}

impl Row {
    pub(super) fn new(
        plan: &'static str,
        policy: PolicyKind,
        real: &[Figures],
        simulated: Figures,
    ) -> Self {
        let p99 = || real.iter().map(|run| run.p99);
        Self {
            plan,
            policy,
            real: median(real),
            real_p99: (
                p99().min().unwrap_or_default(),
                p99().max().unwrap_or_default(),
            ),
            simulated,
        }
    }
}

/// All plans under all policies; shown as a table in Markdown.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Report {
    /// What the nodes are.
    pub subject: &'static str,
    /// By plan and policy.
    pub rows: Vec<Row>,
}

impl Report {
    pub(super) fn new(subject: &'static str) -> Self {
        Self {
            subject,
            rows: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, row: Row) {
        self.rows.push(row);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = self.subject;
        writeln!(
            f,
            "| {subject} | policy | p50, ms: real, simulated | p90 | p99 | real p99 | answered |"
        )?;
        writeln!(f, "| --- | --- | --- | --- | --- | --- | --- |")?;
        for row in &self.rows {
            write!(f, "| {} | {} ", row.plan, row.policy)?;
            let figures: [fn(&Figures) -> Duration; 3] =
                [|run| run.p50, |run| run.p90, |run| run.p99];
            for figure in figures {
                let [real, simulated] = [&row.real, &row.simulated].map(|run| millis(figure(run)));
                let apart = 100.0 * (simulated / real - 1.0);
                write!(f, "| {real:.2}, {simulated:.2} ({apart:+.0} %) ")?;
            }
            let (least, most) = row.real_p99;
            writeln!(
                f,
                "| {:.2} to {:.2} | {:.2} %, {:.2} % |",
                millis(least),
                millis(most),
                100.0 * row.real.answered,
                100.0 * row.simulated.answered
            )?;
        }
        Ok(())
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
