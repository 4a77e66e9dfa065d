//! zlib and gzip, of values that other clients wrote. Neither declares its length where it could be
//! trusted, so the output is counted as it comes.

use std::io::Read;

use flate2::bufread::{GzDecoder, ZlibDecoder};

use super::super::error::CodecError;

/// What a gzip stream begins with, and no zlib stream does.
const GZIP: &[u8] = &[0x1f, 0x8b];

pub(super) fn decompress(data: &[u8], max_size: usize) -> Result<Vec<u8>, CodecError> {
    let (out, rest) = if data.starts_with(GZIP) {
        let mut decoder = GzDecoder::new(data);
        (read(&mut decoder, max_size)?, decoder.into_inner())
    } else {
        let mut decoder = ZlibDecoder::new(data);
        (read(&mut decoder, max_size)?, decoder.into_inner())
    };
    if !rest.is_empty() {
        return Err(CodecError::corrupt(format!(
            "has {} bytes behind the end of its compressed stream",
            rest.len()
        )));
    }
    Ok(out)
}

fn read(decoder: &mut impl Read, max_size: usize) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::new();
    let limit = u64::try_from(max_size).unwrap_or(u64::MAX);
    let mut bounded = decoder.take(limit.saturating_add(1));
    bounded
        .read_to_end(&mut out)
        .map_err(|error| CodecError::corrupt("is no zlib or gzip stream").with_source(error))?;
    if out.len() > max_size {
        let size = format!("more than {max_size}");
        return Err(CodecError::too_large(size, max_size));
    }
    Ok(out)
}
