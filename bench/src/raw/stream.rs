//! One connection that keeps so many operations under way.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use steersman_bench_contract::Phase;

use super::request::Request;

/// A reply that is shorter than it should be ends here.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Stream {
    socket: TcpStream,
    requests: Vec<Request>,
}

impl Stream {
    /// Connects, sends each request once, and looks at its reply: where only bytes are counted,
    /// each has to be of the length that is expected.
    pub(super) fn open(server: &str, requests: Vec<Request>) -> io::Result<Self> {
        let mut socket = TcpStream::connect(server)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        for request in &requests {
            socket.write_all(&request.bytes)?;
            let mut reply = vec![0; request.reply];
            socket.read_exact(&mut reply)?;
            if !reply.ends_with(request.end.as_bytes()) {
                let start = String::from_utf8_lossy(&reply[..reply.len().min(60)]).into_owned();
                return Err(io::Error::other(format!("an unexpected reply: {start}")));
            }
        }
        Ok(Self { socket, requests })
    }

    /// Returns the operations of the counted span.
    pub(super) fn run(mut self, outstanding: usize, phase: &Phase) -> io::Result<u64> {
        let (operations, reply) = (self.requests[0].operations, self.requests[0].reply);
        let window = (outstanding / operations).max(1);
        let (mut input, mut output) = (vec![0; 256 * 1024], Vec::new());
        let (mut sent, mut received) = (0, 0);
        let mut before = 0;
        loop {
            let answered = received / reply;
            if phase.is_warming() {
                before = answered;
            } else if !phase.is_counting() {
                return Ok(((answered - before) * operations) as u64);
            }
            output.clear();
            while sent < answered + window {
                let request = &self.requests[sent % self.requests.len()];
                output.extend_from_slice(&request.bytes);
                sent += 1;
            }
            self.socket.write_all(&output)?;
            match self.socket.read(&mut input) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => received += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
