//! The machine around the arena: settings, files, the data directory, logs, figures for monitoring.

pub mod bot_files;
pub mod config;
pub mod data_dir;
pub mod files;
pub mod metrics;
pub mod telemetry;
