//! Where the output goes: closed pipes, full disks.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::harness::{Cluster, steersman};

#[test]
fn a_reader_that_leaves_early_is_not_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all("key\n".repeat(500_000).as_bytes()).unwrap();
    let mut child = steersman(["route", "--keys"])
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    lines.read_line(&mut String::new()).unwrap();
    drop(lines);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stderr, b"");
}

#[test]
fn a_pipe_that_was_closed_from_the_start_is_not_an_error() {
    let cluster = Cluster::of(1);
    cluster.ok("set k v");
    for args in [
        &["get", "k"][..],
        &["version"],
        &["completions", "bash"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = cluster
            .command(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn();
        let output = child.unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(output.stderr, b"", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_is_an_error() {
    let cluster = Cluster::of(1);
    cluster.ok("set k v");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let child = cluster
        .command(["get", "k"])
        .stdout(full.unwrap())
        .stderr(Stdio::piped())
        .spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: cannot write the output: "),
        "{stderr}"
    );
}
