//! Networks as bytes.
//!
//! ```text
//! 8 bytes   what it is: `F4NTUPLE` for playing, `F4NLEARN` while learning, `F4NTRAIN` for a run of self-play
//! u16       version of that kind
//! u16       tuples, then for each a u64 with the bits of its cells
//! ...       what is particular to the kind
//! u64       FNV-1a of all bytes before
//! ```
//!
//! All numbers are little-endian. Weights come tuple by tuple, the first player's table before the second's, and runs
//! of zeros are counted instead of written: much of a table is never visited.

use fourfold_engine::Bitboard;

use super::shape::NetworkShape;

/// What the bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CodecFormat {
    pub(super) kind: [u8; 8],
    /// Changes with the form of the bytes, or if the order of weights in a table changes.
    pub(super) version: u16,
}

/// Why bytes are no network.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodecError {
    #[error("not an n-tuple network")]
    OtherKind,
    #[error("a network of version {found}; version {known} is known")]
    Version { found: u16, known: u16 },
    #[error("damaged: the checksum does not fit")]
    Checksum,
    #[error("it ends too early")]
    Truncated,
    #[error("it has {bytes} bytes too many")]
    TooLong { bytes: usize },
    #[error("its tuples make no sense")]
    Shape,
    #[error("its weights make no sense")]
    Weights,
    #[error("its {name} makes no sense")]
    Field { name: &'static str },
}

/// Collects bytes.
#[derive(Debug)]
pub(super) struct Sink(Vec<u8>);

impl Sink {
    pub(super) fn new(format: CodecFormat, shape: &NetworkShape) -> Self {
        let mut sink = Self(format.kind.to_vec());
        sink.bytes(&format.version.to_le_bytes());
        let tuples = u16::try_from(shape.tuples().len()).expect("a shape has few tuples");
        sink.bytes(&tuples.to_le_bytes());
        for tuple in shape.tuples() {
            sink.bytes(&tuple.bits().to_le_bytes());
        }
        sink
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Seven bits a byte, the lowest first; all but the last byte have the top bit set.
    pub(super) fn varint(&mut self, mut number: u64) {
        while let Some(rest) = Some(number >> 7).filter(|rest| *rest > 0) {
            let [low, ..] = number.to_le_bytes();
            self.0.push(low | 0x80);
            number = rest;
        }
        let [low, ..] = number.to_le_bytes();
        self.0.push(low);
    }

    /// Adds the checksum.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let checksum = fnv1a(&self.0);
        self.bytes(&checksum.to_le_bytes());
        self.0
    }
}

/// Bytes left to read.
#[derive(Clone, Debug)]
pub(super) struct ByteSource<'a>(&'a [u8]);

impl<'a> ByteSource<'a> {
    /// Checks kind, version and checksum, and reads the shape.
    pub(super) fn open(bytes: &'a [u8], format: CodecFormat) -> Result<(Self, NetworkShape), CodecError> {
        let mut source = Self(bytes);
        if source.array() != Ok(format.kind) {
            return Err(CodecError::OtherKind);
        }
        let version = u16::from_le_bytes(source.array()?);
        if version != format.version {
            return Err(CodecError::Version { found: version, known: format.version });
        }
        let (content, checksum) = bytes.split_last_chunk::<8>().ok_or(CodecError::Truncated)?;
        if fnv1a(content) != u64::from_le_bytes(*checksum) {
            return Err(CodecError::Checksum);
        }
        source.0 = source.0.strip_suffix(checksum).ok_or(CodecError::Truncated)?;
        let tuples = u16::from_le_bytes(source.array()?);
        let cells = |_| Ok(Bitboard::from_bits(u64::from_le_bytes(source.array()?)));
        let tuples = (0..tuples).map(cells).collect::<Result<Vec<Bitboard>, CodecError>>()?;
        let shape = NetworkShape::from_tuples(tuples).ok_or(CodecError::Shape)?;
        Ok((source, shape))
    }

    pub(super) fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], CodecError> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(CodecError::Truncated)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(super) fn varint(&mut self) -> Result<u64, CodecError> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(CodecError::Weights)
    }

    /// Nothing may be left.
    pub(super) fn finish(self) -> Result<(), CodecError> {
        match self.0.len() {
            0 => Ok(()),
            bytes => Err(CodecError::TooLong { bytes }),
        }
    }
}

/// Writes weights, with runs of zeros as their number: zigzag numbers above 0, or a 0 and the length of the run.
pub(super) fn write_rounded(sink: &mut Sink, weights: &[i16]) {
    for run in weights.chunk_by(|one, other| *one == 0 && *other == 0) {
        match run {
            [0, ..] => {
                sink.varint(0);
                sink.varint(run.len() as u64);
            }
            _ => run.iter().for_each(|weight| sink.varint(zigzag(*weight))),
        }
    }
}

pub(super) fn read_rounded(source: &mut ByteSource<'_>, count: usize) -> Result<Vec<i16>, CodecError> {
    let mut weights = Vec::with_capacity(count);
    while weights.len() < count {
        match source.varint()? {
            0 => skip_zeros(source, &mut weights, count)?,
            number => weights.push(unzigzag(number)?),
        }
    }
    Ok(weights)
}

/// The same for weights that learn: the number of zeros, the number of others, and those, again and again.
pub(super) fn write_exact(sink: &mut Sink, weights: impl IntoIterator<Item = f32>) {
    let weights: Vec<f32> = weights.into_iter().collect();
    for run in weights.chunk_by(|one, other| is_zero(*one) == is_zero(*other)) {
        let is_zeros = is_zero(run[0]);
        sink.varint(u64::from(!is_zeros));
        sink.varint(run.len() as u64);
        if !is_zeros {
            for weight in run {
                sink.bytes(&weight.to_le_bytes());
            }
        }
    }
}

pub(super) fn read_exact(source: &mut ByteSource<'_>, count: usize) -> Result<Vec<f32>, CodecError> {
    let mut weights = Vec::with_capacity(count);
    while weights.len() < count {
        match source.varint()? {
            0 => skip_zeros(source, &mut weights, count)?,
            1 => {
                let length = source.varint()?;
                for _ in 0..length {
                    let weight = f32::from_le_bytes(source.array()?);
                    if !weight.is_finite() || weights.len() == count {
                        return Err(CodecError::Weights);
                    }
                    weights.push(weight);
                }
            }
            _ => return Err(CodecError::Weights),
        }
    }
    Ok(weights)
}

fn is_zero(weight: f32) -> bool {
    weight.to_bits() == 0
}

fn skip_zeros<T: Clone + Default>(
    source: &mut ByteSource<'_>,
    weights: &mut Vec<T>,
    count: usize,
) -> Result<(), CodecError> {
    let zeros = usize::try_from(source.varint()?).map_err(|_| CodecError::Weights)?;
    if zeros == 0 || zeros > count - weights.len() {
        return Err(CodecError::Weights);
    }
    weights.resize(weights.len() + zeros, T::default());
    Ok(())
}

/// 0, -1, 1, -2, 2 .. as 0, 1, 2, 3, 4 ..
fn zigzag(weight: i16) -> u64 {
    let wide = i64::from(weight);
    ((wide << 1) ^ (wide >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> Result<i16, CodecError> {
    let wide = (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
    i16::try_from(wide).map_err(|_| CodecError::Weights)
}

/// The FNV-1a hash of 64 bits: against damage, not against malice.
fn fnv1a(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01B3;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> NetworkShape {
        NetworkShape::draw(3, 4, 1)
    }

    const FORMAT: CodecFormat = CodecFormat { kind: *b"F4TESTED", version: 1 };

    #[test]
    fn weights_survive() {
        let weights = [0, 0, 5, 0, -3, i16::MIN, i16::MAX, 0, 0, 0];
        let exact = [0.0, 1.5, -0.25, 0.0, 0.0, f32::MIN_POSITIVE, -0.0];
        let mut sink = Sink::new(FORMAT, &shape());
        write_rounded(&mut sink, &weights);
        write_exact(&mut sink, exact);
        let bytes = sink.finish();
        let (mut source, read) = ByteSource::open(&bytes, FORMAT).unwrap();
        assert_eq!(read, shape());
        assert_eq!(read_rounded(&mut source, weights.len()).unwrap(), weights);
        let bits = |weights: &[f32]| weights.iter().map(|weight| weight.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read_exact(&mut source, exact.len()).unwrap()), bits(&exact), "to the bit");
        assert_eq!(source.finish(), Ok(()));
    }

    /// Bytes with this in place of the weights, checksum included.
    fn body(bytes: &[u8]) -> Vec<u8> {
        let mut sink = Sink::new(FORMAT, &shape());
        sink.bytes(bytes);
        sink.finish()
    }

    #[track_caller]
    fn check_rounded(bytes: &[u8], expected: Result<&[i16], &CodecError>) {
        let bytes = body(bytes);
        let (mut source, _) = ByteSource::open(&bytes, FORMAT).unwrap();
        assert_eq!(read_rounded(&mut source, 4).as_deref(), expected);
    }

    #[test]
    fn runs_that_do_not_fit_are_refused() {
        check_rounded(&[2, 0, 2, 1], Ok(&[1, 0, 0, -1]));
        check_rounded(&[0, 5], Err(&CodecError::Weights));
        check_rounded(&[0, 0], Err(&CodecError::Weights));
        check_rounded(&[2, 2], Err(&CodecError::Truncated));
        check_rounded(&[0xFF; 12], Err(&CodecError::Weights));
        check_rounded(&[0x80, 0x80, 0x08, 2, 2, 2], Err(&CodecError::Weights));
    }

    #[test]
    fn exact_weights_that_make_no_sense_are_refused() {
        let nan = [&[1, 1], f32::NAN.to_le_bytes().as_slice()].concat();
        for bytes in [&[2, 1][..], &[1, 200, 1], &[0, 9], &nan] {
            let bytes = body(bytes);
            let (mut source, _) = ByteSource::open(&bytes, FORMAT).unwrap();
            assert!(read_exact(&mut source, 4).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = body(&[1, 2, 3]);
        let open = |bytes: &[u8]| ByteSource::open(bytes, FORMAT).map(|_| ()).unwrap_err();
        for at in 10..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(open(&damaged), CodecError::Checksum, "byte {at}");
        }
        assert_eq!(open(&bytes[..bytes.len() - 1]), CodecError::Checksum);
        assert_eq!(open(b""), CodecError::OtherKind);
        assert_eq!(open(b"F4TESTED"), CodecError::Truncated);
        assert_eq!(open(b"<ConnectFourPattern>"), CodecError::OtherKind);
        assert_eq!(open(b"F4TESTED\x02\x00"), CodecError::Version { found: 2, known: 1 });
    }
}
