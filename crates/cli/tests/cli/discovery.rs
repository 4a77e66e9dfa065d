//! Nodes that are found where `--discovery` says.

use steersman_testkit::ClusterConfiguration;

use crate::harness::{Cluster, plain};

fn fails(url: &str) -> String {
    let outcome = plain(&format!("--discovery {url} route k"));
    assert_eq!(outcome.code, 2, "{url}");
    assert_eq!(outcome.text(), "", "{url}");
    outcome.stderr
}

#[test]
fn a_file_lists_the_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    std::fs::write(&path, "a=h:1\nb=h:2 # the other\n").unwrap();
    let url = format!("file://{}", path.display());
    let found = plain(&format!("--discovery {url} route user:1"));
    let given = plain("--node a,b route user:1");
    assert_eq!((found.code, found.text()), (0, given.text()));
    std::fs::write(&path, "").unwrap();
    assert_eq!(
        fails(&url),
        format!("error: --discovery: {url}: the list is empty\n")
    );
    std::fs::remove_file(&path).unwrap();
    assert!(fails(&url).contains(&url));
}

#[test]
fn a_list_may_be_longer_than_the_queue_of_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes");
    let nodes: Vec<_> = (0..20_000).map(|n| format!("n{n}=127.0.0.1:1")).collect();
    std::fs::write(&path, nodes.join("\n")).unwrap();
    let url = format!("file://{}", path.display());
    let found = plain(&format!("--discovery {url} route user:1"));
    assert_eq!(found.code, 0, "{found:?}");
    assert!(found.text().starts_with("user:1\tn"), "{found:?}");
}

#[test]
fn a_configuration_endpoint_lists_the_nodes() {
    let cluster = Cluster::of(2);
    let [endpoint, node] = [0, 1].map(|at| cluster.servers[at].node());
    let url = format!("elasticache://{endpoint}");
    let why = fails(&url);
    assert!(why.contains("is no configuration endpoint"), "{why}");
    cluster.servers[0].configure(ClusterConfiguration::new(1, [&node]));
    assert_eq!(plain(&format!("--discovery {url} set k v")).code, 0);
    assert_eq!(plain(&format!("--node {node} get k")).text(), "v");
    let route = plain(&format!("--discovery {url} route k"));
    assert_eq!(route.text(), format!("k\t{node}\n"));
}

#[test]
fn other_sources_are_refused_with_the_forms_there_are() {
    for url in ["nodes.txt", "http://h", "file://nodes", "elasticache//h"] {
        let why = fails(url);
        assert!(why.contains("write elasticache://HOST[:PORT]"), "{why}");
    }
    assert!(fails("elasticache://h:0").contains("--discovery: "));
    assert!(fails("elasticache://").contains("lacks the place"));
    assert_eq!(plain("--discovery dns://h --node h route k").code, 2);
    let demo = plain("--discovery dns://h demo");
    assert!(demo.stderr.contains("--discovery has no effect here"));
}
