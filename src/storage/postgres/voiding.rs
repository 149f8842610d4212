//! Taking a game out: the reason into the audit log, and all live ratings of its variant again without it.
//!
//! A later game's rating depends on every one before it, so all games of the variant are settled anew, in one
//! transaction with the rest. Their moves are in the settlements, so no events are read. Meanwhile no move is stored;
//! the rooms know, and let no flag fall.

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

/// Takes a game out, or finds why it cannot be before anything is written.
pub(super) async fn void(
    connection: &Connection,
    game: &GameId,
    because: &Because,
) -> Result<Result<Written, Refused>, StoreError> {
    let sql = "SELECT n.number, g.variant, n.unrated_because FROM settlement n JOIN game g ON g.key = n.game \
               WHERE g.id = $1";
    let found: Option<(i64, String, Option<String>)> =
        db::query_as(sql).bind(game.as_str()).fetch_optional(connection).await?;
    let Some((number, variant, unrated_because)) = found else { return Ok(Err(Refused::NoSuchGame)) };
    if unrated_because.as_deref() == Some(UnratedReason::Voided.as_str()) {
        return Ok(Err(Refused::AlreadyVoided));
    }
    operator_log::note(connection, &AuditNote::void(game), because).await?;
    set_unrated(connection, vec![(number, Some(UnratedReason::Voided.as_str()))]).await?;
    refold(connection, &variant, number, &Resets::of(&resets::all(connection).await?)).await?;
    judgements::sum_again(connection, &variant).await?;
    published::unpublish(connection).await?;
    learners::withdraw_game(connection, game).await
}

/// Notes of games why they do not count, or that they do.
pub(super) async fn set_unrated(
    connection: &Connection,
    games: Vec<(i64, Option<&'static str>)>,
) -> Result<(), StoreError> {
    let (numbers, reasons): (Vec<i64>, Vec<Option<&str>>) = games.into_iter().unzip();
    let sql = "UPDATE settlement n SET unrated_because = c.reason \
               FROM unnest($1::bigint[], $2::text[]) AS c (number, reason) \
               WHERE n.number = c.number AND n.unrated_because IS DISTINCT FROM c.reason";
    db::query(sql).bind(numbers).bind(reasons).execute(connection).await?;
    Ok(())
}

/// Settles all games of a variant again, and writes what has changed from number `from` on.
pub(super) async fn refold(
    connection: &Connection,
    variant: &str,
    from: i64,
    resets: &Resets,
) -> Result<(), StoreError> {
    let sql = select_candidates!(
        "WHERE g.variant = $1 AND g.rated AND g.unrated_because IS NULL ORDER BY n.number"
    );
    let candidates: Vec<VoidingCandidate> = db::query_as(sql).bind(variant).fetch_all(connection).await?;
    let (starts, board) = (players::starts(connection).await?, parsed("game.variant", variant)?);
    let Refolded { entries, unrated, ratings } = Refolded::of(&candidates, starts, resets, board, from)?;
    let unrated = unrated.into_iter().map(|(number, reason)| (number, reason.map(UnratedReason::as_str)));
    set_unrated(connection, unrated.collect()).await?;
    let sql = "DELETE FROM rating_entry WHERE variant = $1 AND number >= $2";
    db::query(sql).bind(variant).bind(from).execute(connection).await?;
    insert_entries(connection, variant, &entries).await?;
    replace_ratings(connection, variant, &ratings).await
}

pub(super) async fn insert_entries(
    connection: &Connection,
    variant: &str,
    entries: &[EntryRow],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO rating_entry (variant, player, number, opponent, before, delta, after, \
               from_newcomer_at) \
               SELECT $1, r.* FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], \
               $7::bigint[], $8::bigint[]) AS r";
    let numbers = |of: fn(&EntryRow) -> i64| entries.iter().map(of).collect::<Vec<i64>>();
    db::query(sql)
        .bind(variant)
        .bind(numbers(|row| row.player))
        .bind(numbers(|row| row.number))
        .bind(numbers(|row| row.opponent))
        .bind(numbers(|row| row.before))
        .bind(numbers(|row| row.delta))
        .bind(numbers(|row| row.after))
        .bind(entries.iter().map(|row| row.from_newcomer_at).collect::<Vec<Option<i64>>>())
        .execute(connection)
        .await?;
    Ok(())
}

pub(super) async fn replace_ratings(
    connection: &Connection,
    variant: &str,
    ratings: &[(PlayerId, RatingRow)],
) -> Result<(), StoreError> {
    db::query("DELETE FROM rating WHERE variant = $1").bind(variant).execute(connection).await?;
    let sql = "INSERT INTO rating (player, variant, rating, games, wins, draws, losses) \
               SELECT p.key, $1, r.rating, r.games, r.wins, r.draws, r.losses \
               FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) \
               AS r (id, rating, games, wins, draws, losses) JOIN player p ON p.id = r.id";
    let numbers = |of: fn(&RatingRow) -> i64| ratings.iter().map(|(_, row)| of(row)).collect::<Vec<i64>>();
    db::query(sql)
        .bind(variant)
        .bind(ratings.iter().map(|(player, _)| player.as_str()).collect::<Vec<&str>>())
        .bind(numbers(|row| row.standing.rating.0))
        .bind(numbers(|row| to_sql(row.standing.games)))
        .bind(numbers(|row| to_sql(row.score.wins)))
        .bind(numbers(|row| to_sql(row.score.draws)))
        .bind(numbers(|row| to_sql(row.score.losses)))
        .execute(connection)
        .await?;
    Ok(())
}
