//! The examples do what they say.

#[path = "../../examples/autodiscovery.rs"]
#[allow(dead_code, reason = "its `main` is not called here")]
mod autodiscovery;
#[path = "../../examples/custom_codec.rs"]
#[allow(dead_code, reason = "its `main` is not called here")]
mod custom_codec;
#[path = "../../examples/replication.rs"]
#[allow(dead_code, reason = "its `main` is not called here")]
mod replication;

#[tokio::test]
async fn a_cluster_that_grows_is_followed() {
    autodiscovery::run().await.unwrap();
}

#[tokio::test]
async fn readings_are_kept_in_a_format_of_their_own() {
    custom_codec::run().await.unwrap();
}

#[tokio::test]
async fn replicated_reads_go_on() {
    replication::run().await.unwrap();
}
