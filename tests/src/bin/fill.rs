//! A process whose tasks all read one key by `get_or_fill`, for tests with several processes.
//!
//! ```text
//! fill NODE KEY TASKS VALUE
//! ```
//!
//! It says `ready`, begins when it is sent a line, says `load` for each load that begins, and at last
//! `done` if all tasks have got a value. Loads of the value `hang` never end.

use std::convert::Infallible;
use std::error::Error;
use std::future::pending;
use std::io::{stdin, stdout};
use std::time::Duration;

use futures_util::future::join_all;
use steersman_memcached::Client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: fill NODE KEY TASKS VALUE");
    let (node, key, tasks, value) = (next()?, next()?, next()?.parse::<usize>()?, next()?);
    let client = Client::builder()
        .node(node)
        .timeout(Duration::from_secs(20))
        .build()?;
    client.ready(Duration::from_secs(20)).await?;
    say("ready")?;
    stdin().read_line(&mut String::new())?;
    let reads = (0..tasks).map(|_| {
        let (fill, value) = (client.get_or_fill(key.clone()), value.clone());
        tokio::spawn(fill.load(|| async move {
            say("load").expect("whoever started it listens");
            if value == "hang" {
                pending::<()>().await;
            }
            // Long enough for all the others to come.
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok::<_, Infallible>(value)
        }))
    });
    for read in join_all(reads).await {
        read??;
    }
    say("done")?;
    Ok(())
}

fn say(word: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut out = stdout().lock();
    writeln!(out, "{word}")?;
    out.flush()
}
