//! Reading from one replica, and from further ones when that fails or takes long.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::join;
use steersman_memcached_protocol::{Expiry, Reply, StoreVerb, Value};
use steersman_selection::{Call, Hedging, NodeIndex, Plan, Policy};
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::attempt::Attempt;
use super::command::{Action, Command, Item};
use super::counters::count;
use super::report::{Answer, Outcomes};
use super::timing::Alarm;
use super::write::Wait;
use super::{Replicator, Request, Target};
use crate::error::{Error, ErrorKind, Result, Stage};

impl Request {
    /// Reads along the policy's plan.
    pub(super) async fn read(&self) -> Result<Answer> {
        let replicator = self.replicator()?;
        let mut race = Race::new(self, replicator)?;
        let Some(first) = race.next() else {
            return Err(nobody());
        };
        race.begin(first, &self.command);
        self.probe(replicator, &race.replicas);
        race.run().await
    }

    /// Reads the value, from the owner if its cas number is asked for and else along the plan, and
    /// gives the new expiry to all replicas. The value is what counts: a replica that does not
    /// take the expiry does not make the read fail.
    pub(super) async fn read_and_touch(&self, expiry: Expiry, cas: bool) -> Result<Answer> {
        let replicator = self.replicator()?;
        let mut race = Race::new(self, replicator)?;
        let first = if cas { Some(0) } else { race.next() };
        let Some(first) = first else {
            return Err(nobody());
        };
        let touch = self.command.instead(Action::Touch { expiry });
        let others = (0..self.targets.len()).filter(|&index| index != first);
        let touches = self.settle(others, &touch, Wait::Briefly);
        let value = async {
            if cas {
                self.ask_owner().await.map(Answer::of_one)
            } else {
                race.begin(first, &self.command);
                race.run().await
            }
        };
        join(value, touches).await.0
    }
}

/// One read: its attempts so far and what became of them.
struct Race<'a> {
    request: &'a Request,
    replicator: &'a Replicator,
    runtime: Handle,
    replicas: Vec<NodeIndex>,
    /// By target: whether it has been asked.
    asked: Vec<bool>,
    running: Vec<Runner>,
    missed: Vec<usize>,
    failed: Outcomes,
    hedge_delay: Option<Duration>,
    attempt_timeout: Option<Duration>,
}

struct Runner {
    target: usize,
    attempt: Attempt,
    /// When the next replica is asked as well; none if that has been decided.
    hedge_at: Option<Instant>,
    /// Whether another attempt was begun in its place.
    replaced: bool,
}

/// What happens next.
enum Step {
    Answered(usize, Result<Reply>),
    Due,
    Gone(Error),
}

impl<'a> Race<'a> {
    fn new(request: &'a Request, replicator: &'a Replicator) -> Result<Self> {
        let runtime = request.shared.cluster.runtime().cloned();
        count(&replicator.counters.reads);
        let targets = &request.targets;
        let replicas: Vec<_> = targets.iter().map(|target| target.index).collect();
        let hedging = replicator.hedging.as_ref();
        let hedge_delay = hedging.and_then(|hedging| hedging.begin(&replicas));
        Ok(Self {
            request,
            replicator,
            runtime: runtime.ok_or_else(Error::runtime_gone)?,
            asked: vec![false; targets.len()],
            replicas,
            running: Vec::with_capacity(1),
            missed: Vec::new(),
            failed: Outcomes::default(),
            hedge_delay,
            attempt_timeout: request.attempt_timeout(replicator),
        })
    }

    /// The next replica of the plan that was not asked yet.
    ///
    /// A plan cannot be kept while the read waits, since it is asked with what is known by then:
    /// the first attempt takes the first node of one, later ones that of a new plan.
    fn next(&self) -> Option<usize> {
        if !self.asked.contains(&false) {
            return None;
        }
        let (policy, now) = (self.replicator.policy(), self.replicator.now());
        let view = self.request.members.view();
        let call = Call::new(&view.topology).replicas(&self.replicas);
        let open = |node: NodeIndex| {
            let target = self.replicas.iter().position(|&replica| replica == node)?;
            (!self.asked[target]).then_some(target)
        };
        if !self.asked.contains(&true)
            && let Some(first) = policy.first(call, now).and_then(open)
        {
            return Some(first);
        }
        let mut plan = policy.plan(call.continued());
        std::iter::from_fn(|| plan.next(now)).find_map(open)
    }

    fn target(&self, target: usize) -> &'a Target {
        &self.request.targets[target]
    }

    fn begin(&mut self, target: usize, command: &Arc<Command>) {
        self.asked[target] = true;
        let shared = &self.request.shared;
        let attempt = Attempt::new(shared, self.target(target), command, self.attempt_timeout);
        self.running.push(Runner {
            target,
            hedge_at: self
                .hedge_delay
                .and_then(|delay| attempt.started().checked_add(delay)),
            attempt,
            replaced: false,
        });
    }

    /// Asks the next replica as well; false if there is none left.
    fn begin_next(&mut self) -> bool {
        let Some(target) = self.next() else {
            return false;
        };
        // Of a gat, the other replicas have been given the new expiry already.
        let command = match self.request.command.action {
            Action::Get { .. } => Arc::clone(&self.request.command),
            _ => self.request.command.instead(Action::Get { cas: false }),
        };
        self.begin(target, &command);
        true
    }

    async fn run(mut self) -> Result<Answer> {
        let mut alarm = Alarm::new();
        loop {
            match poll_fn(|cx| self.poll_step(&mut alarm, cx)).await {
                Step::Gone(error) => return Err(error),
                Step::Due => {
                    let now = Instant::now();
                    if self.request.limit.is_over(now) {
                        return Err(self.timed_out());
                    }
                    self.hedge(now);
                    self.give_up_waiting(now);
                }
                Step::Answered(target, Ok(Reply::Miss)) if self.replicator.options.next_on_miss => {
                    self.missed.push(target);
                    if !self.begin_next() && self.running.is_empty() {
                        return Ok(Answer::of_one(Reply::Miss));
                    }
                }
                Step::Answered(_, Ok(reply)) => {
                    if let Reply::Value(value) = &reply {
                        self.repair(value);
                    }
                    self.overtake();
                    return Ok(Answer::of_one(reply));
                }
                Step::Answered(target, Err(error)) => {
                    if !may_differ(&error) {
                        return Err(error);
                    }
                    self.failed.push(self.target(target), Err(error));
                    if self.begin_next() {
                        count(&self.replicator.counters.failovers);
                    } else if self.running.is_empty() {
                        return self.lost();
                    }
                }
            }
        }
    }

    /// Counts the attempts that another replica's answer came before.
    fn overtake(&self) {
        let overtaken = self.running.len() as u64;
        if overtaken > 0 {
            let counter = &self.replicator.counters.cancelled;
            counter.fetch_add(overtaken, Ordering::Relaxed);
        }
    }

    fn poll_step(&mut self, alarm: &mut Alarm, cx: &mut Context<'_>) -> Poll<Step> {
        for index in 0..self.running.len() {
            if let Poll::Ready(reply) = self.running[index].attempt.poll(cx) {
                let runner = self.running.swap_remove(index);
                return Poll::Ready(Step::Answered(runner.target, reply));
            }
        }
        let runners = self.running.iter();
        let due = runners
            .flat_map(|runner| [runner.hedge_at, runner.attempt.overdue_at])
            .chain([self.request.limit.at()])
            .flatten()
            .min();
        let rung = alarm.poll(due, cx, &self.runtime);
        rung.map(|rung| rung.map_or_else(Step::Gone, |()| Step::Due))
    }

    /// Asks another replica if the hedge delay of an attempt has passed and the budget allows it.
    fn hedge(&mut self, now: Instant) {
        for index in 0..self.running.len() {
            let runner = &mut self.running[index];
            if runner.hedge_at.is_none_or(|at| now < at) {
                continue;
            }
            runner.hedge_at = None;
            if runner.replaced || !self.asked.contains(&false) {
                continue;
            }
            let hedging = self.replicator.hedging.as_ref();
            if !hedging.is_some_and(Hedging::allow) {
                count(&self.replicator.counters.hedges_denied);
            } else if self.begin_next() {
                self.running[index].replaced = true;
                count(&self.replicator.counters.hedges);
            }
        }
    }

    /// Turns to another replica if an attempt has taken the attempt time-out.
    fn give_up_waiting(&mut self, now: Instant) {
        for index in 0..self.running.len() {
            let runner = &mut self.running[index];
            if runner.attempt.overdue_at.is_none_or(|at| now < at) {
                continue;
            }
            runner.attempt.overdue();
            runner.hedge_at = None;
            if !std::mem::replace(&mut runner.replaced, true) && self.begin_next() {
                count(&self.replicator.counters.failovers);
            }
        }
    }

    /// Gives a value to the replicas that missed it, without waiting for them.
    fn repair(&mut self, value: &Value) {
        let Some(expires) = self.replicator.options.repair else {
            return;
        };
        for target in std::mem::take(&mut self.missed) {
            let item = Item {
                flags: value.flags,
                expiry: expires.to_wire(),
                data: value.data.clone(),
            };
            let add = self
                .request
                .command
                .instead(Action::Store(StoreVerb::Add, item));
            self.request.send_unanswered(self.target(target), &add);
            count(&self.replicator.counters.repairs);
        }
    }

    /// The answer when every replica has been asked and none has given a value.
    fn lost(self) -> Result<Answer> {
        if self.missed.is_empty() {
            Err(self.failed.into_error())
        } else {
            Ok(Answer::of_one(Reply::Miss))
        }
    }

    fn timed_out(mut self) -> Error {
        for runner in std::mem::take(&mut self.running) {
            let error = self.request.limit.timeout(runner.attempt.withdraw());
            self.failed.push(self.target(runner.target), Err(error));
        }
        self.failed.into_error()
    }
}

/// No replica is in the policy's plan.
fn nobody() -> Error {
    Error::new(
        ErrorKind::NoNodeReachable,
        Stage::Routing,
        "the policy's plan names no replica of the key",
    )
}

/// Whether another replica may answer where one has failed with `error`.
fn may_differ(error: &Error) -> bool {
    !matches!(
        error.kind(),
        ErrorKind::InvalidKey | ErrorKind::InvalidArgument | ErrorKind::Closed | ErrorKind::Runtime
    )
}
