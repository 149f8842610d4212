//! Logging: events to standard error, as text for people or JSON for programs. Nothing else writes there.
//!
//! A log that cannot be written never holds up a game: lines wait in a bounded queue for a thread of their own, and
//! when it is full they are dropped and counted.

mod escape;
mod lines;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Format;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

use crate::system::config::{LogConfig, LogFilter, LogFormat};
use escape::EscapedFields;
use lines::LogLineWriter;

/// Keeps the log going; what is still queued is written when it is dropped.
#[derive(Debug)]
#[must_use = "lines that are queued when it is dropped are lost if it is dropped at once"]
pub(crate) struct Telemetry {
    filter: reload::Handle<Targets, Registry>,
    _lines: lines::Flush,
}

impl Telemetry {
    /// Changes which events are logged, from now on.
    pub(crate) fn set_level(&self, level: &LogFilter) {
        // Fails only if no logger of ours is in place, and then there is nothing to change.
        let _ = self.filter.reload(level.to_targets());
    }
}

/// Starts logging for the whole process.
///
/// Colours are used on a terminal only. Called twice in a process, the first call stands.
pub(crate) fn start(config: &LogConfig) -> Telemetry {
    let (writer, flush) = LogLineWriter::start(std::io::stderr());
    let events = match config.format {
        LogFormat::Text => {
            let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
            let layer = fmt::layer().fmt_fields(EscapedFields).with_ansi(colours).with_writer(writer);
            layer.log_internal_errors(false).boxed()
        }
        LogFormat::Json => {
            let format = Format::default().json().flatten_event(true);
            let fields = fmt::format::JsonFields::new();
            let layer = fmt::layer().event_format(format).fmt_fields(fields).with_writer(writer);
            layer.log_internal_errors(false).boxed()
        }
    };
    let (level, filter) = reload::Layer::new(config.level.to_targets());
    // Fails only if a logger is there already, which then goes on.
    let _ = tracing_subscriber::registry().with(level).with(events).try_init();
    Telemetry { filter, _lines: flush }
}
