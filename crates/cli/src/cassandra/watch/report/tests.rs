//! Frames of a chain in virtual time.

use std::sync::{Arc, Mutex};

use steersman_selection::{
    Attempt, Event, LatencyAware, Locality, NodeIndex, Outcome, Policy, RoundRobin, Timestamp,
    Topology,
};

use super::*;

/// Two nodes after two seconds of a request each 10 ms: the second one is slow. A third has gone.
pub(in crate::cassandra::watch) fn frame() -> Frame {
    let [fast, slow] = [0, 1].map(|index| NodeIndex::try_from(index).unwrap());
    let mut topology = Topology::new();
    topology.insert(fast, Locality::datacenter("dc1"));
    topology.insert(slow, Locality::datacenter("dc1"));
    let events = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&events);
    let policy = LatencyAware::builder()
        .listener(move |event: &Event| heard.lock().unwrap().push(*event))
        .build(RoundRobin::new())
        .unwrap();
    let mut now = Timestamp::from_nanos(0);
    policy.topology_changed(&topology, now);
    let mut seen = Tally::default();
    for sample in 1..=200 {
        now = now + Duration::from_millis(10);
        for (node, latency) in [(fast, 2), (slow, 30)] {
            let latency = Duration::from_millis(latency);
            policy.record(&Attempt::new(node, now, latency, Outcome::Success));
            seen.record(latency, Ok(address(node.get())));
        }
        if sample % 10 == 0 {
            policy.tick(now);
        }
    }
    let node = |index: usize, is_connected, share| Node {
        address: address(index),
        datacenter: Some("dc1".to_owned()),
        rack: (index == 0).then(|| "r\x1b1".to_owned()),
        is_connected,
        report: NodeIndex::try_from(index)
            .ok()
            .and_then(|index| policy.report(index, now)),
        picks: 1_200,
        unanswered: 3,
        late: 2,
        share,
    };
    let events = events.lock().unwrap();
    let changes = events.iter().map(|&event| Change {
        at: Duration::from_millis(1_250),
        node: address(event.node.get()).to_string(),
        event,
    });
    Frame {
        at: Duration::from_secs(2),
        took: Duration::from_secs(2),
        seen,
        nodes: vec![
            node(0, true, 99.96),
            node(1, true, 0.04),
            node(2, false, 0.0),
        ],
        counters: policy.counters(),
        changes: changes.collect(),
    }
}

fn address(index: usize) -> std::net::SocketAddr {
    format!("127.0.0.{}:9042", index + 1).parse().unwrap()
}

#[test]
fn a_table_says_what_is_known_and_why() {
    let mut out = Vec::new();
    write(&frame(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "200 reads/s, p50 2.00 ms, p99 30.0 ms, 0 failed");
    assert!(lines[1].starts_with("NODE            DC/RACK"), "{text}");
    let cells = |line: &str| {
        let cells = line
            .split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    let expected = |row: &str| cells(&row.replace('|', "  "));
    let fast = "127.0.0.1:9042|dc1/r\\u{1b}1|yes|100.0%|2.00 ms|4.00 ms|normal|2.00 ms|200|0.00 ms|1,200|3|2";
    let slow = "127.0.0.2:9042|dc1/-|yes|0.0%|30.0 ms|4.00 ms|penalised: 15 x the fastest|2.00 ms|200|0.00 ms|1,200|3|2";
    let gone = "127.0.0.3:9042|dc1/-|no|0.0%|-|-|no connection|-|-|-|1,200|3|2";
    for (line, row) in lines[2..].iter().zip([fast, slow, gone]) {
        assert_eq!(cells(line), expected(row), "{text}");
    }
    let event = "    1.2 s  127.0.0.2:9042 is penalised: score 30.0 ms, fastest 2.00 ms";
    assert_eq!(lines[5..], [event]);
}

#[test]
fn a_failure_is_told_on_one_line() {
    let mut frame = frame();
    frame
        .seen
        .record(Duration::ZERO, Err("lost\n\x1b[2J".to_owned()));
    let title = title(&frame);
    assert!(title.ends_with("1 failed: lost\\n\\u{1b}[2J"), "{title}");
}

#[test]
fn scripts_get_numbers_and_words() {
    let json = Value::from(json(&frame()));
    assert_eq!(json["at_ms"], 2_000);
    assert_eq!(json["reads_per_second"], 200);
    assert_eq!(json["failures"], 0);
    assert_eq!(json["counters"]["penalised"], 1);
    let [fast, slow, gone] = [0, 1, 2].map(|at| &json["nodes"][at]);
    assert_eq!(fast["name"], "127.0.0.1:9042");
    assert_eq!(fast["condition"], "normal");
    assert_eq!(fast["share_percent"], 100.0);
    assert_eq!(
        (&slow["condition"], &slow["score_us"]),
        (&"penalised".into(), &30_000.into())
    );
    assert_eq!(
        (&slow["penalised"], &fast["penalised"]),
        (&true.into(), &false.into())
    );
    assert_eq!(
        (&gone["condition"], &gone["score_us"]),
        (&"untracked".into(), &Value::Null)
    );
    assert_eq!(gone["connected"], false);
    assert_eq!((&gone["unanswered"], &gone["late"]), (&3.into(), &2.into()));
    let event = &json["events"][0];
    assert_eq!(event["change"], "penalised");
    assert_eq!(event["node"], "127.0.0.2:9042");
}
