//! The list of nodes in a file.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use steersman_memcached::{Client, NodesFile};

use super::{names, news};
use crate::network::network;

#[tokio::test(start_paused = true)]
async fn a_file_is_followed_and_one_that_is_missing_or_empty_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    let (network, _attempts) = network();
    let client = Client::builder()
        .discovery(NodesFile::new(&path).check_every(Duration::from_secs(1)))
        .connector(network)
        .build()
        .unwrap();
    let mut events = client.events();
    let missing = news(&mut events).await.unwrap_err();
    assert!(missing.contains("No such file"), "{missing}");
    let write = |text: &str| {
        let new = folder.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &path).unwrap();
    };
    write("a=h:1\nb=h:2 # new\n");
    assert_eq!(news(&mut events).await, Ok(2));
    write("b=h:2\n");
    assert_eq!(news(&mut events).await, Ok(1));
    assert_eq!(names(&client), ["b"]);
    write("\n");
    assert_eq!(news(&mut events).await, Err("the list is empty".to_owned()));
    write("b=h:2\nc=:3\n");
    let malformed = news(&mut events).await.unwrap_err();
    assert!(malformed.starts_with("line 2: "), "{malformed}");
    std::fs::remove_file(&path).unwrap();
    let missing = news(&mut events).await.unwrap_err();
    assert!(missing.contains("No such file"), "{missing}");
    assert_eq!(names(&client), ["b"]);
    write("c=h:3\n");
    assert_eq!(news(&mut events).await, Ok(1));
    assert_eq!(names(&client), ["c"]);
}

/// What is in the place of a file, made by `make`, and what it is refused for.
async fn refused(make: impl FnOnce(&Path), why: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    make(&path);
    let (network, _attempts) = network();
    let client = Client::builder()
        .discovery(NodesFile::new(&path))
        .connector(network)
        .build()
        .unwrap();
    let mut events = client.events();
    let said = news(&mut events).await.unwrap_err();
    assert!(said.contains(why), "{said}");
}

#[tokio::test]
async fn what_is_no_file_with_a_list_is_refused_at_once() {
    let fifo = |path: &Path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    // Nobody ever writes to it: a thread that opens it waits for ever, and so does the runtime's end.
    refused(fifo, "no regular file").await;
    refused(|path| std::fs::create_dir(path).unwrap(), "no regular file").await;
    let link = |to: &'static str| move |path: &Path| std::os::unix::fs::symlink(to, path).unwrap();
    refused(link("/dev/zero"), "no regular file").await;
    refused(link("nodes"), "symbolic links").await;
    refused(link("not-there"), "No such file").await;
    let write = |bytes: Vec<u8>| move |path: &Path| std::fs::write(path, bytes).unwrap();
    refused(write(b"a\xff\n".to_vec()), "UTF-8").await;
    refused(write(vec![b'#'; 2 << 20]), "longer than 1048576 bytes").await;
    refused(write(b"cache-1:112\0".to_vec()), "line 1").await;
    refused(write(b"a*0\n".to_vec()), "line 1").await;
    refused(write(b"a\nn=b*2\nn=b\n".to_vec()), "listed twice").await;
    refused(write(b"\xef\xbb\xbf".to_vec()), "empty").await;
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_swapped_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("1"), "a=h:1\n").unwrap();
    std::fs::write(at("2"), "b=h:2\r\n").unwrap();
    std::os::unix::fs::symlink("1", at("nodes")).unwrap();
    let (network, _attempts) = network();
    let client = Client::builder()
        .discovery(NodesFile::new(at("nodes")))
        .connector(network)
        .build()
        .unwrap();
    let mut events = client.events();
    assert_eq!(news(&mut events).await, Ok(1));
    assert_eq!(names(&client), ["a"]);
    std::os::unix::fs::symlink("2", at("new")).unwrap();
    std::fs::rename(at("new"), at("nodes")).unwrap();
    assert_eq!(news(&mut events).await, Ok(1));
    assert_eq!(names(&client), ["b"]);
}
