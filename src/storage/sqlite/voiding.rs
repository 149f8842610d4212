//! Taking a game out: the reason into the audit log, and all live ratings of its variant again without it.
//!
//! A later game's rating depends on every one before it, so all games of the variant are settled anew, in one
//! transaction with the rest. Their moves are in the settlements, so no events are read. Meanwhile no move is stored;
//! the rooms know, and let no flag fall.

use std::fmt::Write as _;

use fourfold_engine::WinDrawLoss;

use super::db::{self, Connection};
use super::{judgements, learners, operator_log, players, published, resets};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::record::{RatingRow, UnratedReason};
use crate::storage::resets::Resets;
use crate::storage::rows::settlement::EntryRow;
use crate::storage::rows::voiding::{Refolded, VoidingCandidate};
use crate::storage::rows::{parsed, to_sql};
use crate::storage::store::{Refused, StoreError, Written};

/// Selects the columns of a [`VoidingCandidate`] from `settlement n` and `game g`.
macro_rules! select_candidates {
    ($rest:literal) => {
        concat!(
            "SELECT n.number, f.id AS first, s.id AS second, f.key AS first_key, s.key AS second_key, n.moves, \
             g.first_footing, g.second_footing, n.ended_at, n.result, n.unrated_because, \
             CASE WHEN length(n.moves) < 7 THEN coalesce( \
             (SELECT p.reason FROM packed_log p WHERE p.game = n.game), \
             (SELECT e.reason FROM event e WHERE e.game = n.game ORDER BY e.seq DESC LIMIT 1)) END AS reason \
             FROM settlement n JOIN game g ON g.key = n.game JOIN player f ON f.key = g.first_player \
             JOIN player s ON s.key = g.second_player ",
            $rest
        )
    };
}
pub(super) use select_candidates;

/// Entries in one statement: a list of some 100 KiB.
const CHUNK: usize = 2_000;

/// Takes a game out, or finds why it cannot be before anything is written.
pub(super) fn void(
    connection: &Connection,
    game: &GameId,
    because: &Because,
) -> Result<Result<Written, Refused>, StoreError> {
    let sql = "SELECT n.number, g.variant, n.unrated_because FROM settlement n JOIN game g ON g.key = n.game \
               WHERE g.id = ?";
    let found: Option<(i64, String, Option<String>)> =
        db::query_as(sql).bind(game.as_str()).fetch_optional(connection)?;
    let Some((number, variant, unrated_because)) = found else { return Ok(Err(Refused::NoSuchGame)) };
    if unrated_because.as_deref() == Some(UnratedReason::Voided.as_str()) {
        return Ok(Err(Refused::AlreadyVoided));
    }
    operator_log::note(connection, &AuditNote::void(game), because)?;
    set_unrated(connection, number, Some(UnratedReason::Voided))?;
    refold(connection, &variant, number, &Resets::of(&resets::all(connection)?))?;
    judgements::sum_again(connection, &variant)?;
    published::unpublish(connection)?;
    learners::withdraw_game(connection, game)
}

pub(super) fn set_unrated(
    connection: &Connection,
    number: i64,
    reason: Option<UnratedReason>,
) -> Result<(), StoreError> {
    let sql = "UPDATE settlement SET unrated_because = ? WHERE number = ?";
    let query = db::query(sql).bind(reason.map(UnratedReason::as_str)).bind(number);
    query.execute(connection)?;
    Ok(())
}

/// Settles all games of a variant again, and writes what has changed from number `from` on.
pub(super) fn refold(
    connection: &Connection,
    variant: &str,
    from: i64,
    resets: &Resets,
) -> Result<(), StoreError> {
    let sql = select_candidates!(
        "WHERE g.variant = ? AND g.rated = 1 AND g.unrated_because IS NULL ORDER BY n.number"
    );
    let candidates: Vec<VoidingCandidate> = db::query_as(sql).bind(variant).fetch_all(connection)?;
    let (starts, board) = (players::starts(connection)?, parsed("game.variant", variant)?);
    let Refolded { entries, unrated, ratings } = Refolded::of(&candidates, starts, resets, board, from)?;
    for (number, reason) in unrated {
        set_unrated(connection, number, reason)?;
    }
    let sql = "DELETE FROM rating_entry WHERE variant = ? AND number >= ?";
    db::query(sql).bind(variant).bind(from).execute(connection)?;
    for chunk in entries.chunks(CHUNK) {
        insert_entries(connection, variant, chunk)?;
    }
    replace_ratings(connection, variant, &ratings)
}

/// The row as a list in JSON.
fn as_list(row: &EntryRow) -> String {
    let EntryRow { player, number, opponent, before, delta, after, from_newcomer_at } = row;
    let from_newcomer_at = from_newcomer_at.map_or("null".to_owned(), |at| at.to_string());
    format!("[{player},{number},{opponent},{before},{delta},{after},{from_newcomer_at}]")
}

pub(super) fn insert_entries(
    connection: &Connection,
    variant: &str,
    entries: &[EntryRow],
) -> Result<(), StoreError> {
    let rows: Vec<String> = entries.iter().map(as_list).collect();
    let sql = "INSERT INTO rating_entry (player, variant, number, opponent, before, delta, after, \
               from_newcomer_at) \
               SELECT value ->> 0, ?, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6 \
               FROM json_each(?)";
    let rows = format!("[{}]", rows.join(","));
    db::query(sql).bind(variant).bind(rows).execute(connection)?;
    Ok(())
}

pub(super) fn replace_ratings(
    connection: &Connection,
    variant: &str,
    ratings: &[(PlayerId, RatingRow)],
) -> Result<(), StoreError> {
    db::query("DELETE FROM rating WHERE variant = ?").bind(variant).execute(connection)?;
    let mut rows = String::from("[");
    for (index, (player, row)) in ratings.iter().enumerate() {
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
