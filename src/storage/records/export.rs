//! Records out of the store: page by page, as lines of JSON, as a table, or in a form that rating tools read.

use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

use fourfold_engine::Side;
use thiserror::Error;

use super::Record;
use super::players::PlayerCache;
use crate::model::result::GameResult;
use crate::storage::store::GameQuery;
use crate::storage::words::Word;
use crate::storage::{Store, StoreError};

/// Games read at a time.
const PAGE: u32 = 500;

/// How records are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ExportFormat {
    /// One JSON object a line, with everything.
    #[default]
    Ndjson,
    /// One line a game below a heading, with everything.
    Csv,
    /// Tags and numbered columns after the Portable Game Notation of chess, which rating tools read.
    Pgn,
}

/// A text that names no format.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is not a format: ndjson, pgn and csv are")]
pub(crate) struct UnknownFormat {
    text: String,
}

impl FromStr for ExportFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        match text {
            "ndjson" => Ok(Self::Ndjson),
            "csv" => Ok(Self::Csv),
            "pgn" => Ok(Self::Pgn),
            _ => Err(UnknownFormat { text: text.to_owned() }),
        }
    }
}

impl ExportFormat {
    /// What comes before the first record.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Ndjson | Self::Pgn => "",
            Self::Csv => CSV_HEADING,
        }
    }

    /// A record with the line feed at its end.
    pub(crate) fn write(self, record: &Record) -> String {
        match self {
            Self::Ndjson => ndjson(record),
            Self::Csv => csv(record),
            Self::Pgn => pgn(record),
        }
    }
}

fn ndjson(record: &Record) -> String {
    let mut line = serde_json::to_string(record).expect("all keys of a record are text");
    line.push('\n');
    line
}

const CSV_HEADING: &str = "id,variant,rated,first_id,first,first_kind,second_id,second,second_kind,bank_ms,\
increment_ms,move_ms,opening,opening_moves,pair,leg,of,moves,clocks,result,reason,by,first_before,first_after,\
second_before,second_after,unrated_because,started_at,ended_at\n";

fn csv(record: &Record) -> String {
    fn text(value: Option<impl ToString>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    let Record { players, time, opening, .. } = record;
    let pair = record.pair.as_ref();
    let ratings = record.ratings.as_ref();
    let clocks: Vec<String> =
        record.clocks.iter().map(|[first, second]| format!("{first}/{second}")).collect();
    let fields = [
        record.id.to_string(),
        record.variant.0.to_string(),
        record.rated.to_string(),
        players.first.id.clone(),
        players.first.name.clone(),
        players.first.kind.word().to_owned(),
        players.second.id.clone(),
        players.second.name.clone(),
        players.second.kind.word().to_owned(),
        text(time.bank_ms),
        time.increment_ms.to_string(),
        text(time.move_ms),
        opening.kind.word().to_owned(),
        opening.moves.clone(),
        text(pair.map(|pair| &pair.id)),
        text(pair.map(|pair| pair.leg)),
        text(pair.map(|pair| pair.of)),
        record.moves.clone(),
        clocks.join(" "),
        text(record.result.map(Word::word)),
        text(record.reason.map(Word::word)),
        text(record.by.map(Side::from)),
        text(ratings.map(|ratings| ratings.first.before)),
        text(ratings.map(|ratings| ratings.first.after)),
        text(ratings.map(|ratings| ratings.second.before)),
        text(ratings.map(|ratings| ratings.second.after)),
        text(record.unrated_because.as_ref()),
        record.started_at.clone(),
        text(record.ended_at.as_ref()),
    ];
    fields.map(|field| quoted(&field)).join(",") + "\n"
}

/// A field of a table, in quotes if it needs them.
///
/// Spreadsheets take a leading `=`, `+`, `-` or `@` for a formula, and names may begin with `-`: such a field gets an
/// apostrophe in front, unless it is a number.
fn quoted(field: &str) -> String {
    let is_formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<i64>().is_err();
    let field = if is_formula { format!("'{field}") } else { field.to_owned() };
    if field.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

fn pgn(record: &Record) -> String {
    let result = match record.result {
        Some(GameResult::First) => "1-0",
        Some(GameResult::Second) => "0-1",
        Some(GameResult::Draw) => "1/2-1/2",
        Some(GameResult::Void) | None => "*",
    };
    let round = record.pair.as_ref().map_or("-".to_owned(), |pair| format!("{}.{}", pair.id, pair.leg));
    let mut text = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]"); // a string takes everything
    };
    tag("Event", if record.rated { "Rated game" } else { "Game" });
    tag("Site", record.id.as_str());
    tag("Date", &record.started_at.get(..10).unwrap_or("????-??-??").replace('-', "."));
    tag("Round", &round);
    tag("White", &record.players.first.name);
    tag("Black", &record.players.second.name);
    tag("Result", result);
    if let Some(ratings) = &record.ratings {
        tag("WhiteElo", &ratings.first.before.to_string());
        tag("BlackElo", &ratings.second.before.to_string());
    }
    tag("Variant", &record.variant.0.to_string());
    tag("TimeControl", &time_control(record));
    tag("Opening", &record.opening.moves);
    tag("Termination", record.reason.map_or("unterminated", Word::word));
    text + "\n" + &numbered(&record.moves) + result + "\n\n"
}

/// `1. 4 4 2. 5 ` from `445`.
fn numbered(moves: &str) -> String {
    let mut text = String::new();
    for (index, column) in moves.chars().enumerate() {
        if index % 2 == 0 {
            let _ = write!(text, "{}. ", index / 2 + 1); // as above
        }
        text.extend([column, ' ']);
    }
    text
}

/// `60+1`: a bank of 60 s and 1 s a move; `0.5/move`: half a second for each move; `60+1, 0.5/move`: both.
fn time_control(record: &Record) -> String {
    let seconds = |ms: u32| {
        let text = format!("{}.{:03}", ms / 1_000, ms % 1_000);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let time = record.time;
    let bank = time.bank_ms.map(|bank| format!("{}+{}", seconds(bank), seconds(time.increment_ms)));
    let limit = time.move_ms.map(|limit| format!("{}/move", seconds(limit)));
    bank.into_iter().chain(limit).collect::<Vec<_>>().join(", ")
}

/// Reads the records of finished games page by page, each player only once.
#[derive(Debug)]
pub(crate) struct RecordReader {
    store: Arc<dyn Store>,
    /// What remains to be read; its limit counts down.
    query: GameQuery,
    players: PlayerCache,
    is_done: bool,
}

impl RecordReader {
    /// Reads what the query asks for; its limit is that of all pages together.
    pub(crate) fn new(store: Arc<dyn Store>, query: GameQuery) -> Self {
        Self { store, query, players: PlayerCache::default(), is_done: false }
    }

    /// Some more records, in order; `None` at the end.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn next_page(&mut self) -> Result<Option<Vec<Record>>, StoreError> {
        if self.is_done {
            return Ok(None);
        }
        let limit = self.query.limit.min(PAGE);
        let games = self.store.finished_games(&GameQuery { limit, ..self.query.clone() }).await?;
        let read = u32::try_from(games.len()).unwrap_or(u32::MAX);
        self.query.limit = self.query.limit.saturating_sub(read);
        self.is_done = read < limit || self.query.limit == 0;
        let last = games.last().and_then(|game| game.settlement.as_ref());
        self.query.after = last.map(|settlement| settlement.number).or(self.query.after);
        let mut records = Vec::with_capacity(games.len());
        for game in games {
            records.push(self.players.record(&*self.store, &game).await?);
        }
        Ok(if records.is_empty() { None } else { Some(records) })
    }

    /// The number of the last game that was read, for going on after it.
    pub(crate) fn last_number(&self) -> Option<u64> {
        self.query.after
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::BySide;

    use super::*;
    use crate::model::opening::OpeningKind;
    use crate::model::rating::elo;
    use crate::model::result::EndReason;

    use crate::model::player::PlayerKind;
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, add_players, play, player, spec, whole_game};
    use crate::storage::record::{GamePair, GameSpec, OpeningSource, Settlement, StoredGame};

    /// A rated game that the first side wins after the opening `44`.
    fn finished() -> Record {
        let spec = GameSpec {
            opening: OpeningSource { kind: OpeningKind::Balanced, moves: "44".into() },
            pair: Some(GamePair { id: "p1".parse().unwrap(), leg: 1, of: 2 }),
            ..spec("g1", "Ada", "deep")
        };
        let entries = elo::settle(elo::Standing::START, elo::Standing::START, Some(Side::First));
        let settlement = Settlement { number: 7, ratings: Some(entries), unrated_because: None };
        let events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
        let game = StoredGame { spec, events, settlement: Some(settlement) };
        let players =
            BySide { first: player("Ada", PlayerKind::Human), second: player("deep", PlayerKind::Bot) };
        Record::new(&game, &players)
    }

    #[test]
    fn a_table_has_as_many_fields_as_its_heading() {
        let line = ExportFormat::Csv.write(&finished());
        let fields: Vec<(&str, &str)> =
            CSV_HEADING.trim_end().split(',').zip(line.trim_end().split(',')).collect();
        for expected in [("pair", "p1"), ("first", "Ada"), ("second_kind", "bot"), ("move_ms", "")] {
            assert!(fields.contains(&expected), "{fields:?}");
        }
        assert_eq!(fields.last(), Some(&("ended_at", "2025-06-15T15:06:48.000Z")));
        assert_eq!(line.matches(',').count(), CSV_HEADING.matches(',').count());
    }

    #[test]
    fn rating_tools_find_names_and_result() {
        let expected = "\
[Event \"Rated game\"]
[Site \"g1\"]
[Date \"2025.06.15\"]
[Round \"p1.1\"]
[White \"Ada\"]
[Black \"deep\"]
[Result \"1-0\"]
[WhiteElo \"1500\"]
[BlackElo \"1500\"]
[Variant \"7x6\"]
[TimeControl \"60+1\"]
[Opening \"44\"]
[Termination \"four\"]

1. 4 4 2. 1 2 3. 1 2 4. 1 2 5. 1 1-0

";
        assert_eq!(ExportFormat::Pgn.write(&finished()), expected);
    }

    #[test]
    fn lines_of_json_read_back() {
        let line = ExportFormat::Ndjson.write(&finished());
        assert_eq!(line.find('\n'), Some(line.len() - 1));
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), finished());
    }

    #[test]
    fn fields_cannot_break_out() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(quoted("-1+1"), "'-1+1");
        assert_eq!(quoted("-12"), "-12");
        let mut record = finished();
        record.players.first.name = "x\"] [y".into();
        assert!(ExportFormat::Pgn.write(&record).contains("[White \"x\\\"] [y\"]\n"));
    }

    #[test]
    fn formats_are_known_by_name() {
        for (text, format) in
            [("ndjson", ExportFormat::Ndjson), ("csv", ExportFormat::Csv), ("pgn", ExportFormat::Pgn)]
        {
            assert_eq!(text.parse(), Ok(format));
        }
        assert!("CSV".parse::<ExportFormat>().is_err());
    }

    #[tokio::test]
    async fn all_pages_together_are_all_records() {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        let count = PAGE + 3;
        for number in 0..count {
            let spec = spec(&format!("g{number}"), "Ada", "Bob");
            play(&*store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
        }
        for limit in [u32::MAX, count, PAGE, 2, 0] {
            let mut reader = RecordReader::new(store.clone(), GameQuery { limit, ..GameQuery::default() });
            let mut ids = Vec::new();
            while let Some(page) = reader.next_page().await.unwrap() {
                ids.extend(page.iter().map(|record| record.id.to_string()));
            }
            assert_eq!(ids, (0..limit.min(count)).map(|number| format!("g{number}")).collect::<Vec<_>>());
        }
    }
}
