//! The machine around the arena: asking its tasks, settings, files, the data directory, logs, figures for monitoring.

pub(crate) mod ask;
pub(crate) mod bot_files;
pub mod config;
pub mod data_dir;
pub(crate) mod files;
pub(crate) mod metrics;
pub(crate) mod telemetry;
