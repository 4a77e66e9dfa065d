//! Options from `--url`, `--config` and the environment.

use std::path::PathBuf;

use crate::harness::{Cluster, Outcome, plain, run, steersman};

const SECRET: &str = "hunter2";

fn with(args: &str, variables: &[(&str, &str)]) -> Outcome {
    let mut command = steersman(args.split_whitespace());
    run(command.envs(variables.iter().copied()))
}

/// Where a key lives by these arguments and variables.
fn route(args: &str, variables: &[(&str, &str)]) -> String {
    let outcome = with(&format!("{args} route user:1"), variables);
    assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{args}");
    outcome.text()
}

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_url_is_a_cluster_and_its_options() {
    let cluster = Cluster::of(3);
    let url = format!("memcached://{}?replicas=2&timeout=5s", cluster.nodes());
    assert_eq!(plain(&format!("--url {url} set k v")).code, 0);
    assert_eq!(plain(&format!("--url {url} get k")).text(), "v");
    let holders = cluster
        .servers
        .iter()
        .filter(|server| plain(&format!("--node {} get k", server.node())).code == 0);
    assert_eq!(holders.count(), 2);
    let variable = [("STEERSMAN_URL", &*url)];
    assert_eq!(with("get k", &variable).text(), "v");
    assert_eq!(route("", &variable).split(',').count(), 2);
}

#[test]
fn what_is_more_particular_wins() {
    let folder = tempfile::tempdir().unwrap();
    let toml = file(&folder, "a.toml", "nodes = ['file']\ntimeout = '5s'\n");
    let json = file(
        &folder,
        "a.json",
        r#"{"nodes": ["json"], "placement": "emcache"}"#,
    );
    let bare = file(&folder, "bare.toml", "replicas = 2\n");
    let nodes = [("STEERSMAN_NODES", "variable")];
    let url = [("STEERSMAN_URL", "memcached://url")];
    let both = [nodes[0], url[0]];
    let [toml, json, bare] = [toml, json, bare].map(|path| format!("--config {}", path.display()));
    for (args, variables, node) in [
        ("", &[][..], "localhost:11211"),
        ("", &nodes, "variable"),
        ("", &url, "url"),
        (&toml, &both, "file"),
        (&json, &both, "json"),
        (&bare, &nodes, "variable"),
        (&bare, &both, "variable"),
        ("--url memcached://?replicas=2", &nodes, "variable"),
        ("--url unix:/run/m", &both, "unix:/run/m"),
        ("--node argument", &both, "argument"),
        (&format!("{toml} --node argument"), &both, "argument"),
        ("--url dns://name.invalid --node argument", &[], "argument"),
    ] {
        assert_eq!(
            route(args, variables),
            format!("user:1\t{node}\n"),
            "{args}"
        );
    }
    let emcache = "--url memcached://a,b,c?placement=emcache";
    assert_eq!(
        route(emcache, &[]),
        route("--node a,b,c --placement emcache", &[])
    );
    assert_eq!(
        route(&format!("{emcache} --placement rendezvous"), &[]),
        route("--node a,b,c", &[])
    );
    with("get k", &both).failed_with("STEERSMAN_NODES: STEERSMAN_URL says which nodes");
}

#[test]
fn a_source_of_nodes_may_be_the_url() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = file(&folder, "nodes", "a=h:1\nb=h:2\n");
    let url = format!("file://{}?placement=emcache", nodes.display());
    let expected = route("--node a,b --placement emcache", &[]);
    assert_eq!(route(&format!("--url {url}"), &[]), expected);
    assert_eq!(route("", &[("STEERSMAN_URL", &url)]), expected);
    let outcome = plain("--url file:///no/file route k");
    assert!(outcome.stderr.starts_with("error: --url: "), "{outcome:?}");
}

#[test]
fn mistakes_are_told_with_where_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        |name: &str, text: &str| format!("--config {} get k", file(&folder, name, text).display());
    for (args, why) in [
        (
            "--url memcached://a?timout=1s get k".to_owned(),
            "--url: there is no option \"timout\"; the nearest is `timeout`",
        ),
        (
            "--url memcached://a?timeout=1 get k".to_owned(),
            "--url: option `timeout`: \"1\" is not a duration",
        ),
        (
            "--url memcached://a?max_in_flight=0 get k".to_owned(),
            "--url: option `max_in_flight`: must be at least 1",
        ),
        (
            "--url memcached://a?replicas=17 get k".to_owned(),
            "--url: option `replicas`: must be 1 to 16",
        ),
        (
            "--url memcached://u@a get k".to_owned(),
            "--url: option `user`: give the password too",
        ),
        (
            "--url redis://a get k".to_owned(),
            "--url: its scheme is unknown",
        ),
        ("--url memcached://a,a route k".to_owned(), "--url: "),
        (
            "--config /no/file.toml get k".to_owned(),
            "--config: cannot read /no/file.toml",
        ),
        (config("a.yaml", ""), "ends neither in .toml nor in .json"),
        (
            config("b.toml", "nodes = ['a']\ntimout = '1s'"),
            "there is no option",
        ),
        (
            config("c.toml", "nodes = ['a']\n\ntimeout = 1s"),
            "c.toml in line 3: ",
        ),
        (config("d.json", "{\"timeout\": \"1\"}"), "option `timeout`"),
        (
            "--url memcached://a demo".to_owned(),
            "--url has no effect here",
        ),
        (
            "--config a.toml demo".to_owned(),
            "--config has no effect here",
        ),
        (
            "--url memcached+tls:// bench".to_owned(),
            "`tls`: give --node too",
        ),
    ] {
        plain(&args).failed_with(why);
    }
    with("get k", &[("STEERSMAN_URL", "memcached://a?x=1")])
        .failed_with("STEERSMAN_URL: there is no option");
    let both = plain("--url memcached://a --config a.toml get k");
    assert!(
        both.code == 2 && both.stderr.contains("cannot be used with"),
        "{both:?}"
    );
}

#[test]
fn no_message_has_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        |name: &str, text: &str| format!("--config {} get k", file(&folder, name, text).display());
    for args in [
        "--url memcached://u:hunter2@a:0 get k".to_owned(),
        "--url memcached://u:hunter2@a?x=1 get k".to_owned(),
        "--url memcached://u:a?hunter2@a get k".to_owned(),
        "--url redis://u:hunter2@a get k".to_owned(),
        "--url memcached://u:hunter2@a --config x.toml get k".to_owned(),
        "--node memcached://u:hunter2@a get k".to_owned(),
        "--url memcached://u:hunter2@127.0.0.1:1?timeout=1ms get k".to_owned(),
        config("a.toml", "password = 'hunter2"),
        config("b.toml", "user = 'u'\npassword = 'hunter2' x"),
        config("c.toml", "password = 'hunter2'"),
        config("d.json", "{\"user\": \"u\", \"password\": \"hunter2\""),
        config("e.json", "{\"user\": \"u\", \"password\": [\"hunter2\"]}"),
        config("f.json", "\"redis://u:hunter2@h\""),
    ] {
        let outcome = plain(&args);
        assert_eq!(outcome.code, 2, "{args}: {outcome:?}");
        assert!(!outcome.stderr.contains(SECRET), "{args}: {outcome:?}");
    }
}
