//! Members that are discovered: lists that come, change, make no sense or do not come.

#[cfg(feature = "dns")]
mod dns;
mod elasticache;
mod file;
mod first;
mod lists;
mod pace;

use std::time::Duration;

use steersman_memcached::{
    Builder, Client, Dialer, Discovered, Discovery, DiscoveryError, Event, EventStream, NodeConfig,
};
use tokio::sync::{mpsc, oneshot};

use crate::network::{Attempts, network};

/// What a [`Told`] discovery is asked, to be answered by the test.
pub(crate) type Question = oneshot::Sender<Result<Discovered, DiscoveryError>>;

/// A discovery that asks the test.
pub(crate) struct Told(mpsc::UnboundedSender<Question>);

impl Discovery for Told {
    async fn discover(&mut self, _: &Dialer) -> Result<Discovered, DiscoveryError> {
        let (question, answer) = oneshot::channel();
        self.0.send(question)?;
        answer.await?
    }

    fn source(&self) -> String {
        "the test".to_owned()
    }
}

pub(crate) struct Questions(mpsc::UnboundedReceiver<Question>);

impl Questions {
    pub(crate) async fn next(&mut self) -> Question {
        self.0.recv().await.expect("the client asks")
    }

    /// Waits for the next question and answers it with these nodes.
    pub(crate) async fn answer(&mut self, nodes: &[&str]) {
        self.answer_with(Ok(list(nodes))).await;
    }

    pub(crate) async fn answer_with(&mut self, answer: Result<Discovered, DiscoveryError>) {
        // A client that gave up waiting does not hear it.
        let _ = self.next().await.send(answer);
    }

    /// Whether nobody will ask any more.
    pub(crate) async fn ended(&mut self) -> bool {
        self.0.recv().await.is_none()
    }
}

pub(crate) fn told() -> (Told, Questions) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Told(sender), Questions(receiver))
}

pub(crate) fn list(nodes: &[&str]) -> Discovered {
    let nodes = nodes.iter().map(|node| node.parse::<NodeConfig>().unwrap());
    Discovered::new(nodes)
}

/// A client on a simulated network whose list of nodes the test tells.
fn client_with(
    options: impl FnOnce(Builder) -> Builder,
) -> (Client, Attempts, Questions, EventStream) {
    let (network, attempts) = network();
    let (told, questions) = told();
    let builder = Client::builder().discovery(told).connector(network);
    let client = options(builder).build().unwrap();
    let events = client.events();
    (client, attempts, questions, events)
}

/// The next event that is about the list.
async fn news(events: &mut EventStream) -> Result<usize, String> {
    loop {
        match events.recv().await.expect("the client is open") {
            Event::ListTaken { nodes, .. } => return Ok(nodes),
            Event::ListRefused { reason } => return Err(reason.to_string()),
            _ => {}
        }
    }
}

fn names(client: &Client) -> Vec<String> {
    let mut names: Vec<String> = client
        .nodes()
        .iter()
        .map(|node| node.name().to_owned())
        .collect();
    names.sort();
    names
}

/// Long enough for every interval, in virtual time.
const LONG: Duration = Duration::from_secs(600);
