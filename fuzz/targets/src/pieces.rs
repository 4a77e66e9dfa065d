//! The same bytes in the pieces in which a network may deliver them.

/// Ways to cut: not at all, at every byte, and into pieces of lengths that follow from a number.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    Whole,
    Bytes,
    Pieces(u64),
}

impl Cut {
    /// Not at all, and in another way that follows from the bytes: over many inputs that is every way.
    pub(crate) fn two(bytes: &[u8]) -> [Self; 2] {
        let seed = seed(bytes);
        let other = if seed >> 62 == 0 {
            Self::Bytes
        } else {
            Self::Pieces(seed)
        };
        [Self::Whole, other]
    }

    /// The bytes, cut.
    pub(crate) fn apply(self, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = bytes;
        let mut state = self;
        std::iter::from_fn(move || {
            let len = match &mut state {
                Self::Whole => rest.len(),
                Self::Bytes => 1,
                Self::Pieces(seed) => {
                    *seed = step(*seed);
                    // Mostly short ones: there is more to go wrong.
                    let bound = if *seed & 0xf00 == 0 { 512 } else { 24 };
                    usize::try_from(*seed >> 40).unwrap_or_default() % bound + 1
                }
            };
            let (piece, behind) = rest.split_at(len.min(rest.len()));
            rest = behind;
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// A number that follows from the bytes, and differs where they do.
pub(crate) fn seed(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|&byte| u64::from(byte));
    let all = words.chain(rest);
    all.fold(0x9e37_79b9_7f4a_7c15, |seed, word| {
        let seed = step(seed ^ word);
        seed ^ (seed >> 29)
    })
}

/// A step of a linear congruential generator (Knuth's MMIX).
const fn step(state: u64) -> u64 {
    state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_up_the_whole() {
        let bytes: Vec<u8> = (0..3000_u16).map(|n| n.to_le_bytes()[0]).collect();
        for cut in [Cut::Whole, Cut::Bytes, Cut::Pieces(7)] {
            assert_eq!(cut.apply(&bytes).collect::<Vec<_>>().concat(), bytes);
            assert_eq!(cut.apply(b"").count(), 0);
        }
        assert_eq!(Cut::Bytes.apply(&bytes).count(), bytes.len());
        assert!(Cut::Pieces(7).apply(&bytes).count() > 100);
    }

    #[test]
    fn every_way_is_taken() {
        let others: Vec<Cut> = (0..100_u8).map(|n| Cut::two(&[n, 1, 2])[1]).collect();
        assert!(others.iter().any(|cut| matches!(cut, Cut::Bytes)));
        assert!(others.iter().any(|cut| matches!(cut, Cut::Pieces(_))));
    }
}
