//! Requests, cancellation, writes, replies, faults and the end in any order, beside a model that knows who
//! gets which answer.
//!
//! The model is two stores. One executes what was asked, in order, and so knows each answer. The other is a
//! server: it reads what the connection writes with the server's parser, and executes that. While nothing
//! goes wrong each request gets just the answer of the first store, though its command was shared, cut or
//! sent by way of an outbox. When something goes wrong (an answer too many, too few, of somebody else, bytes
//! of no protocol) nobody gets the value of another key, and whoever waits gets an answer or hears of the
//! end, once.

mod ask;
mod fault;
mod run;
mod store;

use arbitrary::{Arbitrary, Unstructured};

use self::ask::Ask;
use self::fault::Fault;
use self::run::Run;

/// What is done.
#[derive(Arbitrary, Debug)]
enum Step {
    Submit(Ask),
    SubmitQuiet(Ask),
    /// Reads of many keys: their kind, and the keys.
    SubmitReads(ask::Kind, Vec<u8>),
    /// The same, into an outbox.
    Enqueue(Ask),
    EnqueueQuiet(Ask),
    EnqueueReads(ask::Kind, Vec<u8>),
    /// The connection takes over what is in the outbox.
    Absorb,
    /// Drops what is in the outbox.
    Clear,
    /// Gives up one of those that were submitted.
    Cancel(u8),
    /// Takes so many bytes of the output.
    Write(u16),
    /// The same, of what may be written within a window.
    WriteWithin(u16, u16),
    /// Receives so many bytes of what the server has answered.
    Receive(u16),
    /// All of both.
    Exchange,
    Fault(Fault),
}

/// Runs the target.
pub fn run(input: &[u8]) {
    let mut input = Unstructured::new(input);
    let Ok(settings) = input.arbitrary() else {
        return;
    };
    let mut run = Run::new(&settings);
    while !input.is_empty() {
        let Ok(step) = input.arbitrary() else { break };
        if !run.step(step) {
            break;
        }
    }
    run.end();
}
