//! The meta commands: what is answered, flag by flag in the order of the request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::BytesMut;
use steersman_memcached_protocol::server::{MetaLine, MetaRequest, Rejection, Reply};

use crate::item::{Item, Seconds, deadline};
use crate::store::{Arithmetic, Store, Verdict};

/// The longest opaque word, with its letter.
const MAX_OPAQUE: usize = 32;

/// `mg`
pub(super) fn get(request: &MetaRequest, store: &mut Store, now: Seconds, out: &mut BytesMut) {
    let found = store.meta_get(request, now);
    let too_long = opaque_is_too_long(request);
    let Some(found) = found else {
        if too_long {
            reject(Rejection::OpaqueTooLong, out);
        } else if !request.is_quiet {
            echo(MetaLine::begin(out, "EN"), request).end();
        }
        return;
    };
    let before = out.len();
    let item = store.found(found);
    let mut line = if request.wants_value {
        MetaLine::begin(out, "VA").length(item.value.len())
    } else {
        MetaLine::begin(out, "HD")
    };
    let mut won = found.is_new;
    for (letter, word) in request.flags() {
        line = match letter {
            b'T' => {
                item.expires = request.exptime.and_then(|exptime| deadline(exptime, now));
                line
            }
            b'N' if found.is_new => {
                item.expires = request.vivify.and_then(|exptime| deadline(exptime, now));
                line
            }
            b'R' => {
                won |= !found.is_new && !item.has_leased && expires_before(item, request, now);
                line
            }
            b's' => line.number(letter, item.value.len()),
            b't' => line.number(letter, time_left(item, now)),
            b'c' => line.number(letter, item.cas),
            b'f' => line.number(letter, item.flags),
            b'l' => line.number(letter, now.saturating_sub(item.last_access)),
            b'h' => line.number(letter, u8::from(item.fetched)),
            // What stood before it has taken effect.
            b'O' if too_long => break,
            b'O' => line.word(word),
            b'k' => line.key(&item.key, item.is_binary),
            _ => line,
        };
    }
    if too_long {
        out.truncate(before);
        return reject(Rejection::OpaqueTooLong, out);
    }
    if item.has_leased {
        line = line.letter(b'Z');
    }
    if item.is_stale {
        line = line.letter(b'X');
        won |= !item.has_leased;
    }
    if won {
        line = line.letter(b'W');
        item.has_leased = true;
    }
    if request.wants_value {
        line.value(&item.value);
    } else {
        line.end();
    }
    if !request.no_bump {
        store.bump(found, now);
    }
}

/// `ms`
pub(super) fn set(
    request: &MetaRequest,
    value: &[u8],
    store: &mut Store,
    now: Seconds,
    out: &mut BytesMut,
) {
    if opaque_is_too_long(request) {
        return reject(Rejection::OpaqueTooLong, out);
    }
    let (verdict, cas) = store.meta_set(request, value, now);
    let word = match verdict {
        Verdict::Stored if request.is_quiet => return,
        Verdict::Stored => "HD",
        Verdict::NotStored => "NS",
        Verdict::Exists => "EX",
        Verdict::NotFound => "NF",
        Verdict::OutOfMemory => return reject(Rejection::OutOfMemory, out),
    };
    let mut line = MetaLine::begin(out, word);
    for (letter, word) in request.flags() {
        line = match letter {
            b'O' => line.word(word),
            b'k' => line.key(&request.key, request.is_binary),
            b'c' => line.number(letter, cas),
            _ => line,
        };
    }
    line.end();
}

/// `md`
pub(super) fn delete(request: &MetaRequest, store: &mut Store, now: Seconds, out: &mut BytesMut) {
    if opaque_is_too_long(request) {
        return reject(Rejection::OpaqueTooLong, out);
    }
    let word = match store.meta_delete(request, now) {
        Verdict::Stored if request.is_quiet => return,
        Verdict::Stored => "HD",
        Verdict::Exists => "EX",
        _ => "NF",
    };
    echo(MetaLine::begin(out, word), request).end();
}

/// `ma`
pub(super) fn arithmetic(
    request: &MetaRequest,
    store: &mut Store,
    now: Seconds,
    out: &mut BytesMut,
) {
    let outcome = store.meta_count(request, now);
    let (number, found) = match outcome {
        Arithmetic::Now(number, found) => (number.to_string(), found),
        Arithmetic::NonNumeric => return reject(Rejection::NonNumeric, out),
        Arithmetic::OutOfMemory => return reject(Rejection::OutOfMemory, out),
        // It has counted before it looks at the opaque word.
        _ if opaque_is_too_long(request) => return reject(Rejection::OpaqueTooLong, out),
        Arithmetic::NotFound => return echo(MetaLine::begin(out, "NF"), request).end(),
        Arithmetic::Exists => return echo(MetaLine::begin(out, "EX"), request).end(),
    };
    let before = out.len();
    let item = store.found(found);
    let expires_before = item.expires;
    let mut line = if request.wants_value {
        MetaLine::begin(out, "VA").length(number.len())
    } else {
        MetaLine::begin(out, "HD")
    };
    for (letter, word) in request.flags() {
        line = match letter {
            b'c' => line.number(letter, item.cas),
            b't' => line.number(letter, time_left(item, now)),
            b'T' => {
                item.expires = request.exptime.and_then(|exptime| deadline(exptime, now));
                line
            }
            b'N' if found.is_new => {
                item.expires = request.vivify.and_then(|exptime| deadline(exptime, now));
                line
            }
            b'O' => line.word(word),
            b'k' => line.key(&request.key, request.is_binary),
            _ => line,
        };
    }
    if found.is_replaced {
        item.expires = expires_before;
    }
    if request.wants_value {
        line.value(number.as_bytes());
    } else {
        line.end();
    }
    if opaque_is_too_long(request) {
        out.truncate(before);
        reject(Rejection::OpaqueTooLong, out);
    } else if request.is_quiet && !found.is_new {
        out.truncate(before);
    }
}

/// `me`
pub(super) fn debug(key: &[u8], store: &mut Store, now: Seconds, out: &mut BytesMut) {
    let Some((item, class)) = store.peek(key, now) else {
        return MetaLine::begin(out, "EN").end();
    };
    let key = if item.is_binary {
        STANDARD.encode(&item.key).into_bytes()
    } else {
        item.key.to_vec()
    };
    // memcached has the time left the wrong way round.
    let expiry = item.expires.map_or(-1, |at| now.saturating_sub(at));
    let (age, cas, size) = (now.saturating_sub(item.last_access), item.cas, item.size());
    let fetched = if item.fetched { "yes" } else { "no" };
    let class = class.id;
    let fields = format!("exp={expiry} la={age} cas={cas} fetch={fetched} cls={class} size={size}");
    MetaLine::begin(out, "ME")
        .word(&key)
        .word(fields.as_bytes())
        .end();
}

fn reject(reason: Rejection, out: &mut BytesMut) {
    Reply::Rejected(reason).encode(out);
}

/// Adds what comes back even if there is no item.
fn echo<'o>(mut line: MetaLine<'o>, request: &MetaRequest) -> MetaLine<'o> {
    for (letter, word) in request.flags() {
        line = match letter {
            b'O' => line.word(word),
            b'k' => line.key(&request.key, request.is_binary),
            _ => line,
        };
    }
    line
}

fn opaque_is_too_long(request: &MetaRequest) -> bool {
    request
        .flags()
        .any(|(letter, word)| letter == b'O' && word.len() > MAX_OPAQUE)
}

/// Whether the item ends before the time of `R`.
fn expires_before(item: &Item, request: &MetaRequest, now: Seconds) -> bool {
    let bound = request.recache.and_then(|exptime| deadline(exptime, now));
    match (item.expires, bound) {
        (Some(expires), Some(bound)) => expires < bound,
        _ => false,
    }
}

/// Seconds, -1 for never; a time in the past wraps around in 32 bits.
fn time_left(item: &Item, now: Seconds) -> i64 {
    let Some(expires) = item.expires else {
        return -1;
    };
    expires.saturating_sub(now).max(-2).rem_euclid(1 << 32)
}
