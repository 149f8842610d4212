//! The end of a game: its number and what it does to the ratings, in the transaction of its last event.

use fourfold_engine::{BySide, Side, Variant, WinDrawLoss};

use super::db::{self, Connection};
use crate::model::chain_hash::ChainHash;
use crate::model::rating::eligibility::{GameFingerprint, REMEMBERED_GAMES};
use crate::model::rating::newcomers;
use crate::model::time::UnixMillis;
use crate::storage::chain;
use crate::storage::record::{RatingRow, Settlement, UnratedReason};
use crate::storage::rows::{Damage, parsed, to_sql, word};
use crate::storage::rows::{
    games::GameKeys,
    settlement::{BeforeRow, EntryRow},
};
use crate::storage::settle::{OpponentStanding, Precedents, RatingUpdate, RatingVerdict, Referee};
use crate::storage::store::StoreError;
use crate::storage::words::Word;

/// Settles a game that ends. The primary keys of all rows see to it that this happens once.
pub(super) fn settle(
    connection: &Connection,
    keys: GameKeys,
    referee: &Referee<'_>,
    ended_at: UnixMillis,
) -> Result<Settlement, StoreError> {
    let Before { number, head, rows } = before(connection, keys, referee)?;
    let verdict = if let Some(verdict) = referee.judge_start() {
        verdict
    } else {
        let remembered = last_rated_games(connection, keys, referee)?;
        let mut gained = BySide::default();
        let opponents = referee.opponents(&rows);
        for side in Side::BOTH {
            if opponents[side] == OpponentStanding::New {
                let (player, variant) = (keys.players()[side], referee.spec.variant);
                gained[side] = gained_from_newcomers(connection, player, variant, ended_at)?;
            }
        }
        referee.judge(Precedents { rows, remembered: &remembered, gained })
    };
    let counted = crate::storage::rows::number("settlement.number", number)?;
    let Referee { spec, moves, ending } = *referee;
    let hash = chain::then(&head, &chain::content(counted, spec, moves, ending, ended_at));
    let end = SettlementRows { number, keys, referee, ended_at, hash: &hash };
    let (ratings, unrated_because) = match verdict {
        RatingVerdict::Rated(changes) => {
            end.insert_end(connection, None)?;
            for side in Side::BOTH {
                end.insert_rated(connection, side, &changes[side])?;
            }
            (Some(changes.map(|change| change.entry)), None)
        }
        RatingVerdict::Unrated(reason) => {
            end.insert_end(connection, reason)?;
            (None, reason)
        }
    };
    Ok(Settlement { number: counted, ratings, unrated_because, hash: Some(hash) })
}

/// How things stand before the game counts.
struct Before {
    /// The number that is due. There is one writer, so nobody else can take it.
    number: i64,
    /// The hash of the game before it.
    head: ChainHash,
    rows: BySide<RatingRow>,
}

fn before(connection: &Connection, keys: GameKeys, referee: &Referee<'_>) -> Result<Before, StoreError> {
    let players = keys.players();
    let sql = "SELECT (SELECT coalesce(max(number), 0) + 1 FROM settlement) AS number, \
               (SELECT hash FROM settlement ORDER BY number DESC LIMIT 1) AS head, p.key AS player, \
               r.rating, r.games, r.wins, r.draws, r.losses, p.start \
               FROM player p LEFT JOIN rating r ON r.player = p.key AND r.variant = ?1 WHERE p.key IN (?2, ?3)";
    let query = db::query_as(sql).bind(referee.spec.variant.to_string());
    let found: Vec<BeforeRow> = query.bind(players.first).bind(players.second).fetch_all(connection)?;
    let (number, head) = found
        .first()
        .map(|row| (row.number, chain::head(row.head.as_deref())))
        .ok_or(Damage("a game has no players".into()))?;
    let mut rows = BySide::<RatingRow>::default();
    for row in found {
        let side = if row.player == players.first { Side::First } else { Side::Second };
        rows[side] = row.rating(referee.spec.variant)?;
    }
    Ok(Before { number, head, rows })
}

/// What newcomers have added to a rating in the day before.
fn gained_from_newcomers(
    connection: &Connection,
    player: i64,
    variant: Variant,
    ended_at: UnixMillis,
) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(sum(delta), 0) FROM rating_entry \
               WHERE player = ? AND variant = ? AND from_newcomer_at > ? AND delta > 0";
    let query = db::query_scalar(sql).bind(player).bind(variant.to_string());
    Ok(query.bind(newcomers::since(ended_at).0).fetch_one(connection)?)
}

/// The last rated games of these players in this variant.
fn last_rated_games(
    connection: &Connection,
    keys: GameKeys,
    referee: &Referee<'_>,
) -> Result<Vec<GameFingerprint>, StoreError> {
    let BySide { first, second } = keys.players();
    // Each game has two entries; the index is on the one of the player with the lower key.
    let sql = "SELECT f.id, n.moves, n.result FROM rating_entry e \
               JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
               JOIN player f ON f.key = g.first_player \
               WHERE e.player = ? AND e.opponent = ? AND e.player < e.opponent AND e.variant = ? \
               ORDER BY e.number DESC LIMIT ?";
    let rows: Vec<(String, String, String)> = db::query_as(sql)
        .bind(first.min(second))
        .bind(first.max(second))
        .bind(referee.spec.variant.to_string())
        .bind(REMEMBERED_GAMES)
        .fetch_all(connection)?;
    let course = |(first, moves, result): (String, String, String)| {
        let result = word("settlement.result", &result)?;
        Ok(GameFingerprint { first: parsed("player.id", &first)?, moves, result })
    };
    rows.into_iter().map(course).collect()
}

/// The rows of a settlement.
struct SettlementRows<'a> {
    number: i64,
    keys: GameKeys,
    referee: &'a Referee<'a>,
    ended_at: UnixMillis,
    hash: &'a ChainHash,
}

impl SettlementRows<'_> {
    /// What is written in any case. A player's game against itself has one row in `player_game`.
    fn insert_end(
        &self,
        connection: &Connection,
        unrated_because: Option<UnratedReason>,
    ) -> Result<(), StoreError> {
        let Self { number, keys, referee, ended_at, hash } = self;
        let sql = "INSERT INTO settlement (number, game, result, moves, unrated_because, ended_at, hash) \
                   VALUES (?, ?, ?, ?, ?, ?, ?)";
        let query = db::query(sql).bind(*number).bind(keys.key).bind(referee.ending.result.word());
        let query = query.bind(referee.moves).bind(unrated_because.map(UnratedReason::as_str));
        query.bind(ended_at.0).bind(hash.as_str()).execute(connection)?;
        db::query("DELETE FROM live_game WHERE game = ?").bind(keys.key).execute(connection)?;
        let players = keys.players();
        let sql = "INSERT INTO player_game (player, number) VALUES (?1, ?2), (?3, ?2) ON CONFLICT DO NOTHING";
        let query = db::query(sql).bind(players.first).bind(*number).bind(players.second);
        query.execute(connection)?;
        Ok(())
    }

    /// What a rated game changes for one of its players.
    fn insert_rated(
        &self,
        connection: &Connection,
        side: Side,
        change: &RatingUpdate,
    ) -> Result<(), StoreError> {
        let variant = self.referee.spec.variant.to_string();
        let entry = EntryRow::of(self.keys.players(), side, self.number, self.ended_at, change);
        let sql = "INSERT INTO rating_entry (player, variant, number, opponent, before, delta, after, \
                   from_newcomer_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
        let query = db::query(sql).bind(entry.player).bind(&variant).bind(entry.number).bind(entry.opponent);
        let query = query.bind(entry.before).bind(entry.delta).bind(entry.after);
        query.bind(entry.from_newcomer_at).execute(connection)?;
        let RatingRow { standing, score: WinDrawLoss { wins, draws, losses } } = change.row;
        let sql = "INSERT INTO rating (player, variant, rating, games, wins, draws, losses) \
                   VALUES (?, ?, ?, ?, ?, ?, ?) \
                   ON CONFLICT DO UPDATE SET rating = excluded.rating, games = excluded.games, \
                   wins = excluded.wins, draws = excluded.draws, losses = excluded.losses";
        let query = db::query(sql).bind(entry.player).bind(&variant).bind(entry.after);
        let counts = [standing.games, wins, draws, losses].into_iter().map(to_sql);
        counts.fold(query, db::Query::bind).execute(connection)?;
        Ok(())
    }
}
