//! Cache-aside in an axum service: a hundred requests for a user that is not cached read the database
//! once, and a change is seen by the next request.
//!
//! ```sh
//! cargo run -p steersman-memcached --example cache_aside
//! ```
//!
//! The cache is a memcached inside this process, and so are those who ask; it ends when they have seen
//! what it promises.

use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use futures_util::future::try_join_all;
use steersman_memcached::{Client, Fill, FillError};
use steersman_testkit::Server;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The flags of what says that there is no such user.
const ABSENT: u32 = 1;

/// What is slow, and has the truth.
#[derive(Default)]
struct Database {
    names: RwLock<HashMap<u32, String>>,
    reads: AtomicUsize,
}

impl Database {
    async fn name(&self, id: u32) -> io::Result<Option<String>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(20)).await;
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        Ok(names.get(&id).cloned())
    }

    fn rename(&self, id: u32, name: String) {
        let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
        names.insert(id, name);
    }
}

#[derive(Clone)]
struct App {
    cache: Client,
    database: Arc<Database>,
}

/// `GET /users/{id}`
async fn show(State(app): State<App>, Path(id): Path<u32>) -> Result<String, StatusCode> {
    let load = || async {
        let name = app.database.name(id).await?;
        Ok(match name {
            Some(name) => Fill::new(name),
            // Kept, too, but not for long.
            None => Fill::new("")
                .flags(ABSENT)
                .expires_in(Duration::from_secs(5)),
        })
    };
    let name = app
        .cache
        .get_or_fill(key(id))
        .expires_in(Duration::from_secs(300))
        .load(load)
        .await
        .map_err(|error: FillError<io::Error>| {
            eprintln!("user {id}: {error}");
            StatusCode::SERVICE_UNAVAILABLE
        })?;
    if name.flags == ABSENT {
        return Err(StatusCode::NOT_FOUND);
    }
    Ok(String::from_utf8_lossy(&name.data).into_owned())
}

/// `PUT /users/{id}`: first the database, then the cache. A read that began before cannot put the old
/// name back.
async fn rename(
    State(app): State<App>,
    Path(id): Path<u32>,
    name: String,
) -> Result<(), StatusCode> {
    app.database.rename(id, name);
    let deleted = app.cache.delete(key(id)).await;
    deleted.map(drop).map_err(|error| {
        // The old name stays until it expires, so the caller should try again.
        eprintln!("user {id}: {error}");
        StatusCode::SERVICE_UNAVAILABLE
    })
}

fn key(id: u32) -> String {
    format!("user:{id}")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = Server::start().await?;
    let app = App {
        cache: Client::builder().node(server.node()).build()?,
        database: Arc::default(),
    };
    let database = Arc::clone(&app.database);
    database.rename(7, "Ada".to_owned());

    let routes = Router::new()
        .route("/users/{id}", get(show).put(rename))
        .with_state(app);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, routes).await });

    let asked = try_join_all((0..100).map(|_| ask(addr, "GET", 7, ""))).await?;
    assert!(
        asked
            .iter()
            .all(|answer| *answer == (200, "Ada".to_owned()))
    );
    assert_eq!(database.reads.load(Ordering::Relaxed), 1);
    println!("100 requests, 1 read of the database");

    ask(addr, "PUT", 7, "Grace").await?;
    assert_eq!(ask(addr, "GET", 7, "").await?, (200, "Grace".to_owned()));
    assert_eq!(database.reads.load(Ordering::Relaxed), 2);
    println!("changed, and seen by the next request");

    for _ in 0..2 {
        assert_eq!(ask(addr, "GET", 8, "").await?.0, 404);
    }
    assert_eq!(database.reads.load(Ordering::Relaxed), 3);
    println!("that there is no user 8 is cached as well");
    Ok(())
}

/// Makes a request for a user; gives the status and the body.
async fn ask(addr: SocketAddr, method: &str, id: u32, body: &str) -> io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(addr).await?;
    let length = body.len();
    let request = format!(
        "{method} /users/{id} HTTP/1.1\r\nhost: {addr}\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    let body = answer
        .split_once("\r\n\r\n")
        .map(|(_, body)| body.to_owned());
    status
        .zip(body)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}
