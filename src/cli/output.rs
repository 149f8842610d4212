//! Results on standard output: tables for people, JSON for programs.

use std::io::{self, Write};

use fourfold::control::Answer;
use serde::Serialize;

/// Writes one JSON value and a line feed.
pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Writes rows in columns as wide as their widest cell; the last column is not padded.
pub(super) fn print_table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in align(head, rows) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

pub(super) fn align<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    let head = head.map(str::to_owned);
    let all = || std::iter::once(&head).chain(rows);
    let widths: Vec<usize> =
        (0..N).map(|column| all().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all().map(line).collect()
}

/// An answer that belongs to another command: the daemon is of another version.
pub(super) fn unexpected(answer: &Answer) -> anyhow::Error {
    anyhow::anyhow!("the daemon gave an answer to something else: {answer:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a".to_owned(), "b".to_owned()], ["long one".to_owned(), String::new()]];
        assert_eq!(align(["Name", "About"], &rows), ["Name      About", "a         b", "long one"]);
    }
}
