//! The flags of a meta command, by memcached's rules: which are known, and what stands behind them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::MetaRequest;
use crate::server::tokens::{parse_i32, parse_u32, parse_u64, words};
use crate::server::{Rejection, Verb};

/// Reads the flags of a command. memcached takes every flag with every command, and reads all of
/// them before it complains: the last mistake is the one it names.
pub(in crate::server) fn parse(
    verb: Verb,
    key: Bytes,
    flags: Bytes,
) -> Result<MetaRequest, Rejection> {
    let mut request = MetaRequest {
        key,
        is_binary: false,
        wants_value: false,
        is_quiet: false,
        no_bump: false,
        invalidate: false,
        vivify: None,
        exptime: None,
        recache: None,
        cas: None,
        client_flags: 0,
        delta: 1,
        initial: 0,
        mode: None,
        words: Bytes::new(),
    };
    // These two commands have one word for whatever is wrong.
    let says_little = matches!(verb, Verb::MetaDelete | Verb::MetaArithmetic);
    let named = |reason| {
        if says_little {
            Rejection::InvalidOrDuplicateFlag
        } else {
            reason
        }
    };
    let mut mistake = None;
    let mut seen = 0_u128;
    let text = flags.clone();
    request.words = flags;
    for word in words(&text) {
        let bit = 1_u128.checked_shl(word[0].into()).unwrap_or_default();
        if word[0] >= 127 || seen & bit != 0 {
            return Err(named(Rejection::DuplicateFlag));
        }
        seen |= bit;
        match request.read_flag(word[0], &word[1..]) {
            Ok(()) => {}
            Err(Rejection::InvalidFlag) => return Err(named(Rejection::InvalidFlag)),
            // The flag `F` leaves the reason as it is.
            Err(Rejection::BadFormat) => mistake = mistake.or(Some(Rejection::BadFormat)),
            Err(reason) => mistake = Some(reason),
        }
    }
    if let Some(reason) = mistake {
        return Err(named(reason));
    }
    match (verb, request.mode) {
        (Verb::MetaSet, Some(mode)) if !b"EAPRS".contains(&mode) => Err(Rejection::InvalidSetMode),
        (Verb::MetaArithmetic, Some(mode)) if !b"I+D-".contains(&mode) => {
            Err(Rejection::InvalidArithmeticMode)
        }
        _ => Ok(request),
    }
}

/// The bytes of a key in base64.
pub(in crate::server) fn decode(key: &[u8]) -> Option<Bytes> {
    let decoded = STANDARD.decode(key).ok()?;
    (!decoded.is_empty()).then(|| decoded.into())
}

impl MetaRequest {
    fn read_flag(&mut self, letter: u8, argument: &[u8]) -> Result<(), Rejection> {
        let time = || parse_i32(argument).map(Some).ok_or(Rejection::BadToken);
        match letter {
            b'b' => {
                self.key = decode(&self.key).ok_or(Rejection::BadKeyEncoding)?;
                self.is_binary = true;
            }
            b'N' => self.vivify = time()?,
            b'T' => self.exptime = time()?,
            b'R' => self.recache = time()?,
            b'C' => self.cas = Some(parse_u64(argument).ok_or(Rejection::BadToken)?),
            b'F' => self.client_flags = parse_u32(argument).ok_or(Rejection::BadFormat)?,
            b'J' => self.initial = parse_u64(argument).ok_or(Rejection::InvalidInitial)?,
            b'D' => self.delta = parse_u64(argument).ok_or(Rejection::InvalidDeltaFlag)?,
            b'M' => match argument {
                [mode] => self.mode = Some(*mode),
                _ => return Err(Rejection::BadModeLength),
            },
            b'v' => self.wants_value = true,
            b'q' => self.is_quiet = true,
            b'u' => self.no_bump = true,
            b'I' => self.invalidate = true,
            // Known, and of meaning for the reply alone, or of none to memcached.
            b'O' | b'P' | b'L' | b'k' | b's' | b't' | b'c' | b'f' | b'l' | b'h' => {}
            _ => return Err(Rejection::InvalidFlag),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(verb: Verb, key: &'static str, flags: &'static str) -> Result<MetaRequest, Rejection> {
        parse(
            verb,
            Bytes::from_static(key.as_bytes()),
            Bytes::from_static(flags.as_bytes()),
        )
    }

    #[test]
    fn flags_arrive_where_they_belong() {
        let flags = "b v q u I N60 T-1 R30 C7 F3 D4 J5 MA k";
        let request = read(Verb::MetaSet, "Zm9v", flags).unwrap();
        assert_eq!(request.key, "foo");
        assert!(request.is_binary && request.wants_value && request.is_quiet);
        assert!(request.no_bump && request.invalidate);
        let times = (request.vivify, request.exptime, request.recache);
        assert_eq!(times, (Some(60), Some(-1), Some(30)));
        assert_eq!((request.cas, request.client_flags), (Some(7), 3));
        assert_eq!((request.delta, request.initial), (4, 5));
        assert_eq!(request.mode, Some(b'A'));
        let letters: Vec<u8> = request.flags().map(|(letter, _)| letter).collect();
        assert_eq!(letters, *b"bvquINTRCFDJMk");
    }

    #[test]
    fn mistakes_are_named_as_memcached_names_them() {
        use Rejection::{
            BadFormat, BadKeyEncoding, BadModeLength, BadToken, DuplicateFlag,
            InvalidArithmeticMode, InvalidDeltaFlag, InvalidFlag, InvalidInitial,
            InvalidOrDuplicateFlag, InvalidSetMode,
        };
        use Verb::{MetaArithmetic, MetaDelete, MetaGet, MetaSet};
        for (verb, flags, reason) in [
            (MetaGet, "v v", DuplicateFlag),
            (MetaGet, "\u{fe}", DuplicateFlag),
            (MetaGet, "z", InvalidFlag),
            (MetaGet, "Tx z", InvalidFlag),
            (MetaGet, "Tx", BadToken),
            (MetaGet, "Tx Jx", InvalidInitial),
            (MetaGet, "Jx Dx", InvalidDeltaFlag),
            (MetaGet, "Fx", BadFormat),
            (MetaGet, "Tx Fx", BadToken),
            (MetaGet, "b", BadKeyEncoding),
            (MetaGet, "M", BadModeLength),
            (MetaSet, "MI", InvalidSetMode),
            (MetaArithmetic, "MA", InvalidArithmeticMode),
            (MetaArithmetic, "Tx", InvalidOrDuplicateFlag),
            (MetaDelete, "v v", InvalidOrDuplicateFlag),
            (MetaDelete, "x", InvalidOrDuplicateFlag),
        ] {
            assert_eq!(read(verb, "k", flags), Err(reason), "{verb:?} {flags}");
        }
        // Modes that the command does not have are no mistake.
        assert!(read(MetaGet, "k", "MI").is_ok());
    }
}
