//! Scripted sessions: what a client may send, right and wrong.

mod lines;

use lines::{ADMINISTRATION, CONDITIONS, COUNTING, EXPIRING, READING, REMOVING, STORING, SYNTAX};

/// The longest key, and one byte too many.
const LONGEST: usize = 250;

/// The largest value under a key of one byte, without flags.
const LARGEST: usize = 1024 * 1024 - 60;

/// All steps, to be played in order on one connection.
pub(super) fn steps() -> Vec<Vec<u8>> {
    let mut steps: Vec<Vec<u8>> = Vec::new();
    for line in [
        READING,
        STORING,
        CONDITIONS,
        COUNTING,
        EXPIRING,
        REMOVING,
        ADMINISTRATION,
        SYNTAX,
    ]
    .into_iter()
    .flatten()
    {
        steps.push([line.as_bytes(), b"\r\n"].concat());
    }
    steps.extend(framing());
    steps.extend(keys());
    steps.extend(sizes());
    steps.extend(counters());
    steps.extend(hangups());
    steps
}

/// Data blocks that are shorter or longer than declared.
fn framing() -> Vec<Vec<u8>> {
    [
        "set f 0 0 3\r\nabcd\r\n",
        "get f\r\n",
        "set f 0 0 3\r\nabc\n\r\n",
        "set f 0 0 3\r\nabcx\n",
        "set f 0 0 3\r\nab\r\n\r\n",
        "set f 0 0 1\r\nx\nget f\r\n",
        "set f 0 0 3\r\nabcdefg\r\n",
        "set f 0 0 3 noreply\r\nabcdefg\r\n",
        "set f 0 0 0\r\nget f\r\n",
        "set f 0 0 0\r\nx\r\n",
        "add f 0 0 1\r\nxyz\r\n",
        "cas f 0 0 1 5\r\nxyz\r\n",
        "append f 0 0 1\r\nxyz\r\n",
        "set f 0 0 20\r\nshort\r\nx\r\nmore lines\r\n\r\n",
        "get f\r\n",
    ]
    .into_iter()
    .map(|step| step.as_bytes().to_vec())
    .collect()
}

/// Keys as long as they may be, and longer, in every command that takes one.
fn keys() -> Vec<Vec<u8>> {
    let mut steps = Vec::new();
    let high: Vec<u8> = (33..=255).filter(|&byte| byte != 127).collect();
    let keys = [
        vec![b'k'; LONGEST],
        vec![b'k'; LONGEST + 1],
        vec![0xff; LONGEST],
        high,
        b"\x01\x7f".to_vec(),
    ];
    for key in keys {
        for command in [
            &["set ", " 0 0 1\r\nx"][..],
            &["set ", " 0 0 1 noreply\r\nx"],
            &["set ", " x x x noreply"],
            &["add ", " 0 0 1\r\nx"],
            &["replace ", " 0 0 1\r\nx"],
            &["append ", " 0 0 1\r\nx"],
            &["prepend ", " 0 0 1\r\nx"],
            &["cas ", " 0 0 1 1\r\nx"],
            &["get ", ""],
            &["get a ", " b"],
            &["gets ", ""],
            &["gat 0 ", ""],
            &["gats 0 ", ""],
            &["incr ", " 1"],
            &["decr ", " x"],
            &["touch ", " 0"],
            &["touch ", " 0 noreply"],
            &["delete ", ""],
            &["delete ", " 1"],
            &["delete ", " noreply"],
        ] {
            steps.push([command[0].as_bytes(), &key, command[1].as_bytes(), b"\r\n"].concat());
        }
    }
    steps
}

/// Items around the largest size.
fn sizes() -> Vec<Vec<u8>> {
    let store = |command: &str, len: usize, suffix: &str| {
        let mut step = format!("{command} {len}{suffix}\r\n").into_bytes();
        step.resize(step.len() + len, b'v');
        step.extend_from_slice(b"\r\n");
        step
    };
    let get = || b"get s\r\n".to_vec();
    vec![
        store("set s 0 0", LARGEST, ""),
        store("set s 1 0", LARGEST - 4, ""),
        store("set s 0 0", 1, ""),
        store("add s 0 0", LARGEST + 1, ""),
        store("replace s 0 0", LARGEST + 1, ""),
        store("append s 0 0", LARGEST + 1, ""),
        store("cas s 0 0", LARGEST + 1, " 1"),
        get(),
        store("set s 0 0", LARGEST + 1, ""),
        get(),
        store("set s 0 0", 1, ""),
        store("set s 1 0", LARGEST - 3, ""),
        get(),
        store("set s 0 0", 1, ""),
        store("set s 0 0", LARGEST + 1, " noreply"),
        get(),
        store("set s 0 0", LARGEST - 10, ""),
        store("append s 0 0", 11, ""),
        store("append s 0 0", 10, ""),
        store("prepend s 0 0", 1, ""),
        b"touch s 0\r\n".to_vec(),
        b"incr s 1\r\n".to_vec(),
        b"delete s\r\n".to_vec(),
        // The swallowed block need not end with an end of line.
        [store("set s 0 0", 2 * LARGEST, ""), get()].concat(),
        {
            let mut step = store("set s 0 0", LARGEST + 1, "");
            let end = step.len() - 2;
            step[end..].copy_from_slice(b"zz");
            [step, get()].concat()
        },
    ]
}

/// Values that are numbers, or nearly.
fn counters() -> Vec<Vec<u8>> {
    let mut steps = Vec::new();
    for value in [
        "0",
        "5",
        "007",
        "12 apples",
        " 7",
        "\t7",
        "+7",
        "-7",
        "-0",
        "7 ",
        "7x",
        "7.5",
        "0x10",
        "5\0",
        "5\r\n",
        "",
        "x",
        "18446744073709551614",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999999",
        "00000000000000000000000000000001",
        "12345678901234567890 and more",
    ] {
        steps.push(format!("set v 0 0 {}\r\n{value}\r\n", value.len()).into_bytes());
        for line in [
            "incr v 1",
            "gets v",
            "decr v 2",
            "gets v",
            "incr v 100000",
            "gets v",
        ] {
            steps.push(format!("{line}\r\n").into_bytes());
        }
    }
    steps
}

/// Lines that have no end, or none that memcached waits for.
pub(super) fn endless() -> Vec<Vec<u8>> {
    vec![
        vec![b'x'; 4000],
        [b"set ".as_slice(), &[b'k'; 4000]].concat(),
        [b"gat 0 ".as_slice(), &b"k ".repeat(20_000)].concat(),
        [&[b' '; 101], b"get ".as_slice(), &b"k ".repeat(5_000)].concat(),
    ]
}

/// What ends the connection, and what nearly does.
fn hangups() -> Vec<Vec<u8>> {
    vec![
        b"quit\r\n".to_vec(),
        b"quit now\r\n".to_vec(),
        b"get k\r\nquit\r\n".to_vec(),
        b"GET / HTTP/1.1\r\n".to_vec(),
        b"POST /x HTTP/1.0\r\nget k\r\n".to_vec(),
        b"nonsense HTTP/1.1\r\n".to_vec(),
        [b"get ".as_slice(), &b"k ".repeat(20_000), b"\r\n"].concat(),
        [
            &[b' '; 100],
            b"gets ".as_slice(),
            &b"k ".repeat(5_000),
            b"\r\n",
        ]
        .concat(),
    ]
}
