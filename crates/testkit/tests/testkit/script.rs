//! Replies written by the test.

use steersman_testkit::{Server, Times};

use crate::client::Client;

#[tokio::test]
async fn the_next_replies_are_replaced_and_their_requests_not_executed() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    server
        .script()
        .answer(Times::Next(2), "SERVER_ERROR busy\r\n");
    client
        .ask(
            "set k 0 0 1\r\nx\r\nnonsense\r\nget k\r\n",
            "SERVER_ERROR busy\r\nSERVER_ERROR busy\r\nEND\r\n",
        )
        .await;
}

#[tokio::test]
async fn all_replies_are_replaced_until_cleared() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    server
        .script()
        .answer(Times::Always, &b"\0\xff garbage"[..]);
    client.send("get k\r\nstats\r\n").await;
    client.send("version\r\n").await;
    let mut garbage = Vec::new();
    while garbage.len() < 3 * 10 {
        garbage.extend(client.read_some().await.unwrap());
    }
    assert_eq!(garbage, b"\0\xff garbage".repeat(3));
    server.script().clear();
    client.ask("get k\r\n", "END\r\n").await;
}

#[tokio::test]
async fn a_request_without_reply_is_executed_and_answered_all_the_same() {
    let server = Server::start().await.unwrap();
    let mut client = Client::connect(server.addr()).await;
    server
        .script()
        .answer_noreply(Times::Next(1), "SERVER_ERROR late\r\n");
    client
        .ask(
            "set k 0 0 1 noreply\r\nx\r\nset k 0 0 1 noreply\r\ny\r\nget k\r\n",
            "SERVER_ERROR late\r\nVALUE k 0 1\r\ny\r\nEND\r\n",
        )
        .await;
}
