//! What happens between clients and a server, and what a server says that can be told what to say.

use std::time::Duration;

use fastrand::Rng;
use steersman_testkit::{Ending, Faults, Times};
use tokio::time::sleep;

use super::super::fault::Fault;
use super::super::impostor::garbage;
use super::super::schedule::Step;
use super::{Kind, Node};

impl Node {
    /// What a proxy, or the embedded server, does on its own.
    pub(super) async fn network(&self, step: Step, random: &mut Rng) {
        match step.fault {
            Fault::BlackHole => self.switch(|faults| faults.set_black_hole(true)),
            Fault::HalfOpen => {
                self.switch(|faults| faults.set_black_hole(true));
                // Long enough that every connection under load loses something.
                sleep(Duration::from_millis(50)).await;
                self.switch(|faults| faults.set_black_hole(false));
            }
            Fault::Slow => {
                let seed = random.u64(..);
                self.switch(|faults| {
                    faults.set_latency(Duration::from_millis(random.u64(1..=40)));
                    faults.set_jitter(Duration::from_millis(20), seed);
                    faults.set_split(Some(random.usize(1..=700)));
                });
            }
            Fault::Refused => self.switch(|faults| {
                faults.set_refusing(true);
                faults.close_connections();
            }),
            Fault::HeldBack => self.switch(|faults| faults.set_stalled(true)),
            Fault::ResetAccepted => self.switch(|faults| {
                faults.reset_accepted(Times::Always);
                faults.reset_connections();
            }),
            Fault::CutReplies => self.switch(|faults| {
                let ending = [Ending::Close, Ending::Reset][random.usize(..2)];
                faults.cut_replies(Times::Always, random.usize(..30_000), ending);
            }),
            _ => {}
        }
        let end = tokio::time::Instant::now() + step.lasts;
        while step.fault == Fault::Resets && tokio::time::Instant::now() < end {
            self.switch(Faults::reset_connections);
            sleep(Duration::from_millis(random.u64(1..100))).await;
        }
        tokio::time::sleep_until(end).await;
        self.switch(Faults::clear);
    }

    pub(super) fn switch(&self, mut switch: impl FnMut(&Faults)) {
        if let Some(faults) = self.faults() {
            switch(faults);
        }
    }

    /// Answers that are none, from a server that can be told what to say.
    pub(super) async fn answers(&self, step: Step, random: &mut Rng) {
        let Kind::Embedded(server) = &self.kind else {
            return;
        };
        let end = tokio::time::Instant::now() + step.lasts;
        while tokio::time::Instant::now() < end {
            if step.fault == Fault::Garbage {
                server.script().answer(Times::Next(1), garbage(random));
                sleep(Duration::from_millis(random.u64(1..60))).await;
            } else {
                let lines = [
                    "SERVER_ERROR out of memory storing object\r\n",
                    "SERVER_ERROR\r\n",
                    "ERROR\r\n",
                ];
                let line = lines[random.usize(..lines.len())];
                server
                    .script()
                    .answer(Times::Next(random.u32(1..500)), line);
                sleep(Duration::from_millis(20)).await;
            }
        }
        server.script().clear();
    }
}
