//! Games: begun with a row, read back with their events and their settlement.

use std::collections::HashMap;

use async_trait::async_trait;
use fourfold_engine::{BySide, Side};

use super::PostgresStore;
use super::db::{self, Connection};
use super::players::{WriteOutcome, done_if};
use crate::model::conditional::ConditionalMoves;
use crate::model::ids::{GameId, PlayerId};
use crate::model::time::UnixMillis;
use crate::storage::games::{ChosenGames, GameOutline, GameQuery, GameStore, GamesWanted, Notes};
use crate::storage::record::StoredGame;
use crate::storage::rows::chosen::{ChosenArguments, Reach};
use crate::storage::rows::events::{EventRow, EventsOfGames, event_columns};
use crate::storage::rows::games::{
    GameKeys, GameRow, Loaded, OutlineRow, assembled, number_of, select_outlines, sound,
};
use crate::storage::rows::packed::select_packed;
use crate::storage::rows::{number, parsed, to_sql};
use crate::storage::store::{Refused, StoreError};

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
    "WHERE n.number > $1 AND n.number < $2 AND n.ended_at >= $3 AND $5::text IS NULL \
     AND ($6::text IS NULL OR g.unrated_because IS DISTINCT FROM 'private' OR $6 IN (f.id, s.id)) \
     ORDER BY n.number LIMIT $4",
    "WHERE o.player = (SELECT key FROM player WHERE id = $5) AND o.number > $1 AND o.number < $2 \
     AND n.ended_at >= $3 \
     AND ($6::text IS NULL OR g.unrated_because IS DISTINCT FROM 'private' OR $6 IN (f.id, s.id)) \
     ORDER BY o.number LIMIT $4"
);
const DESCENDING: (&str, &str) = select_page!(
    "WHERE n.number > $1 AND n.number < $2 AND n.ended_at >= $3 AND $5::text IS NULL \
     AND ($6::text IS NULL OR g.unrated_because IS DISTINCT FROM 'private' OR $6 IN (f.id, s.id)) \
     ORDER BY n.number DESC LIMIT $4",
    "WHERE o.player = (SELECT key FROM player WHERE id = $5) AND o.number > $1 AND o.number < $2 \
     AND n.ended_at >= $3 \
     AND ($6::text IS NULL OR g.unrated_because IS DISTINCT FROM 'private' OR $6 IN (f.id, s.id)) \
     ORDER BY o.number DESC LIMIT $4"
);

/// How far down games are looked at, and how many that are: of a player if one is given, above and below numbers, so
/// many at most.
const REACH: (&str, &str) = (
    "SELECT min(number) AS lowest, count(*) AS looked_at FROM (SELECT n.number FROM settlement n \
     WHERE $1::text IS NULL AND n.number > $2 AND n.number < $3 ORDER BY n.number DESC LIMIT $4) l",
    "SELECT min(number) AS lowest, count(*) AS looked_at FROM (SELECT o.number FROM player_game o \
     WHERE o.player = (SELECT key FROM player WHERE id = $1) AND o.number > $2 AND o.number < $3 \
     ORDER BY o.number DESC LIMIT $4) l",
);

/// What a filter takes, behind the conditions of [`DESCENDING`].
macro_rules! select_chosen {
    ($from:literal, $which:literal) => {
        select_games!(
            $from,
            concat!(
                $which,
                " AND n.ended_at >= $3 AND ($6::text IS NULL OR $6 IN (f.id, s.id)) \
                 AND ($7::bigint IS NULL OR $7 = (f.kind = 'bot')::int + (s.kind = 'bot')::int) \
                 AND ($8::text IS NULL OR g.variant = $8) AND ($9::boolean IS NULL OR $9 = \
                 (g.rated AND coalesce(n.unrated_because, g.unrated_because) IS NULL)) \
                 AND n.ended_at < $10 AND ($11::text IS NULL OR n.result = $11) \
                 AND ($12::text IS NULL OR (f.id = $12 AND n.result = $13::text) \
                 OR (s.id = $12 AND n.result = $14::text)) \
                 AND length(n.moves) BETWEEN $15::bigint AND $16::bigint AND starts_with(n.moves, $17) \
                 AND ($18::text IS NULL OR g.unrated_because IS DISTINCT FROM 'private' OR $18 IN (f.id, s.id)) \
                 ORDER BY n.number DESC LIMIT $4"
            )
        )
    };
}
const CHOSEN: (&str, &str) = (
    select_chosen!(
        "settlement n JOIN game g ON g.key = n.game",
        "WHERE $5::text IS NULL AND n.number > $1 AND n.number < $2"
    ),
    select_chosen!(
        "player_game o JOIN settlement n ON n.number = o.number JOIN game g ON g.key = n.game",
        "WHERE o.player = (SELECT key FROM player WHERE id = $5) AND o.number > $1 AND o.number < $2"
    ),
);

#[async_trait]
impl GameStore for PostgresStore {
    async fn unfinished_games(&self) -> Result<Vec<Loaded>, StoreError> {
        let moment = self.moment().await?;
        let loaded = live(&moment).await?;
        moment.end().await?;
        Ok(loaded.into_iter().map(|(_, loaded)| loaded).collect())
    }

    async fn game(&self, id: &GameId) -> Result<Option<StoredGame>, StoreError> {
        let sql = select_games!("game g LEFT JOIN settlement n ON n.game = g.key", "WHERE g.id = $1");
        // Of one moment, so that a move between the two reads does not tear the game apart.
        let moment = self.moment_as_written().await?;
        let rows: Vec<GameRow> = db::query_as(sql).bind(id.as_str()).fetch_all(&moment).await?;
        let game = with_events(&moment, rows, Notes::Read).await?.pop();
        moment.end().await?;
        Ok(game.transpose()?)
    }

    async fn finished_games(&self, query: &GameQuery) -> Result<Vec<StoredGame>, StoreError> {
        let (mut query, wanted) = (query.clone(), query.limit);
        let mut games = Vec::new();
        // A page with damaged games is filled up from the next one, so that a short page always means the end.
        loop {
            let loaded = self.page(&query).await?;
            let is_last = loaded.len() < query.limit as usize;
            let last_number = loaded.last().and_then(number_of);
            games.extend(sound(loaded));
            query.limit = wanted.saturating_sub(u32::try_from(games.len()).unwrap_or(u32::MAX));
            if is_last || query.limit == 0 || last_number.is_none() {
                return Ok(games);
            }
            query.after = last_number;
        }
    }

    async fn chosen_games(&self, wanted: &GamesWanted) -> Result<ChosenGames, StoreError> {
        let moment = self.moment_as_written().await?;
        let chosen = chosen(&moment, wanted).await?;
        moment.end().await?;
        Ok(chosen)
    }

    async fn outlines(&self, player: &PlayerId, limit: u32) -> Result<Vec<GameOutline>, StoreError> {
        let query = db::query_as(select_outlines!("$1", "$2")).bind(player.as_str()).bind(limit);
        let rows: Vec<OutlineRow> = query.fetch_all(&*self.reader().await?).await?;
        Ok(OutlineRow::sound(&rows))
    }

    async fn last_end_of(&self, player: &PlayerId) -> Result<Option<UnixMillis>, StoreError> {
        // Without what else there is to a game: the plan of that took longer than all the rest.
        let sql = "SELECT n.ended_at FROM player_game o JOIN settlement n ON n.number = o.number \
                   WHERE o.player = (SELECT key FROM player WHERE id = $1) ORDER BY o.number DESC LIMIT 1";
        let query = db::query_scalar(sql).bind(player.as_str());
        let ended_at: Option<i64> = query.fetch_optional(&*self.reader().await?).await?;
        Ok(ended_at.map(UnixMillis))
    }

    async fn open_series(&self, since: UnixMillis) -> Result<Vec<StoredGame>, StoreError> {
        let sql = select_games!(
            "settlement n JOIN game g ON g.key = n.game",
            "WHERE n.ended_at >= $1 AND g.pair_leg < g.pair_of AND NOT EXISTS \
             (SELECT FROM game h WHERE h.pair_id = g.pair_id AND h.pair_leg > g.pair_leg) ORDER BY n.number"
        );
        let moment = self.moment().await?;
        let rows: Vec<GameRow> = db::query_as(sql).bind(since.0).fetch_all(&moment).await?;
        let loaded = with_events(&moment, rows, Notes::Read).await?;
        moment.end().await?;
        Ok(sound(loaded))
    }

    async fn departures(&self, since: UnixMillis) -> Result<Vec<(PlayerId, UnixMillis)>, StoreError> {
        let sql = "SELECT p.id, n.ended_at FROM settlement n JOIN game g ON g.key = n.game \
                   LEFT JOIN packed_log k ON k.game = n.game LEFT JOIN event e ON e.game = n.game \
                   AND e.seq = (SELECT max(l.seq) FROM event l WHERE l.game = n.game) \
                   JOIN player p ON p.key = CASE coalesce(k.at_fault, e.at_fault) \
                   WHEN 'first' THEN g.first_player WHEN 'second' THEN g.second_player END \
                   WHERE n.ended_at >= $1 AND coalesce(k.reason, e.reason) IN ('aborted', 'left') \
                   AND p.kind <> 'guest' ORDER BY n.ended_at, n.number";
        let rows: Vec<(String, i64)> =
            db::query_as(sql).bind(since.0).fetch_all(&*self.reader().await?).await?;
        let decode = |(id, at): (String, i64)| Ok((parsed("player.id", &id)?, UnixMillis(at)));
        rows.into_iter().map(decode).collect()
    }

    async fn illegal_moves(&self) -> Result<HashMap<GameId, BySide<u8>>, StoreError> {
        illegal_moves(&*self.reader().await?).await
    }

    async fn conditional_moves(
        &self,
        only: Option<&GameId>,
    ) -> Result<HashMap<GameId, BySide<Option<ConditionalMoves>>>, StoreError> {
        conditional_moves(&*self.reader().await?, only).await
    }

    async fn rated_games_between(
        &self,
        players: &BySide<PlayerId>,
        since: UnixMillis,
    ) -> Result<u32, StoreError> {
        let sql = "WITH pair (a, b) AS \
                   (SELECT f.key, s.key FROM player f, player s WHERE f.id = $1 AND s.id = $2) \
                   SELECT count(*) FROM pair, game g WHERE g.rated AND g.started_at >= $3 \
                   AND LEAST(g.first_player, g.second_player) = LEAST(a, b) \
                   AND GREATEST(g.first_player, g.second_player) = GREATEST(a, b)";
        let query = db::query_scalar(sql).bind(players.first.as_str()).bind(players.second.as_str());
        let count: i64 = query.bind(since.0).fetch_one(&*self.reader().await?).await?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

impl PostgresStore {
    /// Finished games, damaged ones too.
    pub(super) async fn page(&self, query: &GameQuery) -> Result<Vec<Loaded>, StoreError> {
        let GameQuery { player, since, after, newest_first, limit, notes, seen_by } = query;
        let after = after.map(to_sql);
        let (above, below) = if *newest_first { (None, after) } else { (after, None) };
        let (of_all, of_player) = if *newest_first { DESCENDING } else { ASCENDING };
        let sql = if player.is_some() { of_player } else { of_all };
        let moment = self.moment_as_written().await?;
        let mut above = above.unwrap_or(0);
        if let Some(since) = since {
            above = above.max(first_number_since(&moment, *since).await?.saturating_sub(1));
        }
        let rows: Vec<GameRow> = db::query_as(sql)
            .bind(above)
            .bind(below.unwrap_or(i64::MAX))
            .bind(since.map_or(i64::MIN, |since| since.0))
            .bind(*limit)
            .bind(player.as_ref().map(PlayerId::as_str))
            .bind(seen_by.bound())
            .fetch_all(&moment)
            .await?;
        let loaded = with_events(&moment, rows, *notes).await?;
        moment.end().await?;
        Ok(loaded)
    }

    /// Games whose pairs' ids begin so, in the order in which they began, damaged ones left out.
    pub(super) async fn games_of_pairs(&self, prefix: &str) -> Result<Vec<StoredGame>, StoreError> {
        let sql = select_games!(
            "game g LEFT JOIN settlement n ON n.game = g.key",
            "WHERE g.pair_id >= $1 AND g.pair_id < $2 ORDER BY g.key"
        );
        // Ids are ASCII, of which this is the last character.
        let end = format!("{prefix}\u{7f}");
        let moment = self.moment().await?;
        let rows: Vec<GameRow> = db::query_as(sql).bind(prefix).bind(end).fetch_all(&moment).await?;
        let loaded = with_events(&moment, rows, Notes::Read).await?;
        moment.end().await?;
        Ok(sound(loaded))
    }

    /// All games that go on or are not settled, by looking through all games: the two should be the same.
    pub(super) async fn all_unsettled(&self) -> Result<Vec<Loaded>, StoreError> {
        let sql = select_games!(
            "game g LEFT JOIN settlement n ON n.game = g.key",
            "WHERE n.number IS NULL OR g.key IN (SELECT game FROM live_game) ORDER BY g.key"
        );
        let moment = self.moment().await?;
        let rows: Vec<GameRow> = db::query_as(sql).fetch_all(&moment).await?;
        let loaded = with_events(&moment, rows, Notes::Read).await?;
        moment.end().await?;
        Ok(loaded)
    }
}

/// All games that go on, in the order in which they began, with their keys.
pub(super) async fn live(connection: &Connection) -> Result<Vec<(i64, Loaded)>, StoreError> {
    let sql = select_games!(
        "live_game l JOIN game g ON g.key = l.game LEFT JOIN settlement n ON n.game = g.key",
        "ORDER BY g.key"
    );
    let rows: Vec<GameRow> = db::query_as(sql).fetch_all(connection).await?;
    let keys: Vec<i64> = rows.iter().map(|row| row.key).collect();
    Ok(keys.into_iter().zip(with_events(connection, rows, Notes::Read).await?).collect())
}

/// Fetches the events of games and puts both together, in the order of the games. To be called within one moment, or a
/// game that is packed meanwhile has no events.
async fn with_events(
    connection: &Connection,
    games: Vec<GameRow>,
    notes: Notes,
) -> Result<Vec<Loaded>, StoreError> {
    let keys: Vec<i64> = games.iter().map(|game| game.key).collect();
    let mut events = rows_of(connection, &keys).await?;
    let (whole, spared) = select_packed!("= ANY($1)", "NULL::bytea");
    let sql = if notes == Notes::Read { whole } else { spared };
    for row in db::query_as(sql).bind(keys).fetch_all(connection).await? {
        events.add_packed(row);
    }
    Ok(assembled(games, events))
}

/// The logs of games that are not packed.
pub(super) async fn rows_of(connection: &Connection, games: &[i64]) -> Result<EventsOfGames, StoreError> {
    let sql = concat!("SELECT ", event_columns!(), " FROM event WHERE game = ANY($1) ORDER BY game, seq");
    let rows: Vec<EventRow> = db::query_as(sql).bind(games.to_vec()).fetch_all(connection).await?;
    let mut events = EventsOfGames::default();
    for row in rows {
        events.add(row);
    }
    Ok(events)
}

/// Games that are wanted, damaged ones left out.
async fn chosen(connection: &Connection, wanted: &GamesWanted) -> Result<ChosenGames, StoreError> {
    let player = wanted.player.as_ref().map(PlayerId::as_str);
    let below = wanted.before.map_or(i64::MAX, to_sql);
    let above = match wanted.since {
        Some(since) => first_number_since(connection, since).await?.saturating_sub(1),
        None => 0,
    };
    let (reach, sql) = if player.is_some() { (REACH.1, CHOSEN.1) } else { (REACH.0, CHOSEN.0) };
    let query = db::query_as(reach).bind(player).bind(above).bind(below).bind(wanted.look_at);
    let (Some(lowest), looked_at): (Option<i64>, i64) = query.fetch_one(connection).await? else {
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
        .fetch_all(connection)
        .await?;
    let reach =
        Reach { lowest: number("settlement.number", lowest)?, looked_at: number("count", looked_at)? };
    Ok(reach.chosen(wanted, with_events(connection, rows, Notes::Spared).await?))
}

/// The lowest number of a game that ended at or after a time: saves the search for recent games from looking through
/// all others. Numbers follow the commits and times the wall clock, so this is a bound and not a cursor.
async fn first_number_since(connection: &Connection, since: UnixMillis) -> Result<i64, StoreError> {
    let sql = "SELECT min(number) FROM settlement WHERE ended_at >= $1";
    let number: Option<i64> = db::query_scalar(sql).bind(since.0).fetch_one(connection).await?;
    Ok(number.unwrap_or(i64::MAX))
}

/// The keys of all games that go on.
pub(super) async fn live_keys(connection: &Connection) -> Result<Vec<GameKeys>, StoreError> {
    let sql = "SELECT g.key, g.first_player, g.second_player FROM live_game l JOIN game g ON g.key = l.game";
    db::query_as(sql).fetch_all(connection).await
}

/// Notes how many illegal moves a side has made.
pub(super) async fn count_illegal(
    connection: &Connection,
    game: &GameId,
    side: Side,
    count: u8,
) -> WriteOutcome {
    let sql = match side {
        Side::First => {
            "UPDATE live_game SET first_illegal = $1 WHERE game = (SELECT key FROM game WHERE id = $2)"
        }
        Side::Second => {
            "UPDATE live_game SET second_illegal = $1 WHERE game = (SELECT key FROM game WHERE id = $2)"
        }
    };
    let query = db::query(sql).bind(u32::from(count)).bind(game.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchGame))
}

pub(super) async fn set_conditional(
    connection: &Connection,
    game: &GameId,
    side: Side,
    moves: Option<&ConditionalMoves>,
) -> WriteOutcome {
    let sql = match side {
        Side::First => {
            "UPDATE live_game SET first_conditional = $1 WHERE game = (SELECT key FROM game WHERE id = $2)"
        }
        Side::Second => {
            "UPDATE live_game SET second_conditional = $1 WHERE game = (SELECT key FROM game WHERE id = $2)"
        }
    };
    let query = db::query(sql).bind(moves.map(ToString::to_string)).bind(game.as_str());
    Ok(done_if(query.execute(connection).await?, Refused::NoSuchGame))
}

async fn conditional_moves(
    connection: &Connection,
    only: Option<&GameId>,
) -> Result<HashMap<GameId, BySide<Option<ConditionalMoves>>>, StoreError> {
    let sql = "SELECT g.id, l.first_conditional, l.second_conditional \
               FROM live_game l JOIN game g ON g.key = l.game \
               WHERE (l.first_conditional IS NOT NULL OR l.second_conditional IS NOT NULL) \
               AND g.id = coalesce($1::text, g.id)";
    let query = db::query_as(sql).bind(only.map(GameId::as_str));
    let rows: Vec<(String, Option<String>, Option<String>)> = query.fetch_all(connection).await?;
    let decode = |(game, first, second): (String, Option<String>, Option<String>)| {
        let moves = |column, text: Option<String>| text.map(|text| parsed(column, &text)).transpose();
        let first = moves("live_game.first_conditional", first)?;
        let second = moves("live_game.second_conditional", second)?;
        Ok((parsed("game.id", &game)?, BySide { first, second }))
    };
    rows.into_iter().map(decode).collect()
}

/// The illegal moves of both sides in those live games in which there were some.
async fn illegal_moves(connection: &Connection) -> Result<HashMap<GameId, BySide<u8>>, StoreError> {
    let sql = "SELECT g.id, l.first_illegal, l.second_illegal FROM live_game l JOIN game g ON g.key = l.game \
               WHERE l.first_illegal > 0 OR l.second_illegal > 0";
    let rows: Vec<(String, i64, i64)> = db::query_as(sql).fetch_all(connection).await?;
    let decode = |(game, first, second): (String, i64, i64)| {
        let first = number("live_game.first_illegal", first)?;
        let second = number("live_game.second_illegal", second)?;
        Ok((parsed("game.id", &game)?, BySide { first, second }))
    };
    rows.into_iter().map(decode).collect()
}
