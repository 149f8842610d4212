//! Records out of the store: page by page, as lines of JSON, whole or short, as a table, or in a form that rating tools
//! read.

use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::Arc;

use bytes::Bytes;
use fourfold_engine::{BySide, Side};
use futures::{Stream, StreamExt as _, future, stream};
use serde::Serialize;
use thiserror::Error;

use super::Record;
use super::players::PlayerCache;
use crate::model::result::{EndReason, GameResult};
use crate::protocol::terms::WireVariant;
use crate::storage::filter::RecordFilter;
use crate::storage::store::GameQuery;
use crate::storage::words::Word;
use crate::storage::{Store, StoreError, StoredGame};

/// Games read at a time: some 150 KiB of text, which take a thread of the runtime a millisecond or two to write.
const PAGE: u32 = 200;

/// What the text of a page mostly takes no more than.
const PAGE_BYTES: usize = 192 * 1024;

/// How records are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum ExportFormat {
    /// One JSON object a line, with everything.
    #[default]
    Ndjson,
    /// One JSON object a line, a quarter as long: who played what, and how it ended.
    Compact,
    /// One line a game below a heading, with everything.
    Csv,
    /// Tags and numbered columns after the Portable Game Notation of chess, which rating tools read.
    Pgn,
}

/// A text that names no format.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{text}` is not a format: ndjson, compact, pgn and csv are")]
pub(crate) struct UnknownFormat {
    text: String,
}

impl FromStr for ExportFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        match text {
            "ndjson" => Ok(Self::Ndjson),
            "compact" => Ok(Self::Compact),
            "csv" => Ok(Self::Csv),
            "pgn" => Ok(Self::Pgn),
            _ => Err(UnknownFormat { text: text.to_owned() }),
        }
    }
}

impl ExportFormat {
    /// The name by which it is asked for.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Compact => "compact",
            Self::Csv => "csv",
            Self::Pgn => "pgn",
        }
    }

    /// What comes before the first record.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Ndjson | Self::Compact | Self::Pgn => "",
            Self::Csv => CSV_HEADING,
        }
    }

    /// Adds a record with the line feed at its end.
    pub(crate) fn add(self, record: &Record, text: &mut Vec<u8>) {
        match self {
            Self::Ndjson => add_json_line(record, text),
            Self::Compact => add_json_line(&CompactRecord::of(record), text),
            Self::Csv => text.extend_from_slice(csv(record).as_bytes()),
            Self::Pgn => text.extend_from_slice(pgn(record).as_bytes()),
        }
    }

    /// A record with the line feed at its end.
    #[cfg(test)]
    pub(crate) fn write(self, record: &Record) -> String {
        let mut text = Vec::new();
        self.add(record, &mut text);
        String::from_utf8(text).unwrap()
    }
}

/// The short form of a record: names instead of accounts, no clocks, no ratings.
#[derive(Debug, Serialize)]
struct CompactRecord<'r> {
    id: &'r str,
    variant: &'r WireVariant,
    first: &'r str,
    second: &'r str,
    /// How many of the moves stood on the board at the start.
    opening: usize,
    moves: &'r str,
    result: Option<GameResult>,
    reason: Option<EndReason>,
    rated: bool,
    ended_at: Option<&'r str>,
}

impl<'r> CompactRecord<'r> {
    fn of(record: &'r Record) -> Self {
        Self {
            id: record.id.as_str(),
            variant: &record.variant,
            first: &record.players.first.name,
            second: &record.players.second.name,
            opening: record.opening.moves.len(),
            moves: &record.moves,
            result: record.result,
            reason: record.reason,
            rated: record.rated,
            ended_at: record.ended_at.as_deref(),
        }
    }
}

fn add_json_line(record: &impl Serialize, text: &mut Vec<u8>) {
    serde_json::to_writer(&mut *text, record)
        .expect("memory takes everything, and all keys of a record are text");
    text.push(b'\n');
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

/// Reads the records of finished games page by page.
#[derive(Debug)]
pub(crate) struct RecordReader {
    games: GamePages,
    players: PlayerCache,
    wanted: RecordsWanted,
}

/// Which of the games that are read are given on.
#[derive(Debug)]
struct RecordsWanted {
    filter: RecordFilter,
    /// How many more of them.
    left: u32,
}

impl RecordsWanted {
    /// The record of a game, if that is wanted.
    async fn of(
        &mut self,
        game: &StoredGame,
        players: &mut PlayerCache,
        store: &dyn Store,
    ) -> Result<Option<Record>, StoreError> {
        if self.left == 0 || !self.filter.takes(game) {
            return Ok(None);
        }
        let record = players.record(store, game).await?;
        let kinds = BySide { first: record.players.first.kind, second: record.players.second.kind };
        if !self.filter.takes_players(kinds) {
            return Ok(None);
        }
        self.left -= 1;
        Ok(Some(record))
    }
}

/// Finished games, page by page.
#[derive(Debug)]
struct GamePages {
    store: Arc<dyn Store>,
    /// What remains to be read; its limit counts down.
    query: GameQuery,
    is_done: bool,
}

impl GamePages {
    /// Some more games, in order; `None` at the end.
    async fn next(&mut self) -> Result<Option<Vec<StoredGame>>, StoreError> {
        if self.is_done {
            return Ok(None);
        }
        let limit = self.query.limit.min(PAGE);
        let games = self.store.finished_games(&GameQuery { limit, ..self.query.clone() }).await?;
        let read = u32::try_from(games.len()).unwrap_or(u32::MAX);
        self.query.limit = self.query.limit.saturating_sub(read);
        // Asking again after a page that is not full would find what finished in between, and never end.
        self.is_done = read < limit || self.query.limit == 0;
        let last = games.last().and_then(|game| game.settlement.as_ref());
        self.query.after = last.map(|settlement| settlement.number).or(self.query.after);
        Ok(if games.is_empty() { None } else { Some(games) })
    }
}

impl RecordReader {
    /// Reads what the query asks for; its limit is that of all pages together.
    pub(crate) fn new(store: Arc<dyn Store>, query: GameQuery) -> Self {
        Self::chosen(store, query, RecordFilter::default())
    }

    /// The same, and gives on only what the filter takes; the query's limit is that of those.
    pub(crate) fn chosen(store: Arc<dyn Store>, query: GameQuery, filter: RecordFilter) -> Self {
        let left = query.limit;
        let limit = if filter.is_open() { left } else { u32::MAX };
        let games = GamePages { store, query: GameQuery { limit, ..query }, is_done: false };
        Self { games, players: PlayerCache::default(), wanted: RecordsWanted { filter, left } }
    }

    /// Some more records, in order, none if those that were read are not wanted; `None` at the end.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub(crate) async fn next_page(&mut self) -> Result<Option<Vec<Record>>, StoreError> {
        if self.wanted.left == 0 {
            return Ok(None);
        }
        let Some(games) = self.games.next().await? else { return Ok(None) };
        let mut records = Vec::with_capacity(games.len());
        for game in games {
            records.extend(self.wanted.of(&game, &mut self.players, &*self.games.store).await?);
        }
        Ok(Some(records))
    }

    /// The number of the last game that was read, for going on after it.
    pub(crate) fn last_number(&self) -> Option<u64> {
        self.games.query.after
    }

    /// All of it as text, of which no more than two pages are in memory, however many games there are.
    pub(crate) fn into_text(self, format: ExportFormat) -> impl Stream<Item = Result<Bytes, StoreError>> {
        let heading = stream::iter([Ok(Bytes::from_static(format.heading().as_bytes()))]);
        let state = TextPages { format, reader: self, ahead: None };
        heading.chain(stream::try_unfold(state, TextPages::next))
    }
}

/// Records on their way to text.
struct TextPages {
    format: ExportFormat,
    reader: RecordReader,
    /// The page that was read while the one before it was written.
    ahead: Option<Vec<StoredGame>>,
}

impl TextPages {
    async fn next(mut self) -> Result<Option<(Bytes, Self)>, StoreError> {
        let Self { format, reader: RecordReader { games, players, wanted }, ahead } = &mut self;
        if wanted.left == 0 {
            return Ok(None);
        }
        let page = match ahead.take() {
            Some(page) => page,
            None => match games.next().await? {
                Some(page) => page,
                None => return Ok(None),
            },
        };
        let store = Arc::clone(&games.store);
        // The store reads on a thread of its own, from when it is asked first.
        let (next, text) = future::join(games.next(), format.page(&page, wanted, players, &*store)).await;
        *ahead = next?;
        Ok(Some((text?.into(), self)))
    }
}

impl ExportFormat {
    async fn page(
        self,
        games: &[StoredGame],
        wanted: &mut RecordsWanted,
        players: &mut PlayerCache,
        store: &dyn Store,
    ) -> Result<Vec<u8>, StoreError> {
        let mut text = Vec::with_capacity(PAGE_BYTES);
        for game in games {
            if let Some(record) = wanted.of(game, players, store).await? {
                self.add(&record, &mut text);
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
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
        let settlement = Settlement { number: 7, ratings: Some(entries), ..Settlement::default() };
        let events = whole_game(FIRST_WINS, GameResult::First, EndReason::Four);
        let game = StoredGame { spec, events, settlement: Some(settlement) };
        let players =
            BySide { first: player("Ada", PlayerKind::Human), second: player("deep", PlayerKind::Bot) };
        Record::new(&game, players.as_ref())
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
[WhiteElo \"750\"]
[BlackElo \"750\"]
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
    fn the_short_form_has_who_played_what_and_how_it_ended() {
        let line = ExportFormat::Compact.write(&finished());
        let expected = "{\"id\":\"g1\",\"variant\":\"7x6\",\"first\":\"Ada\",\"second\":\"deep\",\"opening\":2,\
            \"moves\":\"441212121\",\"result\":\"first\",\"reason\":\"four\",\"rated\":true,\
            \"ended_at\":\"2025-06-15T15:06:48.000Z\"}\n";
        assert_eq!(line, expected);
        assert!(line.len() * 2 < ExportFormat::Ndjson.write(&finished()).len());
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
        for format in [ExportFormat::Ndjson, ExportFormat::Compact, ExportFormat::Csv, ExportFormat::Pgn] {
            assert_eq!(format.name().parse(), Ok(format));
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

    #[tokio::test]
    async fn text_is_all_pages_in_order_and_no_game_more() {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        let count = 2 * PAGE + 3;
        for number in 0..count {
            let spec = spec(&format!("g{number}"), "Ada", "Bob");
            play(&*store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
        }
        for limit in [u32::MAX, count, 2 * PAGE, PAGE + 1, 1, 0] {
            let reader = RecordReader::new(store.clone(), GameQuery { limit, ..GameQuery::default() });
            let pages: Vec<Bytes> = reader.into_text(ExportFormat::Csv).map(Result::unwrap).collect().await;
            let text = String::from_utf8(pages.concat()).unwrap();
            let (heading, rows) = text.split_once('\n').unwrap();
            assert_eq!(heading, CSV_HEADING.trim_end());
            let ids: Vec<String> =
                rows.lines().map(|row| row.split(',').next().unwrap().to_owned()).collect();
            assert_eq!(ids, (0..limit.min(count)).map(|number| format!("g{number}")).collect::<Vec<_>>());
            let pages_full = limit.min(count).div_ceil(PAGE) as usize;
            assert_eq!(pages.len(), 1 + pages_full, "a page at a time");
        }
    }
}
