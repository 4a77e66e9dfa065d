//! Keys to place: given as arguments, or read from a file or stdin as they come.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::answer::Failure;

/// The longest line taken for a key, far above the 250 bytes that memcached allows, so that a
/// file without line breaks does not fill the memory.
const MAX_LINE: usize = 64 * 1024;

/// How many keys stand for all where none are given: shares are right to about 0.2 percentage
/// points (half the width of a 95% confidence interval is at most 0.31).
const SAMPLE: u64 = 100_000;

/// Whether the next key is at hand, or has to be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    AtHand,
    Awaited,
}

/// Hands every key to `each`: those given, or those of the file (`-` is stdin).
pub(crate) fn for_each(
    given: Vec<OsString>,
    file: Option<&Path>,
    mut each: impl FnMut(&[u8], Next) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for key in given {
        each(&key.into_encoded_bytes(), Next::AtHand)?;
    }
    match file {
        None => Ok(()),
        Some(path) if path.as_os_str() == "-" => {
            for_each_line("stdin", &mut io::stdin().lock(), each)
        }
        Some(path) => {
            let name = path.display().to_string();
            let mut file = File::open(path)
                .map_err(|error| Failure::told(format!("cannot open {name}: {error}")))?;
            for_each_line(&name, &mut file, each)
        }
    }
}

/// Hands every key of the file to `each`, or a sample where there is no file. Fails if the file has
/// none.
pub(crate) fn for_each_or_sample(
    file: Option<&Path>,
    mut each: impl FnMut(&[u8]),
) -> Result<(), Failure> {
    if file.is_none() {
        (0..SAMPLE).for_each(|n| each(format!("key:{n}").as_bytes()));
        return Ok(());
    }
    let mut is_empty = true;
    for_each(Vec::new(), file, |key, _| {
        is_empty = false;
        each(key);
        Ok(())
    })?;
    if is_empty {
        return Err(Failure::told(
            "there are no keys to compare: --keys is empty",
        ));
    }
    Ok(())
}

/// Hands over one key a line. A line ends in LF or CRLF, neither of which a key can hold.
fn for_each_line(
    name: &str,
    input: &mut dyn Read,
    mut each: impl FnMut(&[u8], Next) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut reader = BufReader::with_capacity(MAX_LINE, input);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let mut bounded = reader.by_ref().take(MAX_LINE as u64 + 1);
        let read = bounded
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::told(format!("cannot read {name}: {error}")))?;
        if read == 0 {
            break;
        }
        if line.len() > MAX_LINE {
            return Err(Failure::told(format!(
                "line {number} of {name} is longer than {MAX_LINE} bytes; write one key a line"
            )));
        }
        let next = if reader.buffer().contains(&b'\n') {
            Next::AtHand
        } else {
            Next::Awaited
        };
        let key = line.strip_suffix(b"\n").unwrap_or(&line);
        each(key.strip_suffix(b"\r").unwrap_or(key), next)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(mut input: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let mut keys = Vec::new();
        for_each_line("test", &mut input, |key, _| {
            keys.push(key.to_vec());
            Ok(())
        })?;
        Ok(keys)
    }

    #[test]
    fn each_line_is_a_key_whatever_its_bytes() {
        assert_eq!(keys_of(b"").unwrap(), Vec::<Vec<u8>>::new());
        let keys: [&[u8]; 5] = [b"a", b"", b"\xff\0 \t", b"\rb", b"last"];
        assert_eq!(keys_of(b"a\r\n\n\xff\0 \t\n\rb\nlast").unwrap(), keys);
    }

    #[test]
    fn a_line_too_long_for_any_key_is_refused_with_its_number() {
        let longest = vec![b'x'; MAX_LINE - 1];
        let file = [b"a\n", &longest[..], b"\nb"].concat();
        assert_eq!(keys_of(&file).unwrap().len(), 3);
        let file = [b"a\n", &longest[..], b"xx\nb"].concat();
        let Err(Failure::Told(why)) = keys_of(&file) else {
            panic!("refused");
        };
        assert!(why[0].contains("line 2 of test"), "{why:?}");
    }

    #[test]
    fn it_is_known_when_the_next_key_has_to_be_waited_for() {
        /// Gives one piece at a time, as a pipe does.
        struct Pieces(std::vec::IntoIter<&'static [u8]>);

        impl Read for Pieces {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let piece = self.0.next().unwrap_or_default();
                out[..piece.len()].copy_from_slice(piece);
                Ok(piece.len())
            }
        }

        let pieces: Vec<&[u8]> = vec![b"a\nb\nhal", b"f\n", b"c"];
        let mut seen = Vec::new();
        for_each_line("test", &mut Pieces(pieces.into_iter()), |key, next| {
            seen.push((String::from_utf8_lossy(key).into_owned(), next));
            Ok(())
        })
        .unwrap();
        let expected = [
            ("a", Next::AtHand),
            ("b", Next::Awaited),
            ("half", Next::Awaited),
            ("c", Next::Awaited),
        ];
        assert_eq!(seen, expected.map(|(key, next)| (key.to_owned(), next)));
    }
}
