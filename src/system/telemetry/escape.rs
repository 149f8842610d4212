//! Field values in text logs: whatever a client sent, it stays on its line and in its field.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;

use crate::model::text::rule_against;

/// Longest value in bytes: enough for every message of ours, too little to flood a log with a name.
const VALUE_BYTES_MAX: usize = 200;

/// Writes `message name=value name=value` with control characters escaped and long values cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct EscapedFields;

impl<'writer> FormatFields<'writer> for EscapedFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = FieldWriter { writer, is_first: true, result: Ok(()) };
        fields.record(&mut visitor);
        visitor.result
    }
}

struct FieldWriter<'writer> {
    writer: Writer<'writer>,
    is_first: bool,
    result: fmt::Result,
}

impl FieldWriter<'_> {
    fn write(&mut self, field: &Field, value: &dyn Debug) -> fmt::Result {
        if !std::mem::take(&mut self.is_first) {
            self.writer.write_char(' ')?;
        }
        if field.name() != "message" {
            write!(self.writer, "{}=", field.name())?;
        }
        let mut escaped = Escaped { to: &mut self.writer, left: VALUE_BYTES_MAX };
        // An error here only says that the value was cut.
        if write!(escaped, "{value:?}").is_err() { self.writer.write_char('…') } else { Ok(()) }
    }
}

impl Visit for FieldWriter<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if self.result.is_ok() {
            self.result = self.write(field, value);
        }
    }
}

/// Passes text on with control, direction and zero-width characters escaped, up to a number of bytes.
struct Escaped<'a, W> {
    to: &'a mut W,
    left: usize,
}

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            self.left = self.left.checked_sub(c.len_utf8()).ok_or(fmt::Error)?;
            if is_harmless(c) { self.to.write_char(c)? } else { write!(self.to, "{}", c.escape_unicode())? }
        }
        Ok(())
    }
}

fn is_harmless(c: char) -> bool {
    rule_against(c).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut to = String::new();
        let _ = Escaped { to: &mut to, left: 20 }.write_str(text);
        to
    }

    #[test]
    fn values_cannot_leave_their_line() {
        assert_eq!(escaped("a\nb"), "a\\u{a}b");
        assert_eq!(escaped("\u{1b}[31m"), "\\u{1b}[31m");
        assert_eq!(escaped("\u{202e}x"), "\\u{202e}x");
        assert_eq!(escaped("Zoë ⚫"), "Zoë ⚫");
    }

    /// Everything that was logged, as text.
    #[derive(Clone, Default)]
    struct Log(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

    impl std::io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_values_are_cut() {
        let log = Log::default();
        let writer = log.clone();
        let logger = tracing_subscriber::fmt()
            .fmt_fields(EscapedFields)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        let name = "x".repeat(10 * VALUE_BYTES_MAX);
        tracing::subscriber::with_default(logger, || tracing::error!(%name, after = 1, "one\ntwo"));
        let line = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let cut = "x".repeat(VALUE_BYTES_MAX);
        assert!(line.ends_with(&format!("one\\u{{a}}two name={cut}… after=1\n")), "{line}");
        assert_eq!(line.lines().count(), 1);
    }
}
