//! Results on standard output: tables for people, JSON for programs.

use std::io::{self, Write};

use serde::Serialize;

/// Writes one JSON value and a line feed.
pub(in crate::app) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// Writes rows in columns as wide as their widest cell; the last column is not padded.
pub(in crate::app) fn print_table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in align(&head, rows) {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// The same as lines; every row has as many cells as the head.
pub(in crate::app) fn align(head: &[&str], rows: &[impl AsRef<[String]>]) -> Vec<String> {
    let width = |(column, head): (usize, &&str)| {
        let cells = rows.iter().filter_map(|row| row.as_ref().get(column)).map(String::as_str);
        cells.chain([*head]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = head.iter().enumerate().map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head = line(&mut head.iter().copied());
    let rows = rows.iter().map(|row| line(&mut row.as_ref().iter().map(String::as_str)));
    std::iter::once(head).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a".to_owned(), "b".to_owned()], ["long one".to_owned(), String::new()]];
        assert_eq!(align(&["Name", "About"], &rows), ["Name      About", "a         b", "long one"]);
    }
}
