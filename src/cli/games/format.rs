//! The forms in which records are exported.

use std::io::{self, Write};

use clap::ValueEnum;
use fourfold::protocol::server::GameResult;
use fourfold::records::Record;
use serde::Serialize;

/// The form of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum Format {
    /// One JSON object a line, with everything that is known.
    Ndjson,
    /// Tags and moves, as chess programs write them.
    Pgn,
    /// A table with a head line.
    Csv,
}

const CSV_HEAD: &str = "id,started_at,ended_at,variant,rated,first,second,result,reason,opening,moves\n";

impl Format {
    /// What stands before the first record.
    pub(super) fn head(self) -> &'static str {
        match self {
            Self::Csv => CSV_HEAD,
            Self::Ndjson | Self::Pgn => "",
        }
    }

    pub(super) fn write(self, record: &Record, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Ndjson => {
                serde_json::to_writer(&mut *out, record)?;
                writeln!(out)
            }
            Self::Pgn => write_pgn(record, out),
            Self::Csv => write_csv(record, out),
        }
    }
}

/// One line. No value has a comma or a quote in it: names, ids, digits, times and words of ours.
fn write_csv(record: &Record, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{},{},{},{},{},{},{},{},{},{},{}",
        record.id,
        record.started_at,
        record.ended_at.as_deref().unwrap_or_default(),
        record.variant.0,
        record.rated,
        record.players.first.name,
        record.players.second.name,
        word(&record.result)?,
        word(&record.reason)?,
        record.opening.moves,
        record.moves,
    )
}

/// Tags, then the moves by number with the column's digit, then the result.
fn write_pgn(record: &Record, out: &mut impl Write) -> io::Result<()> {
    let result = match record.result {
        Some(GameResult::First) => "1-0",
        Some(GameResult::Second) => "0-1",
        Some(GameResult::Draw) => "1/2-1/2",
        Some(GameResult::Void) | None => "*",
    };
    // RFC 3339 begins with the date: 2026-11-20T…
    let date = record.started_at.get(..10).unwrap_or("????-??-??").replace('-', ".");
    writeln!(out, "[Event \"Fourfold\"]")?;
    writeln!(out, "[Site \"{}\"]", record.id)?;
    writeln!(out, "[Date \"{date}\"]")?;
    writeln!(
        out,
        "[Round \"{}\"]",
        record.pair.as_ref().map_or("-".to_owned(), |pair| pair.leg.to_string())
    )?;
    writeln!(out, "[White \"{}\"]", record.players.first.name)?;
    writeln!(out, "[Black \"{}\"]", record.players.second.name)?;
    writeln!(out, "[Result \"{result}\"]")?;
    writeln!(out, "[Variant \"{}\"]", record.variant.0)?;
    writeln!(out, "[Termination \"{}\"]", word(&record.reason)?)?;
    writeln!(out)?;
    let digits: Vec<char> = record.moves.chars().collect();
    for (number, both) in (1..).zip(digits.chunks(2)) {
        let moves: Vec<String> = both.iter().map(char::to_string).collect();
        write!(out, "{number}. {} ", moves.join(" "))?;
    }
    writeln!(out, "{result}\n")
}

/// A value of ours as it stands on the wire; empty for null.
fn word(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_value(value)?.as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{
        "id": "g1", "variant": "7x6", "rated": false,
        "players": {"first": {"id": "a", "name": "ada", "kind": "human"}, "second": {"id": "b", "name": "bob", "kind": "bot"}},
        "time": {"bank_ms": 60000, "increment_ms": 0, "move_ms": null}, "opening": {"kind": "none", "moves": ""},
        "moves": "1212121", "clocks": [], "status": "over", "result": "first", "reason": "four", "ratings": null,
        "started_at": "2026-11-20T10:00:00.000Z", "ended_at": "2026-11-20T10:01:00.000Z"
    }"#;

    fn written(format: Format) -> String {
        let record: Record = serde_json::from_str(RECORD).unwrap();
        let mut out = Vec::new();
        format.write(&record, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_has_as_many_columns_as_its_head() {
        let line = written(Format::Csv);
        assert_eq!(line.matches(',').count(), CSV_HEAD.matches(',').count());
        assert!(line.ends_with(",ada,bob,first,four,,1212121\n"), "{line}");
    }

    #[test]
    fn a_line_of_json_reads_back() {
        let line = written(Format::Ndjson);
        assert_eq!(line.lines().count(), 1);
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap().moves, "1212121");
    }

    #[test]
    fn moves_are_numbered_in_pairs() {
        let text = written(Format::Pgn);
        assert!(text.contains("[Date \"2026.11.20\"]\n"), "{text}");
        assert!(text.ends_with("\n\n1. 1 2 2. 1 2 3. 1 2 4. 1 1-0\n\n"), "{text}");
    }
}
