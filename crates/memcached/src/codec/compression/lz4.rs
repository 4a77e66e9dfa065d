//! lz4: a block with its length in front, as `lz4.block` of Python and others write it.

use lz4_flex::block;

use super::super::error::CodecError;

/// No byte of a block makes more than this many: a byte that lengthens a match.
const MOST_OF_A_BYTE: usize = 255;

/// None if it is too long for the length in front.
pub(super) fn compress(data: &[u8]) -> Option<Vec<u8>> {
    u32::try_from(data.len()).ok()?;
    Some(block::compress_prepend_size(data))
}

pub(super) fn decompress(data: &[u8], max_size: usize) -> Result<Vec<u8>, CodecError> {
    let corrupt = |error| CodecError::corrupt("is no lz4 block").with_source(error);
    let (size, block) = block::uncompressed_size(data).map_err(corrupt)?;
    if size > max_size {
        return Err(CodecError::too_large(size, max_size));
    }
    if size > block.len().saturating_mul(MOST_OF_A_BYTE) {
        return Err(CodecError::corrupt(
            "declares more bytes than its lz4 block can become",
        ));
    }
    let mut out = vec![0; size];
    let written = block::decompress_into(block, &mut out).map_err(corrupt)?;
    if written != size {
        return Err(CodecError::corrupt(format!(
            "declares {size} bytes, and its lz4 block becomes {written}"
        )));
    }
    Ok(out)
}
