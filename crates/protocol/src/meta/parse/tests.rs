use proptest::prelude::*;

use super::*;

const ALL: [Kind; 8] = [
    Kind::Get,
    Kind::GetValue,
    Kind::Set,
    Kind::Delete,
    Kind::Arithmetic,
    Kind::ArithmeticValue,
    Kind::Inspect,
    Kind::Noop,
];

fn sent(letter: u8) -> Option<&'static [u8]> {
    match letter {
        b'k' => Some(b"key"),
        b'O' => Some(b"12"),
        _ => None,
    }
}

fn parse(kind: Kind, line: &str) -> Result<MetaLine, Mismatch> {
    MetaLine::parse(kind, line.as_bytes(), sent)
}

fn reply(kind: Kind, line: &str) -> Reply {
    parse(kind, line).unwrap().reply
}

/// As it is read where nothing was sent that has to come back.
fn parse_bare(kind: Kind, line: &str) -> Result<MetaLine, Mismatch> {
    MetaLine::parse(kind, line.as_bytes(), |_| None)
}

#[test]
fn each_word_answers_its_commands_only() {
    use Kind::{Arithmetic, ArithmeticValue, Delete, Get, GetValue, Inspect, Noop, Set};
    let accepting = |line: &str| -> Vec<Kind> {
        let accepts = |kind: &Kind| match kind {
            Get | GetValue => parse_bare(*kind, line).is_ok(),
            _ => parse(*kind, line).is_ok(),
        };
        ALL.into_iter().filter(accepts).collect()
    };
    let changes = [Set, Delete, Arithmetic, ArithmeticValue];
    assert_eq!(accepting("HD"), [&[Get, GetValue], &changes[..]].concat());
    assert_eq!(accepting("HD"), accepting("OK"));
    assert_eq!(accepting("VA 2"), [GetValue, ArithmeticValue]);
    assert_eq!(accepting("EN"), [Get, GetValue, Inspect]);
    assert_eq!(accepting("NF"), changes);
    assert_eq!(accepting("EX"), changes);
    assert_eq!(accepting("NS"), [Set, Arithmetic, ArithmeticValue]);
    assert_eq!(accepting("ME key la=0"), [Inspect]);
    assert_eq!(accepting("MN"), [Noop]);
    for nobody in [
        "",
        " ",
        "VA",
        "VA x",
        "VA -1",
        "hd",
        "HDD",
        "END",
        "STORED",
        "ME",
        "HD q",
        "HD W1",
        "HD c",
        "HD c1 c1",
        "HD h2",
        "HD t-2",
        "HD \u{fe}",
        "HD f4294967296",
    ] {
        assert_eq!(accepting(nobody), [], "{nobody}");
    }
}

#[test]
fn every_flag_is_read() {
    let line = "VA 3 s3 t60 f4294967295 c18446744073709551615 h1 l9 kkey O12 Z X W";
    let line = parse(Kind::GetValue, line).unwrap();
    assert_eq!(line.length, Some(3));
    assert_eq!(
        line.reply,
        Reply {
            cas: Some(u64::MAX),
            client_flags: Some(u32::MAX),
            ttl: Some(Ttl::Seconds(60)),
            size: Some(3),
            hit_before: Some(true),
            last_access: Some(9),
            key: Some(Bytes::from_static(b"key")),
            opaque: Some(12),
            won: true,
            stale: true,
            recaching: true,
            ..Reply::new(Status::Value)
        }
    );
}

#[test]
fn times_without_end_and_in_the_past() {
    let ttl = |line| parse_bare(Kind::Get, line).unwrap().reply.ttl;
    assert_eq!(ttl("HD t-1"), Some(Ttl::Never));
    assert_eq!(ttl("HD t4294967142"), Some(Ttl::Seconds(0)));
}

#[test]
fn another_key_or_number_is_another_commands_reply() {
    for line in ["HD kkez", "EN kother", "HD O13", "HD kkey O1", "HD kkey b"] {
        assert!(parse(Kind::Get, line).is_err(), "{line}");
    }
    assert_eq!(parse(Kind::Set, "HD kkez"), Err(Mismatch::Echo));
    assert_eq!(parse(Kind::Set, "NS O13"), Err(Mismatch::Echo));
    // "key" in base64, from an item that was stored under a binary key.
    assert_eq!(
        reply(Kind::Get, "HD ka2V5 b O12").key.as_deref(),
        Some(&b"key"[..])
    );
    // One that was not asked for is as wrong.
    let unasked = parse_bare(Kind::Get, "HD O12");
    assert_eq!(unasked, Err(Mismatch::Echo));
    // Left out, as older servers do in a miss, it proves nothing; an item has to bear it.
    assert!(parse(Kind::Get, "EN").is_ok());
    for line in ["HD", "HD kkey", "HD O12"] {
        assert_eq!(parse(Kind::Get, line), Err(Mismatch::Echo), "{line}");
        assert!(parse(Kind::Set, line).is_ok(), "{line}");
    }
    assert_eq!(parse(Kind::GetValue, "VA 1 kkey"), Err(Mismatch::Echo));
    assert!(parse_bare(Kind::GetValue, "VA 1").is_ok());
}

#[test]
fn items_are_read_as_far_as_they_are_known() {
    let line = "ME key exp=-1 la=2 cas=3 fetch=yes cls=1 size=62 new=x";
    let item = reply(Kind::Inspect, line).item.unwrap();
    assert_eq!(
        item,
        Item {
            ttl: Some(Ttl::Never),
            last_access: Some(2),
            cas: Some(3),
            fetched: Some(true),
            class: Some(1),
            size: Some(62),
        }
    );
    let ttl = |line| reply(Kind::Inspect, line).item.unwrap().ttl;
    assert_eq!(ttl("ME key exp=-10"), Some(Ttl::Seconds(10)));
    assert_eq!(ttl("ME a2V5 exp=10"), Some(Ttl::Seconds(10)));
    assert_eq!(parse(Kind::Inspect, "ME kez la=0"), Err(Mismatch::Echo));
    assert_eq!(parse(Kind::Inspect, "ME key la"), Err(Mismatch::Line));
}

proptest! {
    #[test]
    fn any_line_is_refused_or_read(words in prop::collection::vec("[A-Za-z][ -~]{0,6}", 0..8)) {
        let line = words.join(" ");
        for kind in ALL {
            let parsed = MetaLine::parse(kind, line.as_bytes(), sent);
            if let Ok(MetaLine { reply, .. }) = parsed {
                prop_assert!(reply.key.is_none_or(|key| key == "key"));
                prop_assert!(reply.opaque.is_none_or(|opaque| opaque == 12));
            }
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read(line: Vec<u8>) {
        for kind in ALL {
            let _ = MetaLine::parse(kind, &line, sent);
        }
    }
}
