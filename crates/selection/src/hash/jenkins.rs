//! Bob Jenkins' lookup3 (`hashlittle`, May 2006, public domain), as libmemcached and twemproxy have
//! it: its first result, started from 13.

const START: u32 = 13;

/// The hash of some bytes.
pub(crate) fn jenkins(bytes: &[u8]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "C's length, modulo 2^32")]
    let length = bytes.len() as u32;
    let mut state = [0xdead_beef_u32.wrapping_add(length).wrapping_add(START); 3];
    let mut rest = bytes;
    while let Some((block, after)) = rest.split_first_chunk::<12>() {
        // The last block is finished in another way, even a whole one.
        if after.is_empty() {
            break;
        }
        add(&mut state, block);
        mix(&mut state);
        rest = after;
    }
    if !rest.is_empty() {
        let mut block = [0; 12];
        block[..rest.len()].copy_from_slice(rest);
        add(&mut state, &block);
        finish(&mut state);
    }
    state[2]
}

fn add(state: &mut [u32; 3], block: &[u8; 12]) {
    let (words, _) = block.as_chunks();
    for (state, word) in state.iter_mut().zip(words) {
        *state = state.wrapping_add(u32::from_le_bytes(*word));
    }
}

/// Stirs a block in, reversibly.
fn mix([a, b, c]: &mut [u32; 3]) {
    /// `x = (x - z) ^ rotate(z)`, `z += y`.
    fn step(x: &mut u32, y: u32, z: &mut u32, by: u32) {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(by);
        *z = z.wrapping_add(y);
    }
    step(a, *b, c, 4);
    step(b, *c, a, 6);
    step(c, *a, b, 8);
    step(a, *b, c, 16);
    step(b, *c, a, 19);
    step(c, *a, b, 4);
}

/// Stirs the last block in, for good.
fn finish([a, b, c]: &mut [u32; 3]) {
    /// `x = (x ^ y) - rotate(y)`.
    fn step(x: &mut u32, y: u32, by: u32) {
        *x = (*x ^ y).wrapping_sub(y.rotate_left(by));
    }
    step(c, *b, 14);
    step(a, *c, 11);
    step(b, *a, 25);
    step(c, *b, 16);
    step(a, *c, 4);
    step(b, *a, 14);
    step(c, *b, 24);
}
