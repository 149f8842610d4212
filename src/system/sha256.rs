//! SHA-256 in hexadecimal, as `sha256sum` prints it.

use std::io::{self, Read};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// Digits of one.
pub(crate) const DIGITS: usize = 64;

/// Bytes that are read at a time.
const PORTION_BYTES: usize = 1 << 20;

pub(crate) fn of(bytes: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(bytes))
}

/// Of the next so many bytes, with something to do after each portion of them: a rest, mostly.
///
/// # Errors
///
/// They cannot be read, or there are fewer.
pub(crate) fn of_next(source: &mut impl Read, bytes: u64, mut between: impl FnMut()) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut portion = Vec::with_capacity(PORTION_BYTES);
    let mut left = bytes;
    while left > 0 {
        portion.clear();
        let read = source.by_ref().take(left.min(PORTION_BYTES as u64)).read_to_end(&mut portion)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        hasher.update(&portion);
        left -= read as u64;
        between();
    }
    Ok(HEXLOWER.encode(&hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // The first example of FIPS 180-2.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of(b"abc"), abc);
        assert_eq!(of_next(&mut &b"abcdef"[..], 3, || ()).unwrap(), abc);
    }

    #[test]
    fn large_files_are_read_in_portions_and_short_ones_noticed() {
        let bytes = vec![7; 2 * PORTION_BYTES + 5];
        let mut rests = 0;
        let digest = of_next(&mut bytes.as_slice(), bytes.len() as u64, || rests += 1).unwrap();
        assert_eq!((digest, rests), (of(&bytes), 3));
        let short = of_next(&mut bytes.as_slice(), bytes.len() as u64 + 1, || ()).unwrap_err();
        assert_eq!(short.kind(), io::ErrorKind::UnexpectedEof);
    }
}
