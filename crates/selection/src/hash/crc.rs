//! Cyclic redundancy checks: what clients make of CRC-32, and twemproxy's CRC-16.

/// CRC-32 as in Ethernet and zlib.
#[inline]
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// 15 bits of it, from the upper half: libmemcached's and spymemcached's CRC, twemproxy's `crc32`.
pub(crate) fn crc32_15(bytes: &[u8]) -> u32 {
    (crc32(bytes) >> 16) & 0x7fff
}

/// 31 bits of it: mcrouter's.
pub(crate) fn crc32_31(bytes: &[u8]) -> u32 {
    crc32(bytes) & 0x7fff_ffff
}

/// twemproxy's `crc16`: the polynomial 0x1021, highest bit first, from 0. It is kept in 32 bits and
/// never cut to 16, so that what is shifted out of the lower half stays above it.
pub(crate) fn crc16(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |crc, byte| {
        let row = ((crc >> 8) ^ u32::from(*byte)) & 0xff;
        (crc << 8) ^ u32::from(CRC16[row as usize])
    })
}

/// What each byte adds.
const CRC16: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u16;
    while byte < 256 {
        let mut crc = byte << 8;
        let mut bit = 0;
        while bit < 8 {
            let carry = crc & 0x8000 != 0;
            crc = (crc << 1) ^ if carry { 0x1021 } else { 0 };
            bit += 1;
        }
        table[byte as usize] = crc;
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::{crc16, crc32};

    /// The check values of the catalogue of CRCs: `CRC-32/ISO-HDLC`, and `CRC-16/XMODEM` where 16 bits
    /// are kept.
    #[test]
    fn check_values() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc16(b"123456789") & 0xffff, 0x31c3);
    }
}
