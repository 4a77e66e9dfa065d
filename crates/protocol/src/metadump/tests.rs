use std::fmt::Write;

use proptest::prelude::*;

use super::*;

const WHOLE: &str = "key=foo exp=1796042576 la=1796042476 cas=12 fetch=yes cls=3 size=69 flags=5\n";

fn all(input: &[u8], step: usize) -> Result<Vec<Dumped>, ProtocolError> {
    let mut dump = Metadump::new();
    let (mut buffer, mut parts) = (BytesMut::new(), Vec::new());
    for piece in input.chunks(step.max(1)) {
        buffer.extend_from_slice(piece);
        while let Some(part) = dump.next(&mut buffer)? {
            parts.push(part);
        }
        assert!(buffer.len() <= MAX_LINE + piece.len());
    }
    Ok(parts)
}

fn only(line: &str) -> Result<Dumped, ProtocolError> {
    all(line.as_bytes(), line.len()).map(|mut parts| parts.remove(0))
}

fn item(line: &str) -> DumpedItem {
    match only(line) {
        Ok(Dumped::Item(item)) => item,
        other => panic!("{line:?}: {other:?}"),
    }
}

#[test]
fn an_item_is_told_as_far_as_the_server_tells() {
    let whole = item(WHOLE);
    assert_eq!(whole.key, "foo");
    assert_eq!(whole.expires_at, Some(1_796_042_576));
    assert_eq!(whole.last_access, Some(1_796_042_476));
    assert_eq!((whole.cas, whole.fetched), (Some(12), Some(true)));
    assert_eq!((whole.class, whole.size), (Some(3), Some(69)));

    let least = item("key=foo exp=-1\r\n");
    assert_eq!((least.expires_at, least.last_access), (None, None));
    assert_eq!((least.cas, least.size), (None, None));
}

#[test]
fn keys_are_decoded() {
    for (text, key) in [
        ("b%25c", &b"b%c"[..]),
        ("caf%C3%A9", "café".as_bytes()),
        ("caf%c3%a9", "café".as_bytes()),
        ("%00%0D%0A%20", b"\0\r\n "),
        ("a+b", b"a+b"),
    ] {
        assert_eq!(item(&format!("key={text} exp=-1\n")).key, key);
    }
    let longest = "%FF".repeat(250);
    assert_eq!(item(&format!("key={longest} exp=-1\n")).key.len(), 250);
}

#[test]
fn a_list_ends_once() {
    assert_eq!(only("END\r\n"), Ok(Dumped::End));
    assert_eq!(only("NOTSTARTED no items to crawl\r\n"), Ok(Dumped::End));
    let error = all(b"END\r\nEND\r\n", 20).unwrap_err();
    assert_eq!(error.kind(), ProtocolErrorKind::Unsolicited);
}

#[test]
fn a_refusal_is_the_end() {
    for line in [
        "BUSY currently processing crawler request",
        "CLIENT_ERROR lru crawler disabled",
        "CLIENT_ERROR unauthenticated",
        "ERROR",
    ] {
        let Ok(Dumped::Refused(refusal)) = only(&format!("{line}\r\n")) else {
            panic!("{line}");
        };
        assert!(refusal.to_string().ends_with(line), "{refusal}");
    }
}

#[test]
fn what_is_no_item_is_refused() {
    for line in [
        "",
        "foo",
        "key= exp=-1",
        "key=foo",
        "key=foo la=1",
        "key=foo exp=",
        "key=foo exp=-2",
        "key=foo exp=1x",
        "key=foo exp=99999999999999999999",
        "key=foo exp=-1 cls=4294967296",
        "key=foo exp=-1 fetch=maybe",
        "key=foo exp=-1 word",
        "key=% exp=-1",
        "key=%1 exp=-1",
        "key=%zz exp=-1",
        "key=%+1 exp=-1",
        "VALUE foo 0 3",
        "STORED",
    ] {
        let error = only(&format!("{line}\n")).unwrap_err();
        assert_eq!(error.kind(), ProtocolErrorKind::UnexpectedReply, "{line}");
    }
    let long = "k".repeat(251);
    assert!(only(&format!("key={long} exp=-1\n")).is_err());
    let endless = "k".repeat(MAX_LINE);
    let error = only(&endless).unwrap_err();
    assert_eq!(error.kind(), ProtocolErrorKind::LineTooLong);
}

fn encoded(key: &[u8]) -> String {
    key.iter().fold(String::new(), |mut text, byte| {
        write!(text, "%{byte:02X}").expect("a string takes it");
        text
    })
}

proptest! {
    #[test]
    fn a_list_reads_the_same_however_it_is_cut(
        keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..=250), 0..8),
        expires in any::<Option<u32>>(),
        step in 1_usize..3000,
    ) {
        let expiry = expires.map_or("-1".to_owned(), |at| at.to_string());
        let line = |key: &Vec<u8>| format!("key={} exp={expiry} cls=7\n", encoded(key));
        let text = keys.iter().map(line).collect::<String>() + "END\r\n";
        let mut parts = all(text.as_bytes(), step).unwrap();
        prop_assert_eq!(parts.pop(), Some(Dumped::End));
        let read = parts.iter().map(|part| match part {
            Dumped::Item(item) => (item.key.to_vec(), item.expires_at, item.class),
            other => panic!("{other:?}"),
        });
        let expected = keys.iter().map(|key| (key.clone(), expires.map(u64::from), Some(7)));
        prop_assert!(read.eq(expected));
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..3000),
        step in 1_usize..3000,
    ) {
        let whole = all(&bytes, bytes.len()).map_err(|error| error.kind());
        let cut = all(&bytes, step).map_err(|error| error.kind());
        prop_assert_eq!(whole, cut);
    }
}
