//! The end of a game: its number and what it does to the ratings, in the transaction of its last event.

use fourfold_engine::{BySide, Side};
use sqlx::{FromRow, SqliteConnection};

use super::convert::{number, parsed, to_sql, word};
use super::games::GameKeys;
use crate::rating::eligibility::{Course, REMEMBERED_GAMES};
use crate::rating::elo::{MilliElo, Standing};
use crate::storage::record::{RatingRow, Settlement, UnixMillis, UnratedReason};
use crate::storage::settle::{Change, Referee, Verdict};
use crate::storage::store::StoreError;
use crate::storage::words::Word;

/// Settles a game that ends. The primary keys of all rows see to it that this happens once.
pub(super) async fn settle(
    connection: &mut SqliteConnection,
    keys: GameKeys,
    referee: &Referee<'_>,
    ended_at: UnixMillis,
) -> Result<Settlement, StoreError> {
    let verdict = if let Some(verdict) = referee.judge_start() {
        verdict
    } else {
        let rows = rating_rows(connection, keys, referee).await?;
        let remembered = last_rated_games(connection, keys, referee).await?;
        referee.judge(rows, &remembered)
    };
    let unrated_because = match verdict {
        Verdict::Rated(_) => None,
        Verdict::Unrated(reason) => reason,
    };
    let place = insert_settlement(connection, keys, referee, unrated_because, ended_at).await?;
    let ratings = match verdict {
        Verdict::Unrated(_) => None,
        Verdict::Rated(changes) => {
            insert_changes(connection, keys, referee, place, &changes).await?;
            Some(changes.map(|change| change.entry))
        }
    };
    Ok(Settlement { number: number("settlement.number", place)?, ratings, unrated_because })
}

#[derive(FromRow, Debug)]
struct StandingRow {
    player: i64,
    rating: i64,
    games: i64,
    wins: i64,
    draws: i64,
    losses: i64,
}

/// Both players' ratings in the variant, a newcomer's if there is none.
async fn rating_rows(
    connection: &mut SqliteConnection,
    keys: GameKeys,
    referee: &Referee<'_>,
) -> Result<BySide<RatingRow>, StoreError> {
    let players = keys.players();
    let sql = "SELECT player, rating, games, wins, draws, losses FROM rating \
               WHERE variant = ? AND player IN (?, ?)";
    let query = sqlx::query_as(sql).bind(referee.spec.variant.to_string());
    let rows: Vec<StandingRow> = query.bind(players.first).bind(players.second).fetch_all(connection).await?;
    let mut ratings = BySide::<RatingRow>::default();
    for row in rows {
        let side = if row.player == players.first { Side::First } else { Side::Second };
        ratings[side] = RatingRow {
            standing: Standing { rating: MilliElo(row.rating), games: number("rating.games", row.games)? },
            wins: number("rating.wins", row.wins)?,
            draws: number("rating.draws", row.draws)?,
            losses: number("rating.losses", row.losses)?,
        };
    }
    Ok(ratings)
}

/// The last rated games of these players in this variant.
async fn last_rated_games(
    connection: &mut SqliteConnection,
    keys: GameKeys,
    referee: &Referee<'_>,
) -> Result<Vec<Course>, StoreError> {
    let BySide { first, second } = keys.players();
    // Each game has two entries; the index is on the one of the player with the lower key.
    let sql = "SELECT f.id, n.moves, n.result FROM rating_entry e \
               JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
               JOIN player f ON f.key = g.first_player \
               WHERE e.player = ? AND e.opponent = ? AND e.player < e.opponent AND e.variant = ? \
               ORDER BY e.number DESC LIMIT ?";
    let rows: Vec<(String, String, String)> = sqlx::query_as(sql)
        .bind(first.min(second))
        .bind(first.max(second))
        .bind(referee.spec.variant.to_string())
        .bind(REMEMBERED_GAMES)
        .fetch_all(connection)
        .await?;
    let course = |(first, moves, result): (String, String, String)| {
        let result = word("settlement.result", &result)?;
        Ok(Course { first: parsed("player.id", &first)?, moves, result })
    };
    rows.into_iter().map(course).collect()
}

/// Takes the next number. There is one writer, so the highest one so far cannot change meanwhile.
async fn insert_settlement(
    connection: &mut SqliteConnection,
    keys: GameKeys,
    referee: &Referee<'_>,
    unrated_because: Option<UnratedReason>,
    ended_at: UnixMillis,
) -> Result<i64, StoreError> {
    let sql = "INSERT INTO settlement (number, game, result, moves, unrated_because, ended_at) \
               SELECT coalesce(max(number), 0) + 1, ?, ?, ?, ?, ? FROM settlement RETURNING number";
    let place: i64 = sqlx::query_scalar(sql)
        .bind(keys.key)
        .bind(referee.ending.result.word())
        .bind(referee.moves)
        .bind(unrated_because.map(UnratedReason::as_str))
        .bind(ended_at.0)
        .fetch_one(&mut *connection)
        .await?;
    sqlx::query("DELETE FROM live_game WHERE game = ?").bind(keys.key).execute(&mut *connection).await?;
    // A player's game against itself has one row.
    let BySide { first, second } = keys.players();
    let sql = "INSERT INTO player_game (player, number) VALUES (?1, ?3), (?2, ?3) ON CONFLICT DO NOTHING";
    sqlx::query(sql).bind(first).bind(second).bind(place).execute(connection).await?;
    Ok(place)
}

async fn insert_changes(
    connection: &mut SqliteConnection,
    keys: GameKeys,
    referee: &Referee<'_>,
    place: i64,
    changes: &BySide<Change>,
) -> Result<(), StoreError> {
    let variant = referee.spec.variant.to_string();
    let players = keys.players();
    for side in Side::BOTH {
        let Change { entry, row } = changes[side];
        let sql = "INSERT INTO rating_entry (player, variant, number, opponent, before, delta, after) \
                   VALUES (?, ?, ?, ?, ?, ?, ?)";
        sqlx::query(sql)
            .bind(players[side])
            .bind(&variant)
            .bind(place)
            .bind(players[side.opponent()])
            .bind(entry.before.0)
            .bind(entry.delta)
            .bind(entry.after.0)
            .execute(&mut *connection)
            .await?;
        let sql = "INSERT INTO rating (player, variant, rating, games, wins, draws, losses) \
                   VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET rating = excluded.rating, \
                   games = excluded.games, wins = excluded.wins, draws = excluded.draws, losses = excluded.losses";
        sqlx::query(sql)
            .bind(players[side])
            .bind(&variant)
            .bind(row.standing.rating.0)
            .bind(to_sql(row.standing.games))
            .bind(to_sql(row.wins))
            .bind(to_sql(row.draws))
            .bind(to_sql(row.losses))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
