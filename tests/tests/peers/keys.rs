//! A thousand keys, odd ones among them.

use std::collections::HashSet;

const COUNT: usize = 1000;

/// Keys that are text in UTF-8, up to 250 bytes.
pub(crate) fn text() -> Vec<Vec<u8>> {
    let odd = [
        "a",
        "~",
        "'",
        "\"",
        "'\"",
        "\\",
        "{tag}:1",
        "%00",
        "100%",
        "é",
        "ÿ",
        "Ā",
        "日本語",
        "ключ",
        "a\u{301}",
        "😀",
        "k🚀y:𐍈",
        "nb\u{a0}sp",
        "\u{feff}bom",
    ];
    let odd = odd.map(str::to_owned).into_iter();
    let long = [249, 250].map(|len| "k".repeat(len)).into_iter();
    let wide = [125, 60].map(|count| "ß".repeat(count)).into_iter();
    let letters: Vec<char> = "abcXYZ0189:_-./é語😀".chars().collect();
    let mut dice = fastrand::Rng::with_seed(7);
    let mixed = (0..200).map(|number| {
        let len = 1 + number % 40;
        let text: String = (0..len).filter_map(|_| dice.choice(&letters)).collect();
        format!("{text}{number}")
    });
    let plain = (0..).map(|number| format!("user:{}:profile", number * 7919));
    let all = odd.chain(long).chain(wide).chain(mixed).chain(plain);
    distinct(all.map(String::into_bytes))
}

/// Keys for clients that take bytes: text, and what no text is.
pub(crate) fn bytes() -> Vec<Vec<u8>> {
    let allowed: Vec<u8> = (0x21..=0x7e).chain(0x80..=0xff).collect();
    let mut dice = fastrand::Rng::with_seed(8);
    let random = (0..300).map(|number| {
        let len = 1 + number % 60;
        (0..len)
            .filter_map(|_| dice.choice(&allowed))
            .copied()
            .collect()
    });
    let odd = [
        &b"\x80"[..],
        b"\xff\xff\xff\xff",
        b"it's\xff",
        b"\"\xfe",
        b"'\"\xfd",
        b"\xed\xa0\x80",
    ];
    let odd = odd.map(<[u8]>::to_vec).into_iter();
    distinct(odd.chain(random).chain(text()))
}

fn distinct(keys: impl Iterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let mut seen = HashSet::new();
    let keys = keys.filter(|key| seen.insert(key.clone())).take(COUNT);
    let keys: Vec<_> = keys.collect();
    assert_eq!(keys.len(), COUNT);
    keys
}
