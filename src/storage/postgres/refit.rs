//! Taking games of an account out in portions, and settling what they leave owed.

use std::collections::{BTreeSet, HashMap};

use fourfold_engine::Variant;

use super::db::{self, Connection, Query};
use super::voiding::{insert_entries, replace_ratings, select_candidates, set_unrated};
use super::{judgements, learners, operator_log, published};
use crate::model::ids::{GameId, PlayerId};
use crate::storage::moderation::{AuditNote, Because};
use crate::storage::record::{RatingRow, UnratedReason};
use crate::storage::refit::{RefitContent, RefitGame, RefitStep, Resettled};
use crate::storage::rows::refit::{decode_numbered, decode_owed};
use crate::storage::rows::voiding::{VoidingCandidate, entries_of, unrated_word};
use crate::storage::rows::{Damage, parsed, to_sql};
use crate::storage::store::{Refused, StoreError, Written};

pub(super) async fn owed(connection: &Connection) -> Result<Vec<(Variant, u64)>, StoreError> {
    let sql = "SELECT variant, after FROM refit ORDER BY variant";
    let rows: Vec<(String, i64)> = db::query_as(sql).fetch_all(connection).await?;
    Ok(decode_owed(rows)?)
}

pub(super) async fn games(
    connection: &Connection,
    variant: Variant,
    after: u64,
    limit: u32,
) -> Result<Vec<RefitGame>, StoreError> {
    let sql = select_candidates!(
        "WHERE g.variant = $1 AND g.rated AND g.unrated_because IS NULL AND n.number > $2 \
         ORDER BY n.number LIMIT $3"
    );
    let query = db::query_as(sql).bind(variant.to_string()).bind(to_sql(after)).bind(limit);
    let rows: Vec<VoidingCandidate> = query.fetch_all(connection).await?;
    rows.iter().map(|row| Ok(row.decode(variant)?)).collect()
}

pub(super) async fn that_count(
    connection: &Connection,
    player: &PlayerId,
    after: u64,
    limit: u32,
) -> Result<Vec<(u64, GameId)>, StoreError> {
    let sql = "SELECT o.number, g.id FROM player_game o JOIN settlement n ON n.number = o.number \
               JOIN game g ON g.key = n.game WHERE o.player = (SELECT key FROM player WHERE id = $1) \
               AND o.number > $2 AND n.unrated_because IS DISTINCT FROM $3 ORDER BY o.number LIMIT $4";
    let query = db::query_as(sql).bind(player.as_str()).bind(to_sql(after));
    let query = query.bind(UnratedReason::Voided.as_str()).bind(limit);
    let rows: Vec<(i64, String)> = query.fetch_all(connection).await?;
    Ok(decode_numbered(rows)?)
}

// ---- writing ----

/// Takes games out, and notes what they leave owed.
pub(super) async fn void_all(
    connection: &Connection,
    games: &[GameId],
    because: &Because,
) -> Result<Result<Written, Refused>, StoreError> {
    let sql = "SELECT n.number, g.id, g.variant FROM settlement n JOIN game g ON g.key = n.game \
               WHERE g.id = ANY($1) AND n.unrated_because IS DISTINCT FROM $2 ORDER BY n.number";
    let ids: Vec<&str> = games.iter().map(GameId::as_str).collect();
    let query = db::query_as(sql).bind(ids).bind(UnratedReason::Voided.as_str());
    let found: Vec<(i64, String, String)> = query.fetch_all(connection).await?;
    if found.is_empty() {
        return Ok(Ok(Written::Done));
    }
    let voided = found.iter().map(|(number, ..)| (*number, Some(UnratedReason::Voided.as_str())));
    set_unrated(connection, voided.collect()).await?;
    take_out(connection, &found, because).await?;
    published::unpublish(connection).await?;
    let numbers: Vec<i64> = found.into_iter().map(|(number, ..)| number).collect();
    learners::withdraw_games(connection, &numbers).await?;
    Ok(Ok(Written::Done))
}

/// Takes games, each with its number, id and variant, out of all sums, all in one way to the server and back.
async fn take_out(
    connection: &Connection,
    games: &[(i64, String, String)],
    because: &Because,
) -> Result<(), StoreError> {
    let note = |id: &String| Ok(AuditNote::void(&parsed("game.id", id)?));
    let notes: Vec<AuditNote> = games.iter().map(|(_, id, _)| note(id)).collect::<Result<_, Damage>>()?;
    let mut statements = Vec::new();
    for ((number, _, variant), note) in games.iter().zip(&notes) {
        statements.push(operator_log::noting(note, because));
        statements.push(judgements::subtracting_sums(variant, number - 1, *number));
        statements.push(owing(variant, *number));
        statements.push(db::query("DELETE FROM rating_entry WHERE number = $1").bind(*number));
    }
    let variants: BTreeSet<&str> = games.iter().map(|(.., variant)| variant.as_str()).collect();
    statements.extend(variants.into_iter().map(judgements::dropping_empty_sums));
    db::execute_all(connection, &statements).await?;
    Ok(())
}

/// Notes that ratings are owed from a game on, if it has changed one.
fn owing(variant: &str, number: i64) -> Query<'_> {
    let sql = "INSERT INTO refit (variant, after) \
               SELECT $1, $2::bigint - 1 WHERE EXISTS (SELECT 1 FROM rating_entry WHERE number = $2) \
               ON CONFLICT (variant) DO UPDATE SET after = LEAST(refit.after, excluded.after)";
    db::query(sql).bind(variant).bind(number)
}

/// Writes ratings that are owed, or finds why these are not.
pub(super) async fn refit(
    connection: &Connection,
    step: &RefitStep,
) -> Result<Result<Written, Refused>, StoreError> {
    let variant = step.variant.to_string();
    let sql = "SELECT 1 FROM refit, publication WHERE variant = $1 AND after = $2 AND revision = $3";
    let query = db::query(sql).bind(&variant).bind(to_sql(step.after)).bind(to_sql(step.revision));
    if !query.has_row(connection).await? {
        return Ok(Err(Refused::Outdated));
    }
    match &step.content {
        RefitContent::Games(games) => resettle(connection, &variant, step.after, games).await?,
        RefitContent::Ratings(_) if has_games_above(connection, &variant, step.after).await? => {
            return Ok(Err(Refused::Outdated));
        }
        RefitContent::Ratings(ratings) => settle_up(connection, &variant, ratings).await?,
    }
    Ok(Ok(Written::Done))
}

async fn has_games_above(connection: &Connection, variant: &str, after: u64) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM settlement n JOIN game g ON g.key = n.game \
               WHERE n.number > $1 AND g.variant = $2 AND g.rated AND g.unrated_because IS NULL LIMIT 1";
    db::query(sql).bind(to_sql(after)).bind(variant).has_row(connection).await
}

async fn resettle(
    connection: &Connection,
    variant: &str,
    after: u64,
    games: &[Resettled],
) -> Result<(), StoreError> {
    let Some(last) = games.last() else { return Ok(()) };
    let (after, last) = (to_sql(after), to_sql(last.number));
    let entries = entries_of(games, &keys_of(connection, games).await?)?;
    judgements::subtract_sums(connection, variant, after, last).await?;
    let verdicts = games.iter().map(|game| (to_sql(game.number), unrated_word(&game.verdict)));
    set_unrated(connection, verdicts.collect()).await?;
    let sql = "DELETE FROM rating_entry WHERE variant = $1 AND number > $2 AND number <= $3";
    db::query(sql).bind(variant).bind(after).bind(last).execute(connection).await?;
    insert_entries(connection, variant, &entries).await?;
    judgements::add_sums(connection, variant, after, last).await?;
    let sql = "UPDATE refit SET after = $1 WHERE variant = $2";
    db::query(sql).bind(last).bind(variant).execute(connection).await?;
    Ok(())
}

async fn settle_up(
    connection: &Connection,
    variant: &str,
    ratings: &[(PlayerId, RatingRow)],
) -> Result<(), StoreError> {
    replace_ratings(connection, variant, ratings).await?;
    db::query("DELETE FROM refit WHERE variant = $1").bind(variant).execute(connection).await?;
    published::unpublish(connection).await
}

/// The keys of all players of some games.
async fn keys_of(connection: &Connection, games: &[Resettled]) -> Result<HashMap<String, i64>, StoreError> {
    let ids = games.iter().flat_map(|game| [game.players.first.as_str(), game.players.second.as_str()]);
    let sql = "SELECT id, key FROM player WHERE id = ANY($1)";
    let rows: Vec<(String, i64)> =
        db::query_as(sql).bind(ids.collect::<Vec<&str>>()).fetch_all(connection).await?;
    Ok(rows.into_iter().collect())
}
