//! What commands share: how they read, print, show progress, are interrupted and end.

pub(in crate::app) mod exit;
pub(in crate::app) mod findings;
pub(in crate::app) mod input;
pub(in crate::app) mod interrupt;
pub(in crate::app) mod load;
pub(in crate::app) mod output;
pub(in crate::app) mod progress;
pub(in crate::app) mod seed;
pub(in crate::app) mod service_manager;
pub(in crate::app) mod signals;
pub(in crate::app) mod storage_url;

use std::io;

/// The words that this process was called with, quoted so that a shell reads them again.
pub(in crate::app) fn command_line() -> String {
    let quoted = |word: std::ffi::OsString| {
        let word = word.to_string_lossy().into_owned();
        let is_plain = |letter: char| letter.is_alphanumeric() || "-_=+:,./@%".contains(letter);
        let needs_none = !word.is_empty() && word.chars().all(is_plain);
        if needs_none { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    // Where the program lies is no matter.
    let words = std::env::args_os().skip(1).map(quoted);
    std::iter::once("fourfold".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The runtime of commands that use the network.
pub(in crate::app) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// System, processor and how many of them.
pub(in crate::app) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model);
    format!("{}, {model}, {cores} processors", std::env::consts::OS)
}
