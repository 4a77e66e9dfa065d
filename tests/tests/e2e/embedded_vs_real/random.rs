//! Random sessions: commands put together from good and bad words.

use fastrand::Rng;

const KEYS: &[&str] = &["a", "b", "c", "n", "m", "noreply", "0"];
const FLAGS: &[&str] = &[
    "0",
    "0",
    "0",
    "1",
    "4294967295",
    "4294967296",
    "-1",
    "x",
    "",
    "1\t",
    "+3",
    "1x",
];
const EXPTIMES: &[&str] = &[
    "0",
    "0",
    "0",
    "100",
    "-1",
    "2592000",
    "2592001",
    "2000000000",
    "4294967295",
    "x",
    "",
    "1.5",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "1",
    "2",
    "10",
    "99",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "x",
    "",
    "1\t",
    "\t5",
];
const VALUES: &[&str] = &[
    "",
    "0",
    "1",
    "9",
    "99",
    "100",
    "18446744073709551615",
    "hello",
    "1 2",
    "\r\nx",
    "a\r\nb",
    "END\r\n",
    "get a\r\n",
    "0007",
    " 1",
];

/// CAS numbers grow by one with every change: small ones may well be current.
const CAS_NUMBERS: u32 = 400;

/// An endless session; equal seeds give equal sessions.
pub(super) fn steps(seed: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut rng = Rng::with_seed(seed);
    std::iter::repeat_with(move || step(&mut rng))
}

fn step(rng: &mut Rng) -> Vec<u8> {
    let verb = choose(
        rng,
        &[
            "get", "gets", "gat", "gats", "set", "set", "set", "set", "add", "replace", "append",
            "prepend", "cas", "cas", "incr", "incr", "decr", "decr", "touch", "delete", "other",
        ],
    );
    let mut words = vec![verb.to_owned()];
    let mut block = None;
    match verb {
        "get" | "gets" => read(rng, &mut words),
        "gat" | "gats" => {
            words.push(choose(rng, EXPTIMES).to_owned());
            read(rng, &mut words);
        }
        "incr" | "decr" => words.extend([key(rng), choose(rng, NUMBERS).to_owned()]),
        "touch" => words.extend([key(rng), choose(rng, EXPTIMES).to_owned()]),
        "delete" => {
            words.push(key(rng));
            if rng.u8(..8) == 0 {
                words.push(choose(rng, &["0", "1"]).to_owned());
            }
        }
        "other" => words = vec![other(rng).to_owned()],
        _ => {
            let value = value(rng);
            let len = declared(rng, value.len());
            words.push(key(rng));
            words.push(choose(rng, FLAGS).to_owned());
            words.push(choose(rng, EXPTIMES).to_owned());
            words.push(len);
            if verb == "cas" {
                words.push(rng.u32(..CAS_NUMBERS).to_string());
            }
            block = Some(value);
        }
    }
    distort(rng, &mut words);
    let end = if rng.u8(..20) == 0 { "\n" } else { "\r\n" };
    let mut step = words.join(" ").into_bytes();
    step.extend_from_slice(end.as_bytes());
    if let Some(block) = block {
        step.extend_from_slice(&block);
        step.extend_from_slice(b"\r\n");
        // Whatever number comes to be the length, the block ends within the step.
        step.extend(b"nonsense\r\n".repeat(CAS_NUMBERS as usize / 10 + 3));
    }
    step
}

pub(super) fn choose<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.usize(..from.len())]
}

fn key(rng: &mut Rng) -> String {
    match rng.u8(..60) {
        0 => "k".repeat(250),
        1 => "k".repeat(251),
        2 => "ключ".to_owned(),
        _ => choose(rng, KEYS).to_owned(),
    }
}

/// Keys to read. None is too long: before it, memcached would have touched some.
fn read(rng: &mut Rng, words: &mut Vec<String>) {
    for _ in 0..rng.usize(..5) {
        words.push(choose(rng, KEYS).to_owned());
    }
}

pub(super) fn value(rng: &mut Rng) -> Vec<u8> {
    if rng.u8(..10) == 0 {
        let len = rng.usize(..2000);
        return std::iter::repeat_with(|| rng.u8(..)).take(len).collect();
    }
    choose(rng, VALUES).as_bytes().to_vec()
}

/// The length to declare: mostly the true one, never more than 20 bytes too much.
fn declared(rng: &mut Rng, len: usize) -> String {
    match rng.u8(..20) {
        0 => (len + rng.usize(1..20)).to_string(),
        1 => len.saturating_sub(rng.usize(1..4)).to_string(),
        2 => choose(rng, &["-1", "x", "", "2147483647", "9223372036854775808"]).to_owned(),
        _ => len.to_string(),
    }
}

fn other(rng: &mut Rng) -> &'static str {
    choose(
        rng,
        &[
            "flush_all",
            "flush_all 0",
            "flush_all -1",
            "version",
            "verbosity 0",
            "mn",
            "cache_memlimit 64",
            "stats reset",
            "stats x",
            "",
            " ",
            "nonsense",
            "set",
        ],
    )
}

/// Adds, drops and repeats words, and says `noreply`.
fn distort(rng: &mut Rng, words: &mut Vec<String>) {
    match rng.u8(..16) {
        0..=2 => words.push("noreply".to_owned()),
        3 => drop(words.pop()),
        4 => words.push(choose(rng, NUMBERS).to_owned()),
        5 => words.insert(rng.usize(..=words.len()), String::new()),
        _ => {}
    }
}
