//! Records into the store: read line by line, checked before anything is written.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use fourfold_engine::{BySide, Game, Side};
use thiserror::Error;

use super::lines::{JsonLines, LineError};
use super::{Record, RecordPlayer, rules};
use crate::model::clock;
use crate::model::ids::{PlayerId, PlayerName};
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::protocol::server::GameStatus;
use crate::storage::record::{
    BotProfile, Ending, EventKind, GamePair, GameSpec, OpeningSource, StoredEvent, StoredMove, StoredPlayer,
    UnratedReason,
};

use crate::model::time::UnixMillis;
use crate::storage::store::Write;
use crate::storage::{Store, StoreError};

/// Games in one batch of writes.
const BATCH_GAMES: usize = 100;

/// Why a file is not imported.
#[derive(Debug, Error)]
pub(crate) enum ImportError {
    /// A line breaks a rule, or the file cannot be read.
    #[error(transparent)]
    Line(#[from] LineError),
    /// There is nothing in it.
    #[error("there are no records in it")]
    Empty,
    /// The store cannot be asked about players and games.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Checks a whole file before anything of it is imported. Returns the number of its records.
///
/// # Errors
///
/// Names the first line that breaks a rule, and the rule.
pub(crate) fn check(file: impl BufRead) -> Result<u64, ImportError> {
    let mut lines = JsonLines::new(file);
    let mut records = 0;
    while next_record(&mut lines)?.is_some() {
        records += 1;
    }
    if records == 0 { Err(ImportError::Empty) } else { Ok(records) }
}

/// The next record, checked.
fn next_record<R: BufRead>(lines: &mut JsonLines<R>) -> Result<Option<Record>, LineError> {
    let Some(record) = lines.next_value()? else { return Ok(None) };
    check_record(&record).map_err(|rule| lines.broken(rule))?;
    Ok(Some(record))
}

/// The rules that a record must keep to be a finished game.
fn check_record(record: &Record) -> Result<(), String> {
    let ending = ending(record).ok_or("the game is not over")?;
    let game = Game::from_moves(record.variant.0, &record.moves).map_err(|error| error.to_string())?;
    if !record.moves.starts_with(&record.opening.moves) {
        return Err(format!("the moves do not begin with the opening {}", record.opening.moves));
    }
    rules::check_end(&game, ending)?;
    clock::validate(record.time).map_err(|error| error.to_string())?;
    if record.clocks.len() != record.moves.len() {
        return Err(format!("{} clocks for {} moves", record.clocks.len(), record.moves.len()));
    }
    for time in [Some(&record.started_at), record.ended_at.as_ref()] {
        read_time(time.ok_or("ended_at is missing")?)?;
    }
    for side in Side::BOTH {
        name_of(player_of(record, side))?;
    }
    Ok(())
}

fn ending(record: &Record) -> Option<Ending> {
    match record.status {
        GameStatus::Live => None,
        GameStatus::Over => {
            Some(Ending { result: record.result?, reason: record.reason?, by: record.by.map(Side::from) })
        }
    }
}

fn player_of(record: &Record, side: Side) -> &RecordPlayer {
    match side {
        Side::First => &record.players.first,
        Side::Second => &record.players.second,
    }
}

fn name_of(player: &RecordPlayer) -> Result<PlayerName, String> {
    player.name.parse().map_err(|error| format!("player `{}`: {error}", player.name))
}

fn read_time(text: &str) -> Result<UnixMillis, String> {
    let time: jiff::Timestamp = text.parse().map_err(|_| format!("`{text}` is not a time (RFC 3339)"))?;
    Ok(UnixMillis(time.as_millisecond()))
}

/// What some records are as writes: the players come first.
#[derive(Debug, Default)]
pub(crate) struct ImportBatch {
    pub(crate) players: Vec<Write>,
    /// Of each its begin and its end, neither of which may be there alone: a game without its end would go on.
    pub(crate) games: Vec<[Write; 2]>,
}

/// Turns a checked file into writes.
///
/// Games that are there already are passed over, so that an import that was interrupted can be repeated. The others
/// come in unrated: the ratings of another arena mean nothing here. Players are found by name; who is not there is
/// made, without a password.
#[derive(Debug)]
pub(crate) struct Importer<'a, R, N> {
    lines: JsonLines<R>,
    store: &'a dyn Store,
    /// Gives new players their ids.
    new_id: N,
    players: HashMap<String, PlayerId>,
    /// Records that were there already.
    pub(crate) passed_over: u64,
}

impl<'a, R: BufRead, N: FnMut() -> PlayerId> Importer<'a, R, N> {
    /// Starts at the beginning of a file that [`check`] has passed. New players get the ids that `new_id` gives.
    pub(crate) fn new(file: R, store: &'a dyn Store, new_id: N) -> Self {
        Self { lines: JsonLines::new(file), store, new_id, players: HashMap::new(), passed_over: 0 }
    }

    /// The next writes, which must be committed before the next ones are asked for; `None` at the end.
    ///
    /// # Errors
    ///
    /// The file or the store cannot be read, or the file has changed since it was checked.
    pub(crate) async fn next_batch(&mut self) -> Result<Option<ImportBatch>, ImportError> {
        let mut batch = ImportBatch::default();
        let mut begun = HashSet::new();
        for _ in 0..BATCH_GAMES {
            let Some(record) = next_record(&mut self.lines)? else { break };
            let is_new = begun.insert(record.id.clone());
            if !is_new || self.store.game(&record.id).await?.is_some() {
                self.passed_over += 1;
                continue;
            }
            let first = self.player(&record.players.first, &mut batch.players).await?;
            let second = self.player(&record.players.second, &mut batch.players).await?;
            let game = game_writes(&record, BySide { first, second });
            batch.games.push(game.map_err(|rule| self.lines.broken(rule))?);
        }
        // A batch of nothing but known games is not the end.
        if batch.games.is_empty() && self.lines.is_at_end()? { Ok(None) } else { Ok(Some(batch)) }
    }

    async fn player(
        &mut self,
        player: &RecordPlayer,
        writes: &mut Vec<Write>,
    ) -> Result<PlayerId, ImportError> {
        let name = name_of(player).map_err(|rule| self.lines.broken(rule))?;
        if let Some(id) = self.players.get(&name.key()) {
            return Ok(id.clone());
        }
        let id = if let Some(known) = self.store.player_by_name(&name).await? {
            known.id
        } else {
            let id = (self.new_id)();
            writes.push(add_player(id.clone(), name.clone(), player.kind));
            id
        };
        self.players.insert(name.key(), id.clone());
        Ok(id)
    }
}

fn add_player(id: PlayerId, name: PlayerName, kind: PlayerKind) -> Write {
    let player = StoredPlayer {
        id,
        name,
        kind,
        house: false,
        owner: None,
        profile: BotProfile::default(),
        portrait: Portrait::default(),
        created_at: UnixMillis::now(),
        ban: None,
        mute: None,
        start: None,
    };
    Write::AddPlayer { player, password: None }
}

fn game_writes(record: &Record, players: BySide<PlayerId>) -> Result<[Write; 2], String> {
    let started_at = read_time(&record.started_at)?;
    let ended_at = read_time(record.ended_at.as_deref().unwrap_or(&record.started_at))?;
    let spec = GameSpec {
        id: record.id.clone(),
        players,
        variant: record.variant.0,
        time: record.time,
        rated: false,
        unrated_because: mark_of(record),
        footing: None,
        versions: BySide::default(),
        opening: OpeningSource { kind: record.opening.kind, moves: record.opening.moves.clone() },
        pair: record.pair.as_ref().map(|pair| GamePair { id: pair.id.clone(), leg: pair.leg, of: pair.of }),
        started_at,
    };
    let events = events(record, ended_at)?;
    Ok([Write::StartGame(spec), Write::Finish { game: record.id.clone(), events }])
}

/// What says that nobody chose the moves, or that they are not for everybody; other reasons are about ratings, which
/// imported games do not have.
fn mark_of(record: &Record) -> Option<UnratedReason> {
    let said = record.begun_as.as_deref().or(record.unrated_because.as_deref());
    let because = said.and_then(UnratedReason::from_text);
    because.filter(|because| matches!(because, UnratedReason::Load | UnratedReason::Private))
}

/// The events after the opening. When each of them came is not in a record: all get the time of the end.
fn events(record: &Record, at: UnixMillis) -> Result<Vec<StoredEvent>, String> {
    let game = Game::from_moves(record.variant.0, &record.moves).map_err(|error| error.to_string())?;
    let ending = ending(record).ok_or("the game is not over")?;
    let opening_plies = record.opening.moves.len();
    let clock = |[first, second]: [u64; 2]| BySide { first, second };
    let played = game.moves().iter().zip(&record.clocks).skip(opening_plies);
    let mut events: Vec<StoredEvent> = (1..)
        .zip(played)
        .map(|(seq, (&column, &clock_ms))| {
            let played = StoredMove { column, spent_ms: 0, credited_ms: 0, info: None };
            StoredEvent { seq, kind: EventKind::Move(played), clock_ms: clock(clock_ms), at }
        })
        .collect();
    let seq = u32::try_from(events.len()).map_err(|error| error.to_string())? + 1;
    let last_clock = record.clocks.last().copied().unwrap_or_default();
    events.push(StoredEvent { seq, kind: EventKind::Finished(ending), clock_ms: clock(last_clock), at });
    Ok(events)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fourfold_engine::rng;

    use super::*;
    use crate::model::result::{EndReason, GameResult};
    use crate::operations::verify::verify;
    use crate::storage::MemoryStore;
    use crate::storage::conformance::{FIRST_WINS, add_players, play, spec, void};
    use crate::storage::games::GameStore as _;
    use crate::storage::records::export::{ExportFormat, RecordReader};
    use crate::storage::store::GameQuery;
    use crate::storage::tournaments::TournamentStore;

    async fn export(store: Arc<MemoryStore>) -> String {
        let mut reader = RecordReader::new(store, GameQuery { limit: u32::MAX, ..GameQuery::default() });
        let mut text = String::new();
        while let Some(page) = reader.next_page().await.unwrap() {
            text.extend(page.iter().map(|record| ExportFormat::Ndjson.write(record)));
        }
        text
    }

    /// The export of three games, one of them after an opening.
    async fn three_games() -> String {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        let opening = OpeningSource { moves: "44".into(), ..OpeningSource::default() };
        let with_opening = GameSpec { opening, ..spec("g2", "Bob", "Ada") };
        play(&*store, spec("g1", "Ada", "Bob"), FIRST_WINS, GameResult::First, EndReason::Four).await;
        play(&*store, with_opening, FIRST_WINS, GameResult::First, EndReason::Four).await;
        let load =
            GameSpec { unrated_because: Some(UnratedReason::Load), rated: false, ..spec("g3", "Ada", "Bob") };
        play(&*store, load, "443", GameResult::Second, EndReason::Resign).await;
        export(store).await
    }

    async fn import(text: &str, store: &MemoryStore) -> u64 {
        let mut rng = rng::seeded(1);
        let mut importer = Importer::new(text.as_bytes(), store, || PlayerId::random(&mut rng));
        while let Some(ImportBatch { players, games }) = importer.next_batch().await.unwrap() {
            for answer in store.commit(&[players, games.concat()].concat()).await.unwrap() {
                answer.unwrap();
            }
        }
        importer.passed_over
    }

    #[tokio::test]
    async fn what_was_exported_comes_back_unrated() {
        let text = three_games().await;
        assert_eq!(check(text.as_bytes()).unwrap(), 3);
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["ADA"]).await;
        assert_eq!(import(&text, &store).await, 0);
        let read = |text: &str| -> Vec<Record> {
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let (before, after) = (read(&text), read(&export(store.clone()).await));
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(
                (&before.moves, &before.clocks, before.result),
                (&after.moves, &after.clocks, after.result)
            );
            assert!(!after.rated && after.ratings.is_none());
        }
        assert_eq!(after[0].players.first.name, "ADA");
        let marks: Vec<_> = after.iter().map(|record| record.unrated_because.as_deref()).collect();
        assert_eq!(marks, [None, None, Some("load")]);
        assert_eq!(verify(&*store).await.unwrap().findings, [] as [&str; 0]);
        assert_eq!(import(&text, &store).await, 3, "repeated, everything is there already");
        let twice = format!("{text}{text}");
        assert_eq!(import(&twice, &MemoryStore::new()).await, 3, "of one file, too");
        assert_eq!(after.len(), 3);
    }

    #[tokio::test]
    async fn a_private_game_that_was_taken_out_stays_private_elsewhere() {
        let store = Arc::new(MemoryStore::new());
        add_players(&*store, &["Ada", "Bob"]).await;
        for (id, mark) in [("g1", UnratedReason::Private), ("g2", UnratedReason::Load)] {
            let spec = GameSpec { unrated_because: Some(mark), rated: false, ..spec(id, "Ada", "Bob") };
            play(&*store, spec, FIRST_WINS, GameResult::First, EndReason::Four).await;
            store.commit(&[void(id)]).await.unwrap().remove(0).unwrap();
        }
        let text = export(store).await;
        assert!(text.contains(r#""unrated_because":"voided","begun_as":"private""#), "{text}");
        let elsewhere = MemoryStore::new();
        import(&text, &elsewhere).await;
        let games = elsewhere.finished_games(&GameQuery { limit: 9, ..GameQuery::default() }).await.unwrap();
        let marks: Vec<_> = games.iter().map(|game| game.spec.unrated_because).collect();
        assert_eq!(marks, [Some(UnratedReason::Private), Some(UnratedReason::Load)]);
    }

    /// Numbers of an imported file are stored, shown and computed with later.
    #[tokio::test]
    async fn numbers_at_the_ends_of_their_types_are_refused_or_harmless() {
        let text = three_games().await;
        let record: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let in_tournament = |pair: u64| format!("t1-t{pair}");
        let extremes: [(&str, serde_json::Value); 6] = [
            ("clocks", serde_json::json!(vec![[u64::MAX, 0]; 7])),
            ("pair", serde_json::json!({"id": in_tournament(u64::MAX), "leg": u32::MAX, "of": 0})),
            ("pair", serde_json::json!({"id": in_tournament(u64::MAX / 2), "leg": 2, "of": u32::MAX})),
            ("time", serde_json::json!({"bank_ms": u32::MAX, "increment_ms": u32::MAX, "move_ms": u32::MAX})),
            ("started_at", "-009999-01-02T00:00:00Z".into()),
            ("ended_at", "9999-12-30T00:00:00Z".into()),
        ];
        for (field, value) in extremes {
            let mut changed = record.clone();
            changed[field] = value;
            let line = changed.to_string();
            let store = Arc::new(MemoryStore::new());
            if check(line.as_bytes()).is_ok() {
                import(&line, &store).await;
                assert_eq!(verify(&*store).await.unwrap().findings, [""; 0], "{line}");
                assert_eq!(export(Arc::clone(&store)).await.lines().count(), 1, "{line}");
                let of_tournament = store.games_of_tournament(&"t1".parse().unwrap()).await.unwrap();
                let pairs = of_tournament.iter().filter_map(|game| game.spec.pair.as_ref());
                assert_eq!(pairs.filter_map(|pair| pair.id.of_tournament()).count(), 0, "{line}");
            }
        }
    }

    #[track_caller]
    fn check_broken(text: &str, expected: &str) {
        assert_eq!(check(text.as_bytes()).unwrap_err().to_string(), expected);
    }

    #[tokio::test]
    async fn the_first_bad_line_is_named_with_its_rule() {
        let text = three_games().await;
        let first = text.lines().next().unwrap();
        let change = |from: &str, to: &str| {
            let changed = first.replacen(from, to, 1);
            assert_ne!(changed, first);
            format!("{first}\n\n{changed}\n")
        };
        check_broken("", "there are no records in it");
        check_broken("\n{\"event\":\"started\"}\n", "there are no records in it");
        check_broken(&change("1212121", "12121212"), "line 3: move 8 is illegal: the game is over");
        check_broken(&change("1212121", "11111112"), "line 3: move 7 is illegal: column 1 is full");
        check_broken(&change("1212121", "1212120"), "line 3: move 7 is `0`, not a column from 1 to 7");
        check_broken(
            &change("\"first\",\"reason\"", "\"second\",\"reason\""),
            "line 3: the board says first by four, recorded is second by four",
        );
        check_broken(&change("\"over\"", "\"live\""), "line 3: the game is not over");
        check_broken(&change("[59999,60000],", ""), "line 3: 6 clocks for 7 moves");
        check_broken(
            &change("2025-06-15T", "yesterday, "),
            "line 3: `yesterday, 15:06:40.000Z` is not a time (RFC 3339)",
        );
        check_broken(
            &change("\"name\":\"Ada\"", "\"name\":\"A da\""),
            "line 3: player `A da`: character 2 of the name is not allowed: letters a to z, digits, `_` and `-` are",
        );
        check_broken(&"x".repeat(70_000), "line 1: longer than 65536 bytes");
        let error = check("{\"id\":\"g1\"}".as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("line 1: not a record: missing field"), "{error}");
    }
}
