//! The list of nodes in a file.

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
