//! What commands share: how they read, print, show progress, are interrupted and end.

pub(in crate::app) mod exit;
pub(in crate::app) mod interrupt;
pub(in crate::app) mod output;
pub(in crate::app) mod progress;
pub(in crate::app) mod service_manager;
pub(in crate::app) mod signals;
pub(in crate::app) mod storage_url;
pub(in crate::app) mod think;

use std::io;

/// The runtime of commands that use the network.
pub(in crate::app) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}
