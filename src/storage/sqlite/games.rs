//! Games: begun with a row, read back with their events and their settlement.

use std::collections::HashMap;

use async_trait::async_trait;
use fourfold_engine::{BySide, Side};

use super::SqliteStore;
use super::db::{self, Connection};
use super::journal;
use super::players::{WriteOutcome, done_if};
use super::readers::snapshot;
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PlayerId};
use crate::model::time::UnixMillis;
use crate::storage::games::{ChosenGames, GameOutline, GameStore, GamesWanted, Notes};
use crate::storage::record::{DamagedGame, GameSpec, StoredGame, UnratedReason};
use crate::storage::rows::chosen::{ChosenArguments, Reach};
use crate::storage::rows::events::{EventsOfGames, event_columns};
use crate::storage::rows::games::{
    GameKeys, GameRow, Loaded, OutlineRow, assembled, number_of, report, select_outlines, sound,
};
use crate::storage::rows::journal::JournaledEvents;
use crate::storage::rows::packed::select_packed;
use crate::storage::rows::{number, parsed, to_sql};
use crate::storage::store::{GameQuery, Refused, StoreError};
use crate::storage::words::Word;

/// Selects the columns of a [`GameRow`] from `game g` and `settlement n`.
macro_rules! select_games {
    ($from:literal, $rest:expr) => {
        concat!(
            "SELECT g.key, g.id, f.id AS first_player, s.id AS second_player, g.variant, g.bank_ms, \
             g.increment_ms, g.move_ms, g.rated, g.unrated_because, g.opening_kind, g.opening_moves, \
             g.pair_id, g.pair_leg, g.pair_of, g.started_at, g.first_footing, g.second_footing, \
             g.first_version, g.second_version, n.number, n.result, n.moves, n.unrated_because AS settled_unrated_because, n.hash, \
             (SELECT count(*) FROM rating_entry e WHERE e.number = n.number) AS entries, \
             ef.before AS first_before, ef.delta AS first_delta, ef.after AS first_after, \
             es.before AS second_before, es.delta AS second_delta, es.after AS second_after FROM ",
            $from,
            " JOIN player f ON f.key = g.first_player JOIN player s ON s.key = g.second_player \
             LEFT JOIN rating_entry ef ON ef.number = n.number AND ef.player = g.first_player \
             LEFT JOIN rating_entry es ON es.number = n.number AND es.player = g.second_player ",
            $rest
        )
    };
}

/// Selects a page of finished games: above a number, below a number, ended since, at most so many, of a player.
macro_rules! select_page {
    ($of_all:literal, $of_player:literal) => {
        (
            select_games!("settlement n JOIN game g ON g.key = n.game", $of_all),
            select_games!(
                "player_game o JOIN settlement n ON n.number = o.number JOIN game g ON g.key = n.game",
                $of_player
            ),
        )
    };
}

/// For all games, and for those of one player.
const ASCENDING: (&str, &str) = select_page!(
    "WHERE n.number > ?1 AND n.number < ?2 AND n.ended_at >= ?3 AND ?5 IS NULL \
     AND (?6 IS NULL OR g.unrated_because IS NOT 'private' OR ?6 IN (f.id, s.id)) \
     ORDER BY n.number LIMIT ?4",
    "WHERE o.player = (SELECT key FROM player WHERE id = ?5) AND o.number > ?1 AND o.number < ?2 \
     AND n.ended_at >= ?3 \
     AND (?6 IS NULL OR g.unrated_because IS NOT 'private' OR ?6 IN (f.id, s.id)) \
     ORDER BY o.number LIMIT ?4"
);
const DESCENDING: (&str, &str) = select_page!(
    "WHERE n.number > ?1 AND n.number < ?2 AND n.ended_at >= ?3 AND ?5 IS NULL \
     AND (?6 IS NULL OR g.unrated_because IS NOT 'private' OR ?6 IN (f.id, s.id)) \
     ORDER BY n.number DESC LIMIT ?4",
    "WHERE o.player = (SELECT key FROM player WHERE id = ?5) AND o.number > ?1 AND o.number < ?2 \
     AND n.ended_at >= ?3 \
     AND (?6 IS NULL OR g.unrated_because IS NOT 'private' OR ?6 IN (f.id, s.id)) \
     ORDER BY o.number DESC LIMIT ?4"
);

/// How far down games are looked at, and how many that are: of a player if one is given, above and below numbers, so
/// many at most.
const REACH: (&str, &str) = (
    "SELECT min(number) AS lowest, count(*) AS looked_at FROM (SELECT n.number FROM settlement n \
     WHERE ?1 IS NULL AND n.number > ?2 AND n.number < ?3 ORDER BY n.number DESC LIMIT ?4)",
    "SELECT min(number) AS lowest, count(*) AS looked_at FROM (SELECT o.number FROM player_game o \
     WHERE o.player = (SELECT key FROM player WHERE id = ?1) AND o.number > ?2 AND o.number < ?3 \
     ORDER BY o.number DESC LIMIT ?4)",
);

/// What a filter takes, behind the conditions of [`DESCENDING`].
macro_rules! select_chosen {
    ($from:literal, $which:literal) => {
        select_games!(
            $from,
            concat!(
                $which,
                " AND n.ended_at >= ?3 AND (?6 IS NULL OR ?6 IN (f.id, s.id)) \
                 AND (?7 IS NULL OR ?7 = (f.kind = 'bot') + (s.kind = 'bot')) \
                 AND (?8 IS NULL OR g.variant = ?8) AND (?9 IS NULL OR ?9 = \
                 (g.rated AND coalesce(n.unrated_because, g.unrated_because) IS NULL)) \
                 AND n.ended_at < ?10 AND (?11 IS NULL OR n.result = ?11) \
                 AND (?12 IS NULL OR (f.id = ?12 AND n.result = ?13) OR (s.id = ?12 AND n.result = ?14)) \
                 AND length(n.moves) BETWEEN ?15 AND ?16 AND substr(n.moves, 1, length(?17)) = ?17 \
                 AND (?18 IS NULL OR g.unrated_because IS NOT 'private' OR ?18 IN (f.id, s.id)) \
                 ORDER BY n.number DESC LIMIT ?4"
            )
        )
    };
}
const CHOSEN: (&str, &str) = (
    select_chosen!(
        "settlement n JOIN game g ON g.key = n.game",
        "WHERE ?5 IS NULL AND n.number > ?1 AND n.number < ?2"
    ),
    select_chosen!(
        "player_game o JOIN settlement n ON n.number = o.number JOIN game g ON g.key = n.game",
        "WHERE o.player = (SELECT key FROM player WHERE id = ?5) AND o.number > ?1 AND o.number < ?2"
    ),
);

#[async_trait]
impl GameStore for SqliteStore {
    async fn unfinished_games(&self) -> Result<Vec<Result<StoredGame, DamagedGame>>, StoreError> {
        let live = self.readers.read(|connection| snapshot(connection, live)).await?;
        Ok(live.into_iter().map(|(_, loaded)| loaded).collect())
    }

    async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        let id = id.clone();
        self.readers.read(move |connection| by_id(connection, &id)).await
    }

    async fn finished_games(&self, query: &GameQuery) -> Result<Vec<StoredGame>, StoreError> {
        let query = query.clone();
        self.readers.read(move |connection| finished(connection, &query)).await
    }

    async fn chosen_games(&self, wanted: &GamesWanted) -> Result<ChosenGames, StoreError> {
        let wanted = wanted.clone();
        self.readers
            .read(move |connection| snapshot(connection, |connection| chosen(connection, &wanted)))
            .await
    }

    async fn outlines(&self, player: &PlayerId, limit: u32) -> Result<Vec<GameOutline>, StoreError> {
        let player = player.clone();
        self.readers.read(move |connection| outlines(connection, &player, limit)).await
    }

    async fn open_series(&self, since: UnixMillis) -> Result<Vec<StoredGame>, StoreError> {
        self.readers.read(move |connection| open_series(connection, since)).await
    }

    async fn departures(&self, since: UnixMillis) -> Result<Vec<(PlayerId, UnixMillis)>, StoreError> {
        self.readers.read(move |connection| departures(connection, since)).await
    }

    async fn illegal_moves(&self) -> Result<HashMap<GameId, BySide<u8>>, StoreError> {
        self.readers.read(illegal_moves).await
    }

    async fn conditional_moves(
        &self,
        only: Option<&GameId>,
    ) -> Result<HashMap<GameId, BySide<Option<ConditionalMoves>>>, StoreError> {
        let only = only.cloned();
        self.readers.read(move |connection| conditional_moves(connection, only.as_ref())).await
    }

    async fn rated_games_between(
        &self,
        players: &BySide<PlayerId>,
        since: UnixMillis,
    ) -> Result<u32, StoreError> {
        let players = players.clone();
        self.readers.read(move |connection| rated_between(connection, &players, since)).await
    }
}

/// Fetches the events of games and puts both together, in the order of the games. To be called within [`snapshot`], or
/// a game that is packed meanwhile has no events.
fn with_events(
    connection: &Connection,
    games: Vec<GameRow>,
    notes: Notes,
) -> Result<Vec<Loaded>, StoreError> {
    let keys: Vec<i64> = games.iter().map(|game| game.key).collect();
    let mut events = rows_of(connection, &keys)?;
    let (whole, spared) = select_packed!("IN (SELECT value FROM json_each(?))", "NULL");
    let sql = if notes == Notes::Read { whole } else { spared };
    db::query_as(sql).bind(list(&keys)).fetch_each(connection, |row| events.add_packed(row))?;
    let mut journaled = JournaledEvents::of(games.iter().filter(|game| game.goes_on()).map(|game| game.key));
    if journaled.are_wanted() {
        journal::collect(connection, &mut journaled)?;
        events.add_journaled(journaled);
    }
    Ok(assembled(games, events))
}

/// The rows of logs that are not packed.
pub(super) fn rows_of(connection: &Connection, games: &[i64]) -> Result<EventsOfGames, StoreError> {
    let sql = concat!(
        "SELECT ",
        event_columns!(),
        " FROM event WHERE game IN (SELECT value FROM json_each(?)) ORDER BY game, seq"
    );
    let mut events = EventsOfGames::default();
    db::query_as(sql).bind(list(games)).fetch_each(connection, |row| events.add(row))?;
    Ok(events)
}

/// A list of numbers as one argument keeps a statement the same for any count.
fn list(keys: &[i64]) -> String {
    let keys: Vec<String> = keys.iter().map(i64::to_string).collect();
    format!("[{}]", keys.join(","))
}

pub(super) fn by_id(connection: &Connection, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
    let sql = select_games!("game g LEFT JOIN settlement n ON n.game = g.key", "WHERE g.id = ?");
    // One read transaction, so that a move between the two reads does not tear the game apart.
    let game = snapshot(connection, |connection| {
        let rows: Vec<GameRow> = db::query_as(sql).bind(id.as_str()).fetch_all(connection)?;
        Ok(with_events(connection, rows, Notes::Read)?.pop())
    })?;
    Ok(game.transpose()?)
}

/// All games that go on, in the order in which they began, with their keys.
pub(super) fn live(connection: &Connection) -> Result<Vec<(i64, Loaded)>, StoreError> {
    let sql = select_games!(
        "live_game l JOIN game g ON g.key = l.game LEFT JOIN settlement n ON n.game = g.key",
        "ORDER BY g.key"
    );
    let rows: Vec<GameRow> = db::query_as(sql).fetch_all(connection)?;
    let keys: Vec<i64> = rows.iter().map(|row| row.key).collect();
    Ok(keys.into_iter().zip(with_events(connection, rows, Notes::Read)?).collect())
}

/// Games whose pairs' ids begin so, in the order in which they began, damaged ones left out.
pub(super) fn of_pairs(connection: &Connection, prefix: &str) -> Result<Vec<StoredGame>, StoreError> {
    let sql = select_games!(
        "game g LEFT JOIN settlement n ON n.game = g.key",
        "WHERE g.pair_id >= ? AND g.pair_id < ? ORDER BY g.key"
    );
    // Ids are ASCII, of which this is the last character.
    let end = format!("{prefix}\u{7f}");
    let loaded = snapshot(connection, |connection| {
        let rows: Vec<GameRow> = db::query_as(sql).bind(prefix).bind(end).fetch_all(connection)?;
        with_events(connection, rows, Notes::Read)
    })?;
    Ok(sound(loaded))
}

fn outlines(connection: &Connection, player: &PlayerId, limit: u32) -> Result<Vec<GameOutline>, StoreError> {
    let query = db::query_as(select_outlines!("?1", "?2")).bind(player.as_str()).bind(limit);
    let rows: Vec<OutlineRow> = query.fetch_all(connection)?;
    Ok(OutlineRow::sound(&rows))
}

/// The last games of series that are not complete.
fn open_series(connection: &Connection, since: UnixMillis) -> Result<Vec<StoredGame>, StoreError> {
    let sql = select_games!(
        "settlement n JOIN game g ON g.key = n.game",
        "WHERE n.ended_at >= ? AND g.pair_leg < g.pair_of AND NOT EXISTS \
         (SELECT 1 FROM game h WHERE h.pair_id = g.pair_id AND h.pair_leg > g.pair_leg) ORDER BY n.number"
    );
    let loaded = snapshot(connection, |connection| {
        let rows: Vec<GameRow> = db::query_as(sql).bind(since.0).fetch_all(connection)?;
        with_events(connection, rows, Notes::Read)
    })?;
    Ok(sound(loaded))
}

/// Who has aborted or left a game.
fn departures(connection: &Connection, since: UnixMillis) -> Result<Vec<(PlayerId, UnixMillis)>, StoreError> {
    let sql = "SELECT p.id, n.ended_at FROM settlement n INDEXED BY settlement_ended \
               JOIN game g ON g.key = n.game LEFT JOIN packed_log k ON k.game = n.game \
               LEFT JOIN event e ON e.game = n.game \
               AND e.seq = (SELECT max(l.seq) FROM event l WHERE l.game = n.game) \
               JOIN player p ON p.key = CASE coalesce(k.at_fault, e.at_fault) \
               WHEN 'first' THEN g.first_player WHEN 'second' THEN g.second_player END \
               WHERE n.ended_at >= ? AND coalesce(k.reason, e.reason) IN ('aborted', 'left') \
               AND p.kind <> 'guest' ORDER BY n.ended_at, n.number";
    let rows: Vec<(String, i64)> = db::query_as(sql).bind(since.0).fetch_all(connection)?;
    let decode = |(id, at): (String, i64)| Ok((parsed("player.id", &id)?, UnixMillis(at)));
    rows.into_iter().map(decode).collect()
}

/// All games that go on or are not settled, by looking through all games: the two should be the same.
pub(super) fn audit_live(connection: &Connection) -> Result<Vec<Loaded>, StoreError> {
    let sql = select_games!(
        "game g LEFT JOIN settlement n ON n.game = g.key",
        "WHERE n.number IS NULL OR g.key IN (SELECT game FROM live_game) ORDER BY g.key"
    );
    snapshot(connection, |connection| {
        let rows: Vec<GameRow> = db::query_as(sql).fetch_all(connection)?;
        with_events(connection, rows, Notes::Read)
    })
}

/// Finished games above a number, in order.
pub(super) fn audit_finished(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> Result<Vec<Loaded>, StoreError> {
    let query = GameQuery { after: Some(after), limit, notes: Notes::Read, ..GameQuery::default() };
    page(connection, &query)
}

/// Finished games, damaged ones left out.
pub(super) fn finished(connection: &Connection, query: &GameQuery) -> Result<Vec<StoredGame>, StoreError> {
    let (mut query, wanted) = (query.clone(), query.limit);
    let mut games = Vec::new();
    // A page with damaged games is filled up from the next one, so that a short page always means the end.
    loop {
        let loaded = page(connection, &query)?;
        let is_last = loaded.len() < query.limit as usize;
        let last_number = loaded.last().and_then(number_of);
        for game in loaded {
            match game {
                Ok(game) => games.push(game),
                Err(damaged) => report(&damaged),
            }
        }
        query.limit = wanted.saturating_sub(u32::try_from(games.len()).unwrap_or(u32::MAX));
        if is_last || query.limit == 0 || last_number.is_none() {
            return Ok(games);
        }
        query.after = last_number;
    }
}

fn page(connection: &Connection, query: &GameQuery) -> Result<Vec<Loaded>, StoreError> {
    let GameQuery { player, since, after, newest_first, limit, notes, seen_by } = query;
    let after = after.map(to_sql);
    let (above, below) = if *newest_first { (None, after) } else { (after, None) };
    let (of_all, of_player) = if *newest_first { DESCENDING } else { ASCENDING };
    let sql = if player.is_some() { of_player } else { of_all };
    snapshot(connection, |connection| {
        let mut above = above.unwrap_or(0);
        if let Some(since) = since {
            above = above.max(first_number_since(connection, *since)?.saturating_sub(1));
        }
        let rows: Vec<GameRow> = db::query_as(sql)
            .bind(above)
            .bind(below.unwrap_or(i64::MAX))
            .bind(since.map_or(i64::MIN, |since| since.0))
            .bind(*limit)
            .bind(player.as_ref().map(PlayerId::as_str))
            .bind(seen_by.bound())
            .fetch_all(connection)?;
        with_events(connection, rows, *notes)
    })
}

/// Games that are wanted, damaged ones left out.
fn chosen(connection: &Connection, wanted: &GamesWanted) -> Result<ChosenGames, StoreError> {
    let player = wanted.player.as_ref().map(PlayerId::as_str);
    let below = wanted.before.map_or(i64::MAX, to_sql);
    let above = match wanted.since {
        Some(since) => first_number_since(connection, since)?.saturating_sub(1),
        None => 0,
    };
    let (reach, sql) = if player.is_some() { (REACH.1, CHOSEN.1) } else { (REACH.0, CHOSEN.0) };
    let query = db::query_as(reach).bind(player).bind(above).bind(below).bind(wanted.look_at);
    let (Some(lowest), looked_at): (Option<i64>, i64) = query.fetch_one(connection)? else {
        return Ok(ChosenGames::default());
    };
    let filter = ChosenArguments::of(&wanted.filter);
    let rows: Vec<GameRow> = db::query_as(sql)
        .bind(lowest - 1)
        .bind(below)
        .bind(wanted.since.map_or(i64::MIN, |since| since.0))
        .bind(wanted.limit.saturating_add(1))
        .bind(player)
        .bind(filter.opponent)
        .bind(filter.bots)
        .bind(filter.variant)
        .bind(filter.rated)
        .bind(filter.until)
        .bind(filter.result)
        .bind(filter.player)
        .bind(filter.if_first)
        .bind(filter.if_second)
        .bind(filter.plies_min)
        .bind(filter.plies_max)
        .bind(filter.opening)
        .bind(wanted.seen_by.bound())
        .fetch_all(connection)?;
    let reach =
        Reach { lowest: number("settlement.number", lowest)?, looked_at: number("count", looked_at)? };
    Ok(reach.chosen(wanted, with_events(connection, rows, Notes::Spared)?))
}

/// The lowest number of a game that ended at or after a time: saves the search for recent games from looking through
/// all others. Numbers follow the commits and times the wall clock, so this is a bound and not a cursor.
fn first_number_since(connection: &Connection, since: UnixMillis) -> Result<i64, StoreError> {
    let sql = "SELECT min(number) FROM settlement INDEXED BY settlement_ended WHERE ended_at >= ?";
    let number: Option<i64> = db::query_scalar(sql).bind(since.0).fetch_one(connection)?;
    Ok(number.unwrap_or(i64::MAX))
}

pub(super) fn rated_between(
    connection: &Connection,
    players: &BySide<PlayerId>,
    since: UnixMillis,
) -> Result<u32, StoreError> {
    let sql = "WITH pair (a, b) AS (SELECT f.key, s.key FROM player f, player s WHERE f.id = ? AND s.id = ?) \
               SELECT count(*) FROM pair, game g WHERE g.rated = 1 AND g.started_at >= ? \
               AND min(g.first_player, g.second_player) = min(a, b) \
               AND max(g.first_player, g.second_player) = max(a, b)";
    let query = db::query_scalar(sql).bind(players.first.as_str()).bind(players.second.as_str());
    let count: i64 = query.bind(since.0).fetch_one(connection)?;
    Ok(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The keys of all games that go on.
pub(super) fn live_keys(connection: &Connection) -> Result<Vec<GameKeys>, StoreError> {
    let sql = "SELECT g.key, g.first_player, g.second_player FROM live_game l JOIN game g ON g.key = l.game";
    Ok(db::query_as(sql).fetch_all(connection)?)
}

/// Begins a game.
pub(super) fn start(
    connection: &Connection,
    spec: &GameSpec,
) -> Result<Result<GameKeys, Refused>, StoreError> {
    let players = "SELECT f.key, s.key FROM player f, player s WHERE f.id = ? AND s.id = ?";
    let BySide { first, second } = &spec.players;
    let players: Option<(i64, i64)> =
        db::query_as(players).bind(first.as_str()).bind(second.as_str()).fetch_optional(connection)?;
    if let Some((first_player, second_player)) = players
        && insert(connection, spec, first_player, second_player)?
    {
        // Not by RETURNING, for which SQLite makes a table, a tenth of what a game costs the writer.
        let key = connection.last_insert_rowid();
        db::query("INSERT INTO live_game (game) VALUES (?)").bind(key).execute(connection)?;
        return Ok(Ok(GameKeys { key, first_player, second_player }));
    }
    let sql = "SELECT 1 FROM game WHERE id = ?";
    let is_taken = db::query(sql).bind(spec.id.as_str()).has_row(connection)?;
    Ok(Err(if is_taken { Refused::IdTaken } else { Refused::NoSuchPlayer }))
}

/// Inserts a game of players with these keys; false if its id is taken.
fn insert(
    connection: &Connection,
    spec: &GameSpec,
    first_player: i64,
    second_player: i64,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO game (id, first_player, second_player, variant, bank_ms, increment_ms, move_ms, rated, \
               unrated_because, opening_kind, opening_moves, pair_id, pair_leg, pair_of, started_at, first_footing, \
               second_footing, first_version, second_version) \
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    let query = db::query(sql)
        .bind(spec.id.as_str())
        .bind(first_player)
        .bind(second_player)
        .bind(spec.variant.to_string())
        .bind(spec.time.bank_ms)
        .bind(spec.time.increment_ms)
        .bind(spec.time.move_ms)
        .bind(spec.rated)
        .bind(spec.unrated_because.map(UnratedReason::as_str))
        .bind(spec.opening.kind.word())
        .bind(&spec.opening.moves)
        .bind(spec.pair.as_ref().map(|pair| pair.id.as_str()))
        .bind(spec.pair.as_ref().map(|pair| pair.leg))
        .bind(spec.pair.as_ref().map(|pair| pair.of))
        .bind(spec.started_at.0)
        .bind(spec.footing.map(|footing| footing.first.word()))
        .bind(spec.footing.map(|footing| footing.second.word()))
        .bind(spec.versions.first.as_deref())
        .bind(spec.versions.second.as_deref());
    Ok(query.execute(connection)? == 1)
}

/// Notes how many illegal moves a side has made.
pub(super) fn count_illegal(connection: &Connection, game: &GameId, side: Side, count: u8) -> WriteOutcome {
    let sql = match side {
        Side::First => {
            "UPDATE live_game SET first_illegal = ? WHERE game = (SELECT key FROM game WHERE id = ?)"
        }
        Side::Second => {
            "UPDATE live_game SET second_illegal = ? WHERE game = (SELECT key FROM game WHERE id = ?)"
        }
    };
    let query = db::query(sql).bind(u32::from(count)).bind(game.as_str());
    Ok(done_if(query.execute(connection)?, Refused::NoSuchGame))
}

pub(super) fn set_conditional(
    connection: &Connection,
    game: &GameId,
    side: Side,
    moves: Option<&ConditionalMoves>,
) -> WriteOutcome {
    let sql = match side {
        Side::First => {
            "UPDATE live_game SET first_conditional = ? WHERE game = (SELECT key FROM game WHERE id = ?)"
        }
        Side::Second => {
            "UPDATE live_game SET second_conditional = ? WHERE game = (SELECT key FROM game WHERE id = ?)"
        }
    };
    let query = db::query(sql).bind(moves.map(ToString::to_string)).bind(game.as_str());
    Ok(done_if(query.execute(connection)?, Refused::NoSuchGame))
}

fn conditional_moves(
    connection: &Connection,
    only: Option<&GameId>,
) -> Result<HashMap<GameId, BySide<Option<ConditionalMoves>>>, StoreError> {
    let sql = "SELECT g.id, l.first_conditional, l.second_conditional \
               FROM live_game l JOIN game g ON g.key = l.game \
               WHERE (l.first_conditional IS NOT NULL OR l.second_conditional IS NOT NULL) \
               AND g.id = coalesce(?, g.id)";
    let query = db::query_as(sql).bind(only.map(GameId::as_str));
    let rows: Vec<(String, Option<String>, Option<String>)> = query.fetch_all(connection)?;
    let decode = |(game, first, second): (String, Option<String>, Option<String>)| {
        let moves = |column, text: Option<String>| text.map(|text| parsed(column, &text)).transpose();
        let first = moves("live_game.first_conditional", first)?;
        let second = moves("live_game.second_conditional", second)?;
        Ok((parsed("game.id", &game)?, BySide { first, second }))
    };
    rows.into_iter().map(decode).collect()
}

/// The illegal moves of both sides in those live games in which there were some.
fn illegal_moves(connection: &Connection) -> Result<HashMap<GameId, BySide<u8>>, StoreError> {
    let sql = "SELECT g.id, l.first_illegal, l.second_illegal FROM live_game l JOIN game g ON g.key = l.game \
               WHERE l.first_illegal > 0 OR l.second_illegal > 0";
    let rows: Vec<(String, i64, i64)> = db::query_as(sql).fetch_all(connection)?;
    let decode = |(game, first, second): (String, i64, i64)| {
        let first = number("live_game.first_illegal", first)?;
        let second = number("live_game.second_illegal", second)?;
        Ok((parsed("game.id", &game)?, BySide { first, second }))
    };
    rows.into_iter().map(decode).collect()
}
