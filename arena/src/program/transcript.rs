//! What was said between the arena and programs, for who looks for a mistake in one: a line of JSON for each question.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

/// A file that all programs of a run share: whole lines are appended, so that threads need not wait for each other.
#[derive(Debug)]
pub struct Transcript(File);

/// A question and what came of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Exchange<'a> {
    pub(super) program: &'a str,
    /// Which of its processes, by the number that the system gave it.
    pub(super) process: u32,
    pub(super) question: &'a str,
    /// All lines up to the answer.
    pub(super) answer: &'a str,
    #[serde(serialize_with = "in_ms", rename = "ms")]
    pub(super) spent: Duration,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    /// What it wrote to its standard error since the question before.
    pub(super) stderr: &'a str,
}

fn in_ms<S: serde::Serializer>(spent: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64((spent.as_secs_f64() * 1e6).round() / 1e3)
}

impl Transcript {
    /// Begins a file, over one that is there.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).open(path)?;
        file.set_len(0)?;
        Ok(Self(file))
    }

    /// Adds a line. No game is lost because the disk is full.
    pub(super) fn note(&self, exchange: &Exchange<'_>) {
        let Ok(mut line) = serde_json::to_vec(exchange) else { return };
        line.push(b'\n');
        let _ = (&self.0).write_all(&line);
    }
}
