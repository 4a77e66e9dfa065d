//! Scripted sessions: what a client may send, right and wrong.

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

const READING: &[&str] = &[
    "get k",
    "get",
    "get ",
    "gets",
    "gat",
    "gats",
    "set k 5 0 5\r\nhello",
    "get k",
    "gets k",
    "get k k",
    "get none k none",
    "gets k none k",
    " get k",
    "get   k  k ",
    "get k noreply",
    "gat 0 k",
    "gat 0",
    "gats 0",
    "gat 100 k none k",
    "gats 100 k",
    "gat x k",
    "gat k",
    "gat -x k",
    "gat 1x k",
    "gat 99999999999999999999 k",
    "gats x",
    "get 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 k k",
    "gat 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 k k",
    "GET k",
    "Get k",
    "gett k",
    "get\tk",
    "get k\tk",
    "get / HTTP/1.1",
    "get k\0 k k",
    "get k\r",
    "touch k 0",
    "touch k 0 noreply",
    "touch none 0",
    "touch k",
    "touch",
    "touch k x",
    "touch k noreply",
    "touch k 0 0",
    "touch k 0 0 0",
];

const STORING: &[&str] = &[
    "set k 0 0 0\r\n",
    "get k",
    "set k 4294967295 0 1\r\nx",
    "get k",
    "set k 4294967296 0 1\r\nx",
    "get k",
    "set k 18446744073709551615 0 1\r\nx",
    "get k",
    "set k 18446744073709551616 0 1\r\nx",
    "set k -1 0 1\r\nx",
    "set k -0 0 1\r\nx",
    "set k +7 0 1\r\nx",
    "get k",
    "set k \t7 0 1\r\nx",
    "set k 7\t 0 1\r\nx",
    "set k 7\tx 0 1\r\nx",
    "set k 7x 0 1\r\nx",
    "set k 0x7 0 1\r\nx",
    "set k x 0 1\r\nx",
    "set k 0 x 1\r\nx",
    "set k 0 0 x\r\nx",
    "set k 0 0 -1\r\nx",
    "set k 0 0 -2147483649\r\nx",
    "set k 0 0 2147483646\r\nx",
    "set k 0 0 2147483647\r\nx",
    "set k 0 0 2147483648\r\nx",
    "set k 0 0 4294967297\r\nx",
    "set k 0 0 -4294967295\r\nx",
    "set k 0 0 9223372036854775808\r\nx",
    "get k",
    "set k 0 0 1\tx\r\nx",
    "set k 0 0 +1\r\nx",
    "set k 0 0 01\r\nx",
    "set",
    "set k",
    "set k 0",
    "set k 0 0",
    "set k 0 0 1 2 3\r\nx",
    "set k 0 0 1 2\r\nx",
    "set k 0 0 1 noreply\r\ny",
    "get k",
    "set k 0 0 1 NOREPLY\r\nz",
    "set k 0 0 1 noreply noreply\r\nx",
    "set noreply 0 0 1\r\nx",
    "set k 0 0 noreply\r\nx",
    "set k 0 x 1 noreply\r\nx",
    "set  k  0  0  1 \r\nx",
    "set k 0 0 5\r\na\r\nb\r",
    "get k",
    "set k 0 0 4\r\n\r\n\r\n",
    "get k",
    "set k 0 0 5\r\nEND\r\n",
    "get k",
    "set k 0 0 8\r\nVALUE k ",
    "get k",
    "set k 0 0 3\r\n\0\u{1}\u{7f}",
    "get k",
    "set SET 0 0 1\r\nx",
    "Set k 0 0 1",
    "sett k 0 0 1",
];

const CONDITIONS: &[&str] = &[
    "add new 3 0 1\r\na",
    "add new 4 0 1\r\nb",
    "get new",
    "add new 4 0 1 noreply\r\nb",
    "get new",
    "replace new 5 0 1\r\nc",
    "get new",
    "replace none 5 0 1\r\nc",
    "replace none 5 0 1 noreply\r\nc",
    "append new 9 0 2\r\nde",
    "prepend new 9 0 2\r\nab",
    "gets new",
    "append new 9 -1 0\r\n",
    "gets new",
    "append none 0 0 1\r\nx",
    "prepend none 0 0 1\r\nx",
    "append new 0 0 1 noreply\r\nf",
    "prepend new 0 0 1 noreply\r\n_",
    "gets new",
    "append new 0 0",
    "prepend new 0 0 x\r\nx",
    "cas none 0 0 1 1\r\nx",
    "cas new 0 0 1 0\r\nx",
    "cas new 0 0 1 18446744073709551615\r\nx",
    "cas new 0 0 1 18446744073709551616\r\nx",
    "cas new 0 0 1 x\r\nx",
    "cas new 0 0 1 -1\r\nx",
    "cas new 0 0 1\r\nx",
    "cas new 0 0 1 1 noreply\r\nx",
    "cas new 0 0 1 1 2 3\r\nx",
    "cas new 0 0 1 noreply\r\nx",
    "cas new 0 0 x 1\r\nx",
    "set c 0 0 1\r\n1",
    "gets c",
    "touch c 0",
    "gets c",
    "incr c 1",
    "gets c",
    "decr c 1",
    "gets c",
    "add c 0 0 1\r\n2",
    "gets c",
    "set c 0 0 1\r\n2",
    "gets c",
    "delete c",
    "set c 0 0 1\r\n2",
    "gets c",
    "flush_all",
    "set c 0 0 1\r\n2",
    "gets c",
    "set c 0 0 1\r\n22",
    "gets c",
    "append c 0 0 1\r\n2",
    "gets c",
];

const COUNTING: &[&str] = &[
    "incr none 1",
    "decr none 1",
    "incr none 1 noreply",
    "set n 7 0 2\r\n99",
    "incr n 1",
    "get n",
    "decr n 1",
    "get n",
    "decr n 90",
    "get n",
    "incr n 1",
    "get n",
    "decr n 1000",
    "get n",
    "incr n 0",
    "incr n 18446744073709551615",
    "get n",
    "incr n 1",
    "get n",
    "incr n 5 noreply",
    "decr n 2 noreply",
    "get n",
    "incr n 18446744073709551616",
    "incr n -1",
    "incr n -0",
    "incr n +1",
    "incr n \t1",
    "incr n 1\tx",
    "incr n x",
    "incr n 1x",
    "incr n",
    "incr",
    "incr n 1 1",
    "incr n 1 1 1",
    "incr n noreply",
    "decr n x",
    "decr n x noreply",
    "decr",
    "incr x",
    "get n",
];

const EXPIRING: &[&str] = &[
    "set e 0 -1 1\r\nx",
    "get e",
    "add e 0 -1 1\r\nx",
    "add e 0 100 1\r\nx",
    "get e",
    "set e 0 2592000 1\r\nx",
    "get e",
    "set e 0 2592001 1\r\nx",
    "get e",
    "set e 0 2147483647 1\r\nx",
    "get e",
    "set e 0 2147483648 1\r\nx",
    "get e",
    "set e 0 4294967295 1\r\nx",
    "get e",
    "set e 0 4294967296 1\r\nx",
    "get e",
    "touch e -1",
    "get e",
    "touch e 0",
    "set e 0 0 1\r\n1",
    "gat -1 e",
    "get e",
    "set e 0 0 1\r\n1",
    "touch e 2592001",
    "incr e 1",
    "replace e 0 0 1\r\n1",
    "append e 0 0 1\r\n1",
    "cas e 0 0 1 1\r\n1",
    "delete e",
    "set e 0 0 1\r\n1",
    "append e 0 -1 1\r\n1",
    "incr e 1",
    "get e",
    "set e 0 0 1\r\n1",
    "flush_all 100",
    "get e",
    "flush_all 1",
    "get e",
    "flush_all",
    "set e 0 0 1\r\n1",
    "get e",
];

const REMOVING: &[&str] = &[
    "delete",
    "delete none",
    "set d 0 0 1\r\nx",
    "delete d",
    "get d",
    "set d 0 0 1\r\nx",
    "delete d 0",
    "set d 0 0 1\r\nx",
    "delete d 1",
    "delete d x",
    "delete d noreply",
    "get d",
    "set d 0 0 1\r\nx",
    "delete d 0 noreply",
    "get d",
    "delete d 0 0",
    "delete d 1 noreply",
    "delete d noreply 0",
    "delete d noreply noreply",
    "delete d 0 0 0",
    "delete d 00",
    "delete noreply",
    "set d 0 0 1\r\nx",
    "set d2 0 0 1\r\nx",
    "flush_all",
    "get d d2",
    "set d 0 0 1\r\nx",
    "flush_all 0",
    "get d",
    "set d 0 0 1\r\nx",
    "flush_all -1",
    "get d",
    "set d 0 0 1\r\nx",
    "flush_all noreply",
    "get d",
    "set d 0 0 1\r\nx",
    "flush_all 0 noreply",
    "get d",
    "set d 0 0 1\r\nx",
    "flush_all x",
    "flush_all x noreply",
    "flush_all noreply noreply",
    "flush_all 0 0",
    "get d",
    "flush_all 0 0 0",
    "flush_all 0 0 noreply",
    "flush_all 99999999999999999999",
];

const ADMINISTRATION: &[&str] = &[
    "version",
    "version x y z",
    "versionx",
    "mn",
    "mn x",
    "verbosity",
    "verbosity 0",
    "verbosity 0 0",
    "verbosity 0 0 0",
    "verbosity 0 noreply",
    "verbosity noreply",
    "verbosity x",
    "verbosity -1",
    "verbosity 4294967296",
    "cache_memlimit",
    "cache_memlimit 64",
    "cache_memlimit 64 noreply",
    "cache_memlimit 64 x",
    "cache_memlimit 64 x y",
    "cache_memlimit x",
    "cache_memlimit noreply",
    "cache_memlimit 7",
    "cache_memlimit 7 noreply",
    "cache_memlimit 0",
    "cache_memlimit -1",
    "cache_memlimit 1000000001",
    "cache_memlimit 4294967360",
    "shutdown",
    "shutdown graceful",
    "stats x",
    "stats noreply",
    "stats malloc",
    "stats maps",
    "stats cas",
    "stats topkeys",
    "stats proxy",
    "stats detail",
    "stats detail x",
    "stats detail on",
    "stats detail off",
    "stats detail dump",
    "stats sizes",
    "stats extstore",
    "stats cachedump",
    "stats cachedump 1",
    "stats cachedump x 1",
    "stats cachedump 1 x",
    "stats cachedump 64 0",
    "stats cachedump 63 0",
    "stats cachedump 0 0 0",
    "stats cachedump -1 0",
    "stats reset",
    "stats reset x",
];

const SYNTAX: &[&str] = &[
    "",
    " ",
    "   ",
    "\r",
    "\0",
    "\0get k",
    "x",
    "m",
    "mx k",
    "mnx",
    "nonsense",
    "nonsense with words",
    "se k 0 0 1",
    "\u{1}\u{2}",
    "ünïcödé",
    "stuff HTTP/1.1",
    "delete / HTTP/1.1",
    "a HTTP/1.1",
    "get k\nget k",
    "set k 0 0 1\nx",
    "get k\n",
];

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
