#[cfg(any(feature = "zstd", feature = "lz4"))]
use super::super::{Encode, Encoded, Raw};
use super::*;

#[cfg(any(feature = "zstd", feature = "lz4"))]
fn compressions() -> Vec<Compression> {
    vec![
        #[cfg(feature = "zstd")]
        Compression::zstd(),
        #[cfg(feature = "lz4")]
        Compression::lz4(),
    ]
}

#[cfg(any(feature = "zstd", feature = "lz4"))]
fn encoded(data: &[u8]) -> Encoded {
    Raw.encode(data).unwrap()
}

#[cfg(any(feature = "zstd", feature = "lz4"))]
#[test]
fn only_what_is_longer_than_the_threshold_is_compressed() {
    for compression in compressions() {
        let at = encoded(&[7; 1024]);
        assert_eq!(compression.apply(at.clone()), at);
        assert!(compression.apply(encoded(&[7; 1025])).data.len() < 100);
        assert!(compression.above(0).apply(at).data.len() < 100);
    }
}

#[cfg(any(feature = "zstd", feature = "lz4"))]
#[test]
fn what_would_not_become_shorter_stays_as_it_is() {
    let mut random = fastrand::Rng::with_seed(1);
    let noise = encoded(
        &std::iter::repeat_with(|| random.u8(..))
            .take(5000)
            .collect::<Vec<_>>(),
    );
    for compression in compressions() {
        assert_eq!(compression.apply(noise.clone()), noise);
    }
}

#[cfg(any(feature = "zstd", feature = "lz4"))]
#[test]
fn what_is_of_another_layout_or_compressed_already_stays_as_it_is() {
    for compression in compressions() {
        let once = compression.apply(encoded(&[7; 5000]));
        assert_eq!(compression.above(0).apply(once.clone()), once);
        let foreign = Encoded {
            flags: 16,
            ..encoded(&[7; 5000])
        };
        assert_eq!(compression.apply(foreign.clone()), foreign);
    }
}

fn refuses(algorithm: Algorithm, data: &[u8], max_size: usize) -> CodecErrorKind {
    decompress(algorithm, data, max_size).unwrap_err().kind()
}

#[cfg(feature = "zstd")]
#[test]
fn a_zstd_bomb_is_refused_by_what_it_declares_or_where_it_goes_beyond_that() {
    use std::io::Write;

    let honest = ::zstd::bulk::compress(&vec![0; 16 << 20], 3).unwrap();
    assert!(honest.len() < 20_000, "{} bytes", honest.len());
    assert_eq!(
        refuses(Algorithm::Zstd, &honest, 1 << 20),
        CodecErrorKind::TooLarge
    );

    // The same, declaring 300 bytes: the content size has 4 bytes behind the header.
    let mut liar = ::zstd::bulk::compress(&vec![0; 16 << 20], 3).unwrap();
    let declared = u32::try_from(16 << 20).unwrap().to_le_bytes();
    let at = liar.windows(4).position(|bytes| bytes == declared).unwrap();
    liar[at..at + 4].copy_from_slice(&300_u32.to_le_bytes());
    assert_eq!(
        refuses(Algorithm::Zstd, &liar, 1 << 20),
        CodecErrorKind::Corrupt
    );

    // Without a declared length.
    let mut stream = ::zstd::Encoder::new(Vec::new(), 3).unwrap();
    stream.write_all(b"one").unwrap();
    stream.flush().unwrap();
    stream.write_all(b"two").unwrap();
    let silent = stream.finish().unwrap();
    assert_eq!(
        refuses(Algorithm::Zstd, &silent, 1 << 20),
        CodecErrorKind::Corrupt
    );
    // A second frame behind the first.
    let two = [::zstd::bulk::compress(b"one", 3).unwrap(), honest].concat();
    assert_eq!(
        refuses(Algorithm::Zstd, &two, 1 << 20),
        CodecErrorKind::Corrupt
    );
}

#[cfg(feature = "lz4")]
#[test]
fn an_lz4_bomb_is_refused_by_what_it_declares_or_where_it_goes_beyond_that() {
    let honest = lz4::compress(&vec![0; 2 << 20]).unwrap();
    assert_eq!(
        refuses(Algorithm::Lz4, &honest, 1 << 16),
        CodecErrorKind::TooLarge
    );
    let mut liar = honest.clone();
    liar[..4].copy_from_slice(&300_u32.to_le_bytes());
    assert_eq!(
        refuses(Algorithm::Lz4, &liar, 1 << 16),
        CodecErrorKind::Corrupt
    );
    // More than its block can become.
    let hollow = [&u32::MAX.to_le_bytes()[..], b"\x10x"].concat();
    assert_eq!(
        refuses(Algorithm::Lz4, &hollow, usize::MAX),
        CodecErrorKind::Corrupt
    );
    // Less than it declares.
    let mut short = lz4::compress(&[7; 1000]).unwrap();
    short[..4].copy_from_slice(&1001_u32.to_le_bytes());
    assert_eq!(
        refuses(Algorithm::Lz4, &short, 1 << 20),
        CodecErrorKind::Corrupt
    );
    assert_eq!(
        refuses(Algorithm::Lz4, b"abc", 1 << 20),
        CodecErrorKind::Corrupt
    );
}

/// lz4.block.compress(b"abcdef" * 30) of Python's lz4 4.4.5.
#[cfg(feature = "lz4")]
#[test]
fn the_lz4_form_is_that_of_other_implementations() {
    let stored = b"\xb4\0\0\0\x6fabcdef\x06\0\x96Pbcdef";
    assert_eq!(lz4::decompress(stored, 1000).unwrap(), b"abcdef".repeat(30));
}

#[cfg(feature = "zlib")]
#[test]
fn a_zlib_or_gzip_bomb_is_given_up_when_it_passes_the_bound() {
    use std::io::Write;

    use flate2::Compression as Level;
    use flate2::write::{GzEncoder, ZlibEncoder};

    let zeros = vec![0; 2 << 20];
    let mut zlib = ZlibEncoder::new(Vec::new(), Level::fast());
    zlib.write_all(&zeros).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Level::fast());
    gzip.write_all(&zeros).unwrap();
    for bomb in [zlib.finish().unwrap(), gzip.finish().unwrap()] {
        assert_eq!(
            refuses(Algorithm::Deflate, &bomb, 1 << 16),
            CodecErrorKind::TooLarge
        );
        let whole = decompress(Algorithm::Deflate, &bomb, zeros.len());
        assert_eq!(whole.unwrap().len(), zeros.len());
        let cut = &bomb[..bomb.len() - 1];
        assert_eq!(
            refuses(Algorithm::Deflate, cut, zeros.len()),
            CodecErrorKind::Corrupt
        );
        let longer = [&bomb[..], b"!"].concat();
        assert_eq!(
            refuses(Algorithm::Deflate, &longer, zeros.len()),
            CodecErrorKind::Corrupt
        );
    }
}
