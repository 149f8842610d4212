//! Lines with a checksum that covers all lines before them.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{LogError, io_error};

/// What the checksum of the next line goes on from.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Chain(u32);

/// Before the eight hexadecimal digits of the checksum.
const MARK: &[u8] = b",\"crc\":\"";
/// After them.
const CLOSE: &[u8] = b"\"}";
/// All that is added to an object less its closing brace.
const SUFFIX: usize = MARK.len() + 8 + CLOSE.len();

impl Chain {
    /// Appends a JSON object as a line, its checksum as the last field.
    pub(crate) fn write(&mut self, json: &[u8], out: &mut Vec<u8>) {
        let body = json.strip_suffix(b"}").unwrap_or(json);
        self.advance(body);
        out.extend_from_slice(body);
        out.extend_from_slice(MARK);
        out.extend_from_slice(&hex(self.0));
        out.extend_from_slice(CLOSE);
        out.push(b'\n');
    }

    /// Whether a line ends with a checksum, whichever.
    pub(crate) fn is_on(line: &[u8]) -> bool {
        line.len().checked_sub(SUFFIX).is_some_and(|at| line[at..].starts_with(MARK))
    }

    /// Whether a line without its line feed has the checksum that is due here; goes on behind it if so.
    pub(crate) fn accepts(&mut self, line: &[u8]) -> bool {
        let Some((body, suffix)) = line.len().checked_sub(SUFFIX).map(|at| line.split_at(at)) else {
            return false;
        };
        let mut next = *self;
        next.advance(body);
        let due = [MARK, &hex(next.0), CLOSE].concat();
        if suffix == due {
            *self = next;
        }
        suffix == due
    }

    fn advance(&mut self, body: &[u8]) {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&self.0.to_le_bytes());
        hasher.update(body);
        self.0 = hasher.finalize();
    }
}

fn hex(number: u32) -> [u8; 8] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|place| DIGITS[(number >> (28 - 4 * place)) as usize & 15])
}

/// Where the good part of a file ends.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Tail {
    pub(super) good_bytes: u64,
    pub(super) torn_bytes: u64,
    pub(super) chain: Chain,
}

/// Reads all lines. A last line that has no line feed or a wrong checksum is torn; any other is an error.
pub(super) fn read(
    path: &Path,
    file: &File,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), LogError>,
) -> Result<Tail, LogError> {
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let mut tail = Tail::default();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = reader.read_until(b'\n', &mut line).map_err(io_error(path))? as u64;
        if read == 0 {
            break;
        }
        let whole = line.strip_suffix(b"\n").filter(|whole| tail.chain.accepts(whole));
        let Some(whole) = whole else {
            let is_last = reader.fill_buf().map_err(io_error(path))?.is_empty();
            if is_last {
                tail.torn_bytes = read;
                break;
            }
            let reason = "its checksum is wrong: it was changed, or a line before it is missing".to_owned();
            return Err(LogError::Corrupt { path: path.display().to_string(), line: number, reason });
        };
        each(number, whole)?;
        tail.good_bytes += read;
    }
    Ok(tail)
}
