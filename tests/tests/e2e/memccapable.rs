//! libmemcached's conformance suite against the embedded server.

use std::io;
use std::process::Command;

use steersman_testkit::Server;

#[tokio::test]
async fn the_embedded_server_passes_all_ascii_tests() -> io::Result<()> {
    let server = Server::start().await?;
    let (host, port) = (
        server.addr().ip().to_string(),
        server.addr().port().to_string(),
    );
    let run = tokio::task::spawn_blocking(move || {
        Command::new("memccapable")
            .args(["-h", &host, "-p", &port, "-a"])
            .output()
    });
    let output = run
        .await
        .expect("memccapable is awaited")
        .map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(
                error.kind(),
                "memccapable is not installed: apt-get install libmemcached-tools",
            ),
            _ => error,
        })?;
    let report = String::from_utf8_lossy(&output.stdout);
    let passed = report
        .lines()
        .filter(|line| line.ends_with("[pass]"))
        .count();
    assert!(
        output.status.success() && !report.contains("FAIL"),
        "{report}"
    );
    assert_eq!(passed, 27, "{report}");
    Ok(())
}
