//! Lines of JSON, as records are exported: one value a line, read without trust.

use std::io::{self, BufRead, Read};

use serde::de::DeserializeOwned;
use thiserror::Error;

/// Longest line. A record of the largest board has under 4 KiB; a file that is none may be one line of a gigabyte.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Why a line cannot be read.
#[derive(Debug, Error)]
pub(crate) enum LineError {
    /// It breaks a rule.
    #[error("line {line}: {rule}")]
    Broken {
        line: u64,
        /// Which rule, and how.
        rule: String,
    },
    /// The file fails.
    #[error("cannot read it")]
    Unreadable(#[from] io::Error),
}

/// Reads values from lines. Empty lines, and those with an `event` instead of a game, are passed over.
pub(super) struct JsonLines<R> {
    file: R,
    line: u64,
}

#[derive(serde::Deserialize)]
struct LineProbe {
    event: Option<serde::de::IgnoredAny>,
}

impl<R: BufRead> JsonLines<R> {
    pub(super) fn new(file: R) -> Self {
        Self { file, line: 0 }
    }

    /// The next value, `None` at the end.
    pub(super) fn next_value<T: DeserializeOwned>(&mut self) -> Result<Option<T>, LineError> {
        loop {
            let mut bytes = Vec::new();
            (&mut self.file).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.line += 1;
            if bytes.len() as u64 > LINE_BYTES_MAX {
                return Err(self.broken(format!("longer than {LINE_BYTES_MAX} bytes")));
            }
            let text = bytes.trim_ascii();
            if text.is_empty()
                || serde_json::from_slice::<LineProbe>(text).is_ok_and(|probe| probe.event.is_some())
            {
                continue;
            }
            let value = serde_json::from_slice(text)
                .map_err(|error| self.broken(format!("not a record: {error}")))?;
            return Ok(Some(value));
        }
    }

    pub(super) fn is_at_end(&mut self) -> Result<bool, LineError> {
        Ok(self.file.fill_buf()?.is_empty())
    }

    /// Says that the line read last breaks a rule.
    pub(super) fn broken(&self, rule: String) -> LineError {
        LineError::Broken { line: self.line, rule }
    }
}

impl<R> std::fmt::Debug for JsonLines<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonLines").field("line", &self.line).finish_non_exhaustive()
    }
}
