//! What the published ratings are made of, and the ratings themselves.

use std::fmt::Write as _;

use fourfold_engine::{BySide, Variant, WinDrawLoss};

use super::db::{self, Connection};
use super::readers::snapshot;
use crate::model::ids::PlayerId;
use crate::model::time::UnixMillis;
use crate::storage::published::{
    Against, CorrespondenceResult, Publication, PublishedRating, RatedGame, VoidedGame,
};
use crate::storage::rows::published::{AgainstRow, CorrespondenceRow, PublishedRow, decode};
use crate::storage::rows::{Damage, number, parsed, to_sql};
use crate::storage::store::{Refused, StoreError, Written};
use crate::storage::words::Word;

/// Selects the columns of a `RatedRow`, both sides' entries being `a` and `b`, the game `g` and its end `n`.
macro_rules! select_rated {
    ($from:literal, $rest:literal) => {
        concat!(
            "SELECT n.number, g.id, g.variant, f.id AS first, s.id AS second, g.pair_id, g.pair_leg, g.pair_of, \
             length(g.opening_moves) AS opening_plies, n.moves, n.result, n.ended_at, a.before AS first_before, \
             a.after AS first_after, b.before AS second_before, b.after AS second_after FROM ",
            $from,
            " JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
             JOIN player f ON f.key = g.first_player JOIN player s ON s.key = g.second_player \
             JOIN rating_entry a ON a.number = e.number AND a.player = g.first_player \
             JOIN rating_entry b ON b.number = e.number AND b.player = g.second_player ",
            $rest
        )
    };
}

pub(super) fn rated_games(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> Result<Vec<RatedGame>, StoreError> {
    // Each game has two entries; those of one number lie side by side in the index.
    let sql = select_rated!(
        "(SELECT DISTINCT number FROM rating_entry WHERE number > ? ORDER BY number LIMIT ?) e",
        "ORDER BY e.number"
    );
    let rows = db::query_as(sql).bind(to_sql(after)).bind(limit).fetch_all(connection)?;
    Ok(decode(rows))
}

pub(super) fn rated_games_of_people(
    connection: &Connection,
    variant: Variant,
    since: UnixMillis,
    limit: u32,
) -> Result<Vec<u64>, StoreError> {
    // `CROSS JOIN` keeps the order: by the index on both players, so that games of bots, which are most, are not read.
    let sql = "SELECT e.number FROM player p \
               CROSS JOIN rating_entry e INDEXED BY rating_entry_between ON e.player = p.key AND e.player < e.opponent \
               CROSS JOIN player o ON o.key = e.opponent JOIN settlement n ON n.number = e.number \
               WHERE p.kind <> 'bot' AND o.kind <> 'bot' AND e.variant = ? AND n.ended_at >= ? \
               ORDER BY e.number DESC LIMIT ?";
    let query = db::query_scalar(sql).bind(variant.to_string()).bind(since.0).bind(limit);
    let numbers: Vec<i64> = query.fetch_all(connection)?;
    numbers.into_iter().rev().map(|value| Ok(number("rating_entry.number", value)?)).collect()
}

pub(super) fn correspondence_results(
    connection: &Connection,
    after: u64,
    limit: u32,
) -> Result<Vec<CorrespondenceResult>, StoreError> {
    let sql = "SELECT n.number, g.variant, f.id AS first, s.id AS second, n.moves, n.result \
               FROM settlement n JOIN game g ON g.key = n.game \
               JOIN player f ON f.key = g.first_player JOIN player s ON s.key = g.second_player \
               WHERE n.unrated_because = 'correspondence' AND n.number > ? ORDER BY n.number LIMIT ?";
    let rows: Vec<CorrespondenceRow> =
        db::query_as(sql).bind(to_sql(after)).bind(limit).fetch_all(connection)?;
    Ok(rows.into_iter().filter_map(|row| row.decode().ok()).collect())
}

pub(super) fn last_rated_games(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
    limit: u32,
) -> Result<Vec<RatedGame>, StoreError> {
    let sql = select_rated!(
        "(SELECT number FROM rating_entry WHERE player = (SELECT key FROM player WHERE id = ?) AND variant = ? \
          ORDER BY number DESC LIMIT ?) e",
        "ORDER BY e.number DESC"
    );
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string()).bind(limit);
    Ok(decode(query.fetch_all(connection)?))
}

pub(super) fn crosstable(
    connection: &Connection,
    player: &PlayerId,
    variant: Variant,
    limit: u32,
) -> Result<Vec<Against>, StoreError> {
    let sql = "SELECT o.id AS opponent, \
               sum(g.first_player = e.player AND n.result = 'first') AS first_wins, \
               sum(g.first_player = e.player AND n.result = 'draw') AS first_draws, \
               sum(g.first_player = e.player AND n.result = 'second') AS first_losses, \
               sum(g.second_player = e.player AND n.result = 'second') AS second_wins, \
               sum(g.second_player = e.player AND n.result = 'draw') AS second_draws, \
               sum(g.second_player = e.player AND n.result = 'first') AS second_losses \
               FROM rating_entry e JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
               JOIN player o ON o.key = e.opponent \
               WHERE e.player = (SELECT key FROM player WHERE id = ?) AND e.variant = ? \
               GROUP BY e.opponent ORDER BY count(*) DESC, o.id LIMIT ?";
    let query = db::query_as(sql).bind(player.as_str()).bind(variant.to_string()).bind(limit);
    let rows: Vec<AgainstRow> = query.fetch_all(connection)?;
    let count = |value: i64| number("count", value);
    let against = |row: AgainstRow| {
        let score = |wins, draws, losses| {
            Ok::<_, Damage>(WinDrawLoss { wins: count(wins)?, draws: count(draws)?, losses: count(losses)? })
        };
        Ok(Against {
            opponent: parsed("player.id", &row.opponent)?,
            score: BySide {
                first: score(row.first_wins, row.first_draws, row.first_losses)?,
                second: score(row.second_wins, row.second_draws, row.second_losses)?,
            },
        })
    };
    rows.into_iter().map(against).collect()
}

pub(super) fn revision(connection: &Connection) -> Result<u64, StoreError> {
    let revision: i64 = db::query_scalar("SELECT revision FROM publication").fetch_one(connection)?;
    Ok(number("publication.revision", revision)?)
}

pub(super) fn publication(connection: &Connection) -> Result<Publication, StoreError> {
    snapshot(connection, read_publication)
}

fn read_publication(connection: &Connection) -> Result<Publication, StoreError> {
    let sql = "SELECT revision, up_to FROM publication";
    let (revision, up_to): (i64, Option<i64>) = db::query_as(sql).fetch_one(connection)?;
    let sql = "SELECT r.variant, r.list, p.id AS player, r.elo, r.error, r.games \
               FROM published_rating r JOIN player p ON p.key = r.player";
    let rows: Vec<PublishedRow> = db::query_as(sql).fetch_all(connection)?;
    let ratings: Result<Vec<_>, Damage> = rows.into_iter().map(PublishedRow::decode).collect();
    let mut publication = Publication {
        revision: number("publication.revision", revision)?,
        up_to: up_to.map(|up_to| number("publication.up_to", up_to)).transpose()?,
        ratings: ratings?,
    };
    publication.sort();
    Ok(publication)
}

pub(super) fn voided_games(connection: &Connection) -> Result<Vec<VoidedGame>, StoreError> {
    let sql = "SELECT subject, reason, at FROM audit WHERE action = 'void' ORDER BY number";
    let rows: Vec<(String, String, i64)> = db::query_as(sql).fetch_all(connection)?;
    let voided = |(game, reason, at): (String, String, i64)| {
        Ok(VoidedGame { game: parsed("audit.subject", &game)?, reason, at: UnixMillis(at) })
    };
    rows.into_iter().map(voided).collect()
}

// ---- writing ----

pub(super) fn publish(
    connection: &Connection,
    publication: &Publication,
) -> Result<Result<Written, Refused>, StoreError> {
    let sql = "UPDATE publication SET up_to = ? WHERE revision = ?";
    let query = db::query(sql).bind(publication.up_to.map(to_sql)).bind(to_sql(publication.revision));
    if query.execute(connection)? == 0 {
        return Ok(Err(Refused::Outdated));
    }
    db::query("DELETE FROM published_rating").execute(connection)?;
    let sql = "INSERT INTO published_rating (variant, list, player, elo, error, games) \
               SELECT r.value ->> 0, r.value ->> 1, p.key, r.value ->> 3, r.value ->> 4, r.value ->> 5 \
               FROM json_each(?) r JOIN player p ON p.id = r.value ->> 2";
    db::query(sql).bind(rows_of(&publication.ratings)).execute(connection)?;
    Ok(Ok(Written::Done))
}

/// Rows as a list of lists. Neither variants nor ids need escaping.
fn rows_of(ratings: &[PublishedRating]) -> String {
    let mut text = String::from("[");
    for (index, rating) in ratings.iter().enumerate() {
        let PublishedRating { variant, population, player, elo, error, games } = rating;
        let comma = if index == 0 { "" } else { "," };
        let (list, player, elo) = (population.word(), player.as_str(), elo.0);
        // Writing to a string never fails.
        let _ = write!(text, "{comma}[\"{variant}\",\"{list}\",\"{player}\",{elo},{error},{games}]");
    }
    text.push(']');
    text
}

/// What was fitted rests on games that count no more: nothing is published until it has been fitted again.
pub(super) fn unpublish(connection: &Connection) -> Result<(), StoreError> {
    db::query("UPDATE publication SET revision = revision + 1, up_to = NULL").execute(connection)?;
    db::query("DELETE FROM published_rating").execute(connection)?;
    Ok(())
}
