//! Taking a game out: the reason into the audit log, and all live ratings of its variant again without it.
//!
//! A later game's rating depends on every one before it, so all games of the variant are settled anew, in one
//! transaction with the rest. Their moves are in the settlements, so no events are read. Meanwhile no move is stored;
//! the rooms know, and let no flag fall.

use std::fmt::Write as _;

use fourfold_engine::{BySide, Variant, WinDrawLoss};

use super::convert::{parsed, to_sql, word};
use super::db::{self, Connection};
use super::error::Damage;
use super::{games, judgements, learners, published};
use crate::model::clock::TimeControl;
use crate::model::ids::{GameId, PlayerId};
use crate::model::rating::elo::RatingEntry;
use crate::model::rating::newcomers::Footing;
use crate::model::result::EndReason;
use crate::storage::record::{Ending, GameSpec, OpeningSource, RatingRow, UnratedReason};

use crate::model::time::UnixMillis;
use crate::storage::refold::{Refold, Voided};
use crate::storage::settle::{OpponentStanding, RatingUpdate, RatingVerdict, Referee};
use crate::storage::store::{Refused, StoreError, Written};

/// Entries in one statement: a list of some 50 KiB.
const CHUNK: usize = 1_000;

/// Takes a game out, or finds why it cannot be before anything is written.
pub(super) fn void(
    connection: &Connection,
    game: &GameId,
    reason: &str,
    at: UnixMillis,
) -> Result<Result<Written, Refused>, StoreError> {
    let sql = "SELECT n.number, g.variant, n.unrated_because FROM settlement n JOIN game g ON g.key = n.game \
               WHERE g.id = ?";
    let found: Option<(i64, String, Option<String>)> =
        db::query_as(sql).bind(game.as_str()).fetch_optional(connection)?;
    let Some((number, variant, unrated_because)) = found else { return Ok(Err(Refused::NoSuchGame)) };
    if unrated_because.as_deref() == Some(UnratedReason::Voided.as_str()) {
        return Ok(Err(Refused::AlreadyVoided));
    }
    let sql = "INSERT INTO audit (at, action, subject, reason) VALUES (?, 'void', ?, ?)";
    db::query(sql).bind(at.0).bind(game.as_str()).bind(reason).execute(connection)?;
    set_unrated(connection, number, Some(UnratedReason::Voided))?;
    refold(connection, &variant, number)?;
    judgements::sum_again(connection, &variant)?;
    published::unpublish(connection)?;
    learners::withdraw_game(connection, game)
}

fn set_unrated(
    connection: &Connection,
    number: i64,
    reason: Option<UnratedReason>,
) -> Result<(), StoreError> {
    let sql = "UPDATE settlement SET unrated_because = ? WHERE number = ?";
    let query = db::query(sql).bind(reason.map(UnratedReason::as_str)).bind(number);
    query.execute(connection)?;
    Ok(())
}

row! {
    /// A finished game that was meant to be rated.
    #[derive(Debug)]
    struct VoidingCandidate {
        number: i64,
        first: String,
        second: String,
        first_key: i64,
        second_key: i64,
        moves: String,
        first_footing: Option<String>,
        second_footing: Option<String>,
        ended_at: i64,
        result: String,
        /// Of short games; whether others ended by a line or otherwise changes nothing.
        reason: Option<String>,
        unrated_because: Option<String>,
    }
}

impl VoidingCandidate {
    /// What judging looks at.
    fn spec(&self, variant: Variant) -> Result<GameSpec, Damage> {
        let players = BySide {
            first: parsed::<PlayerId>("player.id", &self.first)?,
            second: parsed("player.id", &self.second)?,
        };
        Ok(GameSpec {
            id: "x".parse().map_err(|_| Damage("no id".into()))?,
            players,
            variant,
            time: TimeControl { bank_ms: None, increment_ms: 0, move_ms: None },
            rated: true,
            unrated_because: None,
            footing: self.footing()?,
            opening: OpeningSource::default(),
            pair: None,
            started_at: UnixMillis::default(),
        })
    }

    fn footing(&self) -> Result<Option<BySide<Footing>>, Damage> {
        games::footing(self.first_footing.as_deref(), self.second_footing.as_deref())
    }

    fn ending(&self) -> Result<Ending, Damage> {
        let reason = self.reason.as_deref().map(|reason| word("event.reason", reason)).transpose()?;
        let reason = reason.unwrap_or(EndReason::Full);
        Ok(Ending { result: word("settlement.result", &self.result)?, reason, by: None })
    }
}

/// Settles all games of a variant again, and writes what has changed from number `from` on.
fn refold(connection: &Connection, variant: &str, from: i64) -> Result<(), StoreError> {
    let sql = "SELECT n.number, f.id AS first, s.id AS second, f.key AS first_key, s.key AS second_key, n.moves, \
               g.first_footing, g.second_footing, n.ended_at, n.result, n.unrated_because, CASE WHEN length(n.moves) < 7 THEN \
               (SELECT e.reason FROM event e WHERE e.game = n.game ORDER BY e.seq DESC LIMIT 1) END AS reason \
               FROM settlement n JOIN game g ON g.key = n.game JOIN player f ON f.key = g.first_player \
               JOIN player s ON s.key = g.second_player \
               WHERE g.variant = ? AND g.rated = 1 AND g.unrated_because IS NULL ORDER BY n.number";
    let candidates: Vec<VoidingCandidate> = db::query_as(sql).bind(variant).fetch_all(connection)?;
    let parsed_variant: Variant = parsed("game.variant", variant)?;
    let mut fold = Refold::default();
    let mut entries = Vec::new();
    for candidate in &candidates {
        let (spec, ending) = (candidate.spec(parsed_variant)?, candidate.ending()?);
        let before = candidate.unrated_because.as_deref();
        let is_voided = before == Some(UnratedReason::Voided.as_str());
        let voided = if is_voided { Voided::Yes } else { Voided::No };
        let (referee, ended_at) =
            (Referee { spec: &spec, moves: &candidate.moves, ending }, UnixMillis(candidate.ended_at));
        let verdict = fold.settle(&referee, ended_at, voided);
        if candidate.number < from {
            continue;
        }
        let unrated = match verdict {
            RatingVerdict::Rated(changes) => {
                let keys = (candidate.first_key, candidate.second_key);
                entries.push(VoidingEntry { number: candidate.number, keys, ended_at, changes });
                None
            }
            RatingVerdict::Unrated(reason) => reason,
        };
        if unrated.map(UnratedReason::as_str) != before {
            set_unrated(connection, candidate.number, unrated)?;
        }
    }
    let sql = "DELETE FROM rating_entry WHERE variant = ? AND number >= ?";
    db::query(sql).bind(variant).bind(from).execute(connection)?;
    for chunk in entries.chunks(CHUNK) {
        insert_entries(connection, variant, chunk)?;
    }
    replace_ratings(connection, variant, &fold)
}

/// Both players' entries of one game.
struct VoidingEntry {
    number: i64,
    keys: (i64, i64),
    ended_at: UnixMillis,
    changes: BySide<RatingUpdate>,
}

impl VoidingEntry {
    /// The rows as lists in JSON.
    fn rows(&self) -> [String; 2] {
        let (first, second) = self.keys;
        let row = |player: i64, opponent: i64, change: &RatingUpdate| {
            let RatingEntry { before, delta, after } = change.entry;
            let from_newcomer_at = match change.opponent {
                OpponentStanding::New => self.ended_at.0.to_string(),
                OpponentStanding::Known => "null".to_owned(),
            };
            format!(
                "[{player},{},{opponent},{},{delta},{},{from_newcomer_at}]",
                self.number, before.0, after.0
            )
        };
        [row(first, second, &self.changes.first), row(second, first, &self.changes.second)]
    }
}

fn insert_entries(
    connection: &Connection,
    variant: &str,
    entries: &[VoidingEntry],
) -> Result<(), StoreError> {
    let rows: Vec<String> = entries.iter().flat_map(VoidingEntry::rows).collect();
    let sql = "INSERT INTO rating_entry (player, variant, number, opponent, before, delta, after, \
               from_newcomer_at) \
               SELECT value ->> 0, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 \
               FROM json_each(?)";
    let rows = format!("[{}]", rows.join(","));
    db::query(sql).bind(variant).bind(rows).execute(connection)?;
    Ok(())
}

fn replace_ratings(connection: &Connection, variant: &str, fold: &Refold) -> Result<(), StoreError> {
    db::query("DELETE FROM rating WHERE variant = ?").bind(variant).execute(connection)?;
    let mut rows = String::from("[");
    for (index, (player, row)) in fold.rows.iter().enumerate() {
        let RatingRow { standing, score: WinDrawLoss { wins, draws, losses } } = row;
        let comma = if index == 0 { "" } else { "," };
        let (player, rating) = (player.as_str(), standing.rating.0);
        let games = to_sql(standing.games);
        // Writing to a string never fails.
        let _ = write!(rows, "{comma}[\"{player}\",{rating},{games},{wins},{draws},{losses}]");
    }
    rows.push(']');
    let sql = "INSERT INTO rating (player, variant, rating, games, wins, draws, losses) \
               SELECT p.key, ?, r.value ->> 1, r.value ->> 2, r.value ->> 3, r.value ->> 4, r.value ->> 5 \
               FROM json_each(?) r JOIN player p ON p.id = r.value ->> 0";
    db::query(sql).bind(variant).bind(rows).execute(connection)?;
    Ok(())
}
