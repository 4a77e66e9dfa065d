//! zstd: one frame that declares the length of its content.
//!
//! Contexts are large and take time to make, so each thread keeps one to compress, a few MiB at the
//! usual levels, and one to decompress.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

use super::super::error::CodecError;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Does something with the thread's context, which is made on first use.
fn with<C, T>(
    context: &RefCell<Option<C>>,
    make: impl FnOnce() -> io::Result<C>,
    act: impl FnOnce(&mut C) -> io::Result<T>,
) -> io::Result<T> {
    let mut context = context.borrow_mut();
    let context = match &mut *context {
        Some(context) => context,
        none => none.insert(make()?),
    };
    act(context)
}

/// None if that fails, for want of memory.
pub(super) fn compress(data: &[u8], level: i32) -> Option<Vec<u8>> {
    COMPRESSOR
        .with(|context| {
            with(
                context,
                || Compressor::new(level),
                |compressor| {
                    compressor.set_compression_level(level)?;
                    compressor.compress(data)
                },
            )
        })
        .ok()
}

pub(super) fn decompress(data: &[u8], max_size: usize) -> Result<Vec<u8>, CodecError> {
    let size = match get_frame_content_size(data) {
        Ok(Some(size)) => size,
        Ok(None) => {
            return Err(CodecError::corrupt(
                "does not declare how long it is without zstd",
            ));
        }
        Err(_) => return Err(CodecError::corrupt("is no zstd frame")),
    };
    let size = match usize::try_from(size) {
        Ok(size) if size <= max_size => size,
        _ => return Err(CodecError::too_large(size, max_size)),
    };
    // Given all of its output at once, zstd sets no window aside.
    let decompressed = DECOMPRESSOR.with(|context| {
        with(context, Decompressor::new, |decompressor| {
            decompressor.decompress(data, size)
        })
    });
    decompressed.map_err(|error| CodecError::corrupt("is no whole zstd frame").with_source(error))
}
