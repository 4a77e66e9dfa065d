//! The meta commands.
//!
//! Seconds are compared in hundreds, since the two servers' clocks do not tick together.

mod lines;

use std::io;

use fastrand::Rng;

use super::random::{choose, value};
use super::{compare, servers};

const KEYS: &[&str] = &["a", "b", "c", "n", "Zm9v", "foo", "YQBi", "x y"];

const FLAGS: &[&str] = &[
    "v",
    "v",
    "v",
    "c",
    "k",
    "k",
    "s",
    "t",
    "f",
    "h",
    "q",
    "q",
    "u",
    "b",
    "I",
    "I",
    "Oabc",
    "O",
    "O1234567890123456789012345678901",
    "T0",
    "T100000",
    "T2000000000",
    "Tx",
    "N0",
    "N100000",
    "N100000",
    "R50000",
    "R200000",
    "R0",
    "C1",
    "C5",
    "Cx",
    "F1",
    "F7",
    "D3",
    "D",
    "J9",
    "MA",
    "MP",
    "ME",
    "MR",
    "MS",
    "MI",
    "MD",
    "M+",
    "M-",
    "P",
    "Lpath",
    "z",
];

/// An endless session; equal seeds give equal sessions.
fn steps(seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut rng = Rng::with_seed(seed);
    std::iter::repeat_with(move || step(&mut rng))
}

fn step(rng: &mut Rng) -> Vec<u8> {
    let verb = choose(
        rng,
        &[
            "mg", "mg", "mg", "mg", "ms", "ms", "ms", "md", "ma", "ma", "me", "mn", "get", "gets",
            "incr", "delete",
        ],
    );
    let mut words = vec![verb.to_owned(), choose(rng, KEYS).to_owned()];
    let mut block = None;
    match verb {
        "get" | "gets" | "delete" => {}
        "incr" => words.push("1".to_owned()),
        _ => {
            if verb == "ms" {
                let value = value(rng);
                words.push(value.len().to_string());
                block = Some(value);
            }
            for _ in 0..rng.usize(..6) {
                let flag = choose(rng, FLAGS);
                // The number of a step that is of use: they grow by one with every change.
                if flag == "C5" {
                    words.push(format!("C{}", rng.u32(..400)));
                } else {
                    words.push(flag.to_owned());
                }
            }
        }
    }
    let mut step = words.join(" ").into_bytes();
    step.extend_from_slice(b"\r\n");
    if let Some(block) = block {
        step.extend_from_slice(&block);
        step.extend_from_slice(b"\r\n");
    }
    step
}

#[tokio::test]
async fn scripted_sessions_get_the_same_replies() -> io::Result<()> {
    let (real, embedded) = servers().await?;
    let steps = lines::LINES
        .iter()
        .map(|line| [line.as_bytes(), b"\r\n"].concat());
    let played = compare(&real, &embedded, steps).await?;
    assert!(played > 300, "only {played} steps were played");
    Ok(())
}

#[tokio::test]
async fn random_sessions_get_the_same_replies() -> io::Result<()> {
    for seed in 0..8 {
        let (real, embedded) = servers().await?;
        println!("seed {seed}");
        compare(&real, &embedded, steps(seed).take(1500)).await?;
    }
    Ok(())
}

#[tokio::test]
async fn long_keys_and_large_values_get_the_same_replies() -> io::Result<()> {
    let (real, embedded) = servers().await?;
    let mut steps = Vec::new();
    for len in [248, 250, 251] {
        let key = "k".repeat(len);
        for line in [
            "mg K v",
            "ms K 1 c\r\nx",
            "mg K v k",
            "md K",
            "ma K",
            "me K",
            "mg K b k",
        ] {
            steps.push(line.replace('K', &key) + "\r\n");
        }
    }
    for len in [1_048_516, 1_048_517, 2_000_000] {
        let value = "v".repeat(len);
        steps.push("ms s 1\r\nx\r\n".to_owned());
        steps.push(format!("ms s {len}\r\n{value}\r\n"));
        steps.push("mg s s\r\n".to_owned());
        steps.push("ms s 1\r\nx\r\n".to_owned());
        steps.push(format!("ms s {len} ME q O1\r\n{value}\r\n"));
        steps.push("mg s s v\r\n".to_owned());
    }
    compare(&real, &embedded, steps.into_iter().map(String::into_bytes)).await?;
    Ok(())
}
