//! Every trace of the Java driver's class, and what its builder accepts.

use std::time::Duration;

use steersman_selection::{ErrorKind, LatencyParameters};

use crate::{player, trace};

const JAVA: &str = include_str!("../vectors/latency_java.json");
const MODEL: &str = include_str!("../vectors/latency_vectors.json");

#[test]
fn every_trace_matches() {
    for (text, traces) in [(JAVA, 55), (MODEL, 65)] {
        let file: trace::File = serde_json::from_str(text).unwrap();
        let verdict = player::play(&file);
        assert_eq!(verdict.first_difference, None);
        assert_eq!((verdict.matching, verdict.traces), (traces, traces));
    }
}

#[test]
fn a_difference_is_found() {
    let mut changed: serde_json::Value = serde_json::from_str(MODEL).unwrap();
    changed["plan_traces"][0]["events"][3]["expect_min"] = 999_999.into();
    let file: trace::File = serde_json::from_value(changed).unwrap();
    let verdict = player::play(&file);
    assert_eq!((verdict.matching, verdict.traces), (64, 65));
    let difference = verdict.first_difference.unwrap();
    assert!(difference.contains("minimum"), "{difference}");
}

/// Java's builder takes a threshold that is not a number; what is negative cannot be said here.
#[test]
fn parameters_are_accepted_as_by_the_java_builder() {
    let file: serde_json::Value = serde_json::from_str(JAVA).unwrap();
    for case in file["builder_cases"].as_array().unwrap() {
        let parameter = case["call"].as_str().unwrap();
        let argument = case["arg"].as_str().unwrap();
        let accepted = case["accepted"].as_bool().unwrap() && argument != "NaN";
        let good = LatencyParameters::default();
        let span = || argument.parse().map(Duration::from_nanos);
        let parameters = match parameter {
            "exclusion_threshold" => Ok(good.exclusion_threshold(argument.parse().unwrap())),
            "scale_ns" => span().map(|span| good.scale(span)),
            "retry_period_ns" => span().map(|span| good.retry_period(span)),
            "update_rate_ns" => span().map(|span| good.update_rate(span)),
            "min_measured" => argument.parse().map(|samples| good.min_measured(samples)),
            other => panic!("{other}"),
        };
        let result = parameters.map(|parameters| parameters.validate());
        let is_accepted = matches!(result, Ok(Ok(())));
        assert_eq!(is_accepted, accepted, "{parameter} {argument}: {result:?}");
        if let Ok(Err(error)) = result {
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            let name = parameter.trim_end_matches("_ns");
            assert!(error.to_string().starts_with(name), "{error}");
        }
    }
}
