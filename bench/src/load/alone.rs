//! One caller alone, beside a bare exchange on a socket of the same kind on the same runtime.
//!
//! Both take turns in slices of a few milliseconds, so that whatever the machine does meanwhile
//! happens to both.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use steersman_bench_contract::{key, keys, runtime, within};
use steersman_memcached::Client;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{argument, connect, read_one};
use crate::plan::VALUE;

const SLICE: Duration = Duration::from_millis(20);

/// How many exchanges pass between looks at the clock.
const STRIDE: u32 = 16;

/// What a read takes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Alone {
    /// Nanoseconds to write a request and to read its reply.
    pub(crate) raw_ns: f64,
    /// Nanoseconds of `client.get(key)`.
    pub(crate) client_ns: f64,
}

/// `SERVER SECONDS`
pub(super) fn run(args: &[String]) -> Result<Alone, String> {
    let server: String = argument(args, 0, "SERVER")?;
    let seconds: f64 = argument(args, 1, "SECONDS")?;
    let measuring = measure(server, Duration::from_secs_f64(seconds));
    within(&runtime(None)?, measuring)
}

async fn measure(server: String, span: Duration) -> Result<Alone, String> {
    let client = connect(&server, 1).await?;
    let mut exchange = Exchange::connect(&server)
        .await
        .map_err(|error| error.to_string())?;
    let keys = keys(0, STRIDE as usize, VALUE);
    let (mut raw, mut ours) = (Spent::default(), Spent::default());
    // The first slices are the warm-up.
    slice(&mut exchange, &mut Spent::default()).await?;
    read(&client, &keys, &mut Spent::default()).await?;
    let began = Instant::now();
    while began.elapsed() < span {
        slice(&mut exchange, &mut raw).await?;
        read(&client, &keys, &mut ours).await?;
    }
    Ok(Alone {
        raw_ns: raw.each(),
        client_ns: ours.each(),
    })
}

#[derive(Default)]
struct Spent {
    time: Duration,
    exchanges: u32,
}

impl Spent {
    fn each(&self) -> f64 {
        self.time.as_nanos() as f64 / f64::from(self.exchanges)
    }

    fn add(&mut self, time: Duration, exchanges: u32) {
        self.time += time;
        self.exchanges += exchanges;
    }
}

async fn read(client: &Client, keys: &[String], spent: &mut Spent) -> Result<(), String> {
    let began = Instant::now();
    let mut reads = 0;
    while began.elapsed() < SLICE {
        for key in keys {
            read_one(client, key).await?;
        }
        reads += STRIDE;
    }
    spent.add(began.elapsed(), reads);
    Ok(())
}

async fn slice(exchange: &mut Exchange, spent: &mut Spent) -> Result<(), String> {
    let began = Instant::now();
    let mut exchanges = 0;
    while began.elapsed() < SLICE {
        for _ in 0..STRIDE {
            exchange.once().await.map_err(|error| error.to_string())?;
        }
        exchanges += STRIDE;
    }
    spent.add(began.elapsed(), exchanges);
    Ok(())
}

/// A socket, a prepared request, and room for its reply.
struct Exchange {
    socket: TcpStream,
    request: Vec<u8>,
    reply: Vec<u8>,
}

impl Exchange {
    async fn connect(server: &str) -> std::io::Result<Self> {
        let socket = TcpStream::connect(server).await?;
        socket.set_nodelay(true)?;
        let key = key(0, VALUE);
        let length = format!("VALUE {key} 0 {VALUE}\r\n").len() + VALUE + "\r\nEND\r\n".len();
        Ok(Self {
            socket,
            request: format!("get {key}\r\n").into_bytes(),
            reply: vec![0; length],
        })
    }

    async fn once(&mut self) -> std::io::Result<()> {
        self.socket.write_all(&self.request).await?;
        self.socket.read_exact(&mut self.reply).await?;
        Ok(())
    }
}
