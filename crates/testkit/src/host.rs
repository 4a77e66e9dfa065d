//! What every listening thing here consists of, and its loop: accept, serve, end.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::connections::{Admission, Connections, Place};
use crate::fault::Faults;
use crate::gate::{Endpoint, Gate};
use crate::observe::wait_until;
use crate::stream::{Ending, Stream};

/// The pause after a connection could not be accepted, for want of file descriptors perhaps.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// A place to connect to.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) gate: Arc<Gate>,
    pub(crate) connections: Arc<Connections>,
    pub(crate) faults: Faults,
    /// Notified when anything happened that somebody may wait for.
    pub(crate) changed: Arc<Notify>,
}

/// What is done with a connection.
pub(crate) trait Serve: Send + Sync + 'static {
    /// The place the connections come to.
    fn host(&self) -> &Host;

    /// Serves a connection until it is to end. May be dropped at any time.
    fn serve(&self, stream: &mut Stream, place: Place) -> impl Future<Output = Ending> + Send;
}

impl Host {
    pub(crate) fn open(endpoint: Endpoint) -> io::Result<Self> {
        let changed = Arc::new(Notify::new());
        let gate = Arc::new(Gate::open(endpoint)?);
        let connections = Arc::new(Connections::new(Arc::clone(&changed)));
        let faults = Faults::new(Arc::clone(&gate), Arc::clone(&connections));
        Ok(Self {
            gate,
            connections,
            faults,
            changed,
        })
    }

    /// Closes the listener, then all connections, and waits until they are closed.
    pub(crate) async fn stop(&self) {
        // Closing cannot fail; only opening can.
        let _ = self.gate.set_stopped(true);
        self.connections.end_all(Ending::Close);
        wait_until(&self.changed, || {
            (self.connections.count().0 == 0).then_some(())
        })
        .await;
    }

    /// Listens again at the same address.
    pub(crate) fn start_again(&self) -> io::Result<()> {
        self.gate.set_stopped(false)
    }
}

/// Accepts and serves for ever; dropping the future ends all connections.
pub(crate) async fn accept_all<S: Serve>(server: Arc<S>) {
    let Host {
        gate,
        connections,
        faults,
        ..
    } = server.host();
    let mut changes = faults.changes();
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            biased;
            () = changes.changed() => {}
            Some(_) = tasks.join_next() => {}
            accepted = gate.accept(|| connections.admit()), if !faults.is_frozen() => match accepted {
                Ok((stream, admission)) => {
                    tasks.spawn(connection(Arc::clone(&server), stream, admission));
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
        }
    }
}

async fn connection<S: Serve>(server: Arc<S>, mut stream: Stream, mut admission: Admission) {
    let place = admission.place();
    let ending = tokio::select! {
        biased;
        ending = admission.ordered() => ending,
        ending = begin(&*server, &mut stream, place) => ending,
    };
    stream.end(ending);
    // The connection counts until here: whoever sees none left may rely on it.
    drop(admission);
}

async fn begin<S: Serve>(server: &S, stream: &mut Stream, place: Place) -> Ending {
    let faults = &server.host().faults;
    if faults.is_active() {
        if faults.takes_reset() {
            return Ending::Reset;
        }
        tokio::time::sleep(faults.accept_delay()).await;
    }
    server.serve(stream, place).await
}
