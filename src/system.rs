//! The machine around the arena: work beside the games, asking its tasks, settings, files, the data directory, logs,
//! errors with their causes, checksums, figures for monitoring, flags that tasks wait for, what keeps the parts going,
//! how much of it one network may use up, and the keys by which push services know us.

pub(crate) mod aside;
pub(crate) mod ask;
pub(crate) mod bot_files;
pub(crate) mod build;
pub(crate) mod causes;
pub mod config;
pub mod data_dir;
pub(crate) mod files;
pub(crate) mod metrics;
pub(crate) mod part;
pub mod pauses;
pub(crate) mod pulse;
pub(crate) mod sha256;
pub(crate) mod shares;
pub(crate) mod signal;
pub(crate) mod supervision;
pub(crate) mod tasks;
pub(crate) mod telemetry;
pub(crate) mod trust;
pub(crate) mod vapid;
