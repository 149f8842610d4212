//! What a run of writes to games must know before it can be judged, asked for all at once.

use std::collections::{BTreeSet, HashMap, HashSet};

use fourfold_engine::{BySide, Variant};

use super::db::{self, Connection};
use super::ratings::select_ratings;
use crate::model::ids::{GameId, PlayerId};
use crate::model::rating::eligibility::{GameFingerprint, REMEMBERED_GAMES};
use crate::model::rating::newcomers;
use crate::model::time::UnixMillis;
use crate::storage::record::GameSpec;
use crate::storage::refold::Refold;
use crate::storage::rows::players::decode_starts;
use crate::storage::rows::ratings::PlayerRatingRow;
use crate::storage::rows::{Damage, parsed, word};
use crate::storage::store::StoreError;

/// Games that begin: whether they can, and under which keys.
#[derive(Debug, Default)]
pub(super) struct Beginnings {
    players: HashMap<PlayerId, i64>,
    pub(super) taken: HashSet<GameId>,
    keys: Vec<i64>,
}

impl Beginnings {
    pub(super) async fn read(connection: &Connection, specs: &[&GameSpec]) -> Result<Self, StoreError> {
        if specs.is_empty() {
            return Ok(Self::default());
        }
        let players: BTreeSet<&str> = specs
            .iter()
            .flat_map(|spec| [spec.players.first.as_str(), spec.players.second.as_str()])
            .collect();
        let players = db::query_as("SELECT id, key FROM player WHERE id = ANY($1)")
            .bind(players.into_iter().collect::<Vec<&str>>())
            .fetch_all::<(String, i64)>(connection);
        let taken = db::query_scalar("SELECT id FROM game WHERE id = ANY($1)")
            .bind(specs.iter().map(|spec| spec.id.as_str()).collect::<Vec<&str>>())
            .fetch_all::<String>(connection);
        let sql = "SELECT nextval(pg_get_serial_sequence('game', 'key')) FROM generate_series(1::bigint, $1::bigint)";
        let keys = db::query_scalar(sql)
            .bind(i64::try_from(specs.len()).unwrap_or(i64::MAX))
            .fetch_all::<i64>(connection);
        // One way to the server and back for all three.
        let (players, taken, mut keys) = futures::try_join!(players, taken, keys)?;
        keys.reverse();
        let player = |(id, key): (String, i64)| Ok((parsed("player.id", &id)?, key));
        let players: Result<HashMap<PlayerId, i64>, Damage> = players.into_iter().map(player).collect();
        let taken: Result<HashSet<GameId>, Damage> = taken.iter().map(|id| parsed("game.id", id)).collect();
        Ok(Self { players: players?, taken: taken?, keys })
    }

    /// The keys of both players, if they are there.
    pub(super) fn players(&self, players: &BySide<PlayerId>) -> Option<BySide<i64>> {
        let key = |id| self.players.get(id).copied();
        Some(BySide { first: key(&players.first)?, second: key(&players.second)? })
    }

    /// A key that no game has had; there is one for each that was asked for.
    pub(super) fn next_key(&mut self) -> Option<i64> {
        self.keys.pop()
    }
}

/// A game that ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndingGame<'a> {
    pub(super) spec: &'a GameSpec,
    pub(super) ended_at: UnixMillis,
}

/// Reads how things stand before these games count: a fold of each variant, as if it had come so far.
pub(super) async fn folds_before(
    connection: &Connection,
    ending: &[EndingGame<'_>],
) -> Result<HashMap<Variant, Refold>, StoreError> {
    let rated: Vec<&EndingGame<'_>> = ending.iter().filter(|game| game.spec.rated).collect();
    let mut folds: HashMap<Variant, Refold> =
        ending.iter().map(|game| (game.spec.variant, Refold::default())).collect();
    let Some(earliest) = rated.iter().map(|game| game.ended_at).min() else { return Ok(folds) };
    let pairs: BTreeSet<(String, &str, &str)> = rated
        .iter()
        .map(|game| {
            let BySide { first, second } = &game.spec.players;
            let (low, high) = if first <= second { (first, second) } else { (second, first) };
            (game.spec.variant.to_string(), low.as_str(), high.as_str())
        })
        .collect();
    let players: BTreeSet<&str> = pairs.iter().flat_map(|(_, low, high)| [*low, *high]).collect();
    let players: Vec<&str> = players.into_iter().collect();
    let variants: BTreeSet<&str> = pairs.iter().map(|(variant, _, _)| variant.as_str()).collect();
    let variants: Vec<&str> = variants.into_iter().collect();

    let ratings = db::query_as(select_ratings!("WHERE p.id = ANY($1) AND r.variant = ANY($2)"))
        .bind(players.clone())
        .bind(variants.clone())
        .fetch_all::<PlayerRatingRow>(connection);
    let remembered = db::query_as(REMEMBERED)
        .bind(pairs.iter().map(|(variant, _, _)| variant.as_str()).collect::<Vec<&str>>())
        .bind(pairs.iter().map(|(_, low, _)| *low).collect::<Vec<&str>>())
        .bind(pairs.iter().map(|(_, _, high)| *high).collect::<Vec<&str>>())
        .bind(REMEMBERED_GAMES)
        .fetch_all::<RememberedRow>(connection);
    let starts = starts_of(connection, &players);
    let gains = gains_since(connection, &players, &variants, newcomers::since(earliest));
    let (starts, ratings, remembered, gains) = futures::try_join!(starts, ratings, remembered, gains)?;

    fill(&mut folds, starts, ratings, remembered, gains)?;
    Ok(folds)
}

/// With what those of these players begin who do not as newcomers.
async fn starts_of(connection: &Connection, players: &[&str]) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = "SELECT id, start FROM player WHERE start IS NOT NULL AND id = ANY($1)";
    db::query_as(sql).bind(players.to_vec()).fetch_all(connection).await
}

/// What newcomers have added to the ratings of these players.
async fn gains_since(
    connection: &Connection,
    players: &[&str],
    variants: &[&str],
    since: UnixMillis,
) -> Result<Vec<GainRow>, StoreError> {
    let sql = "SELECT p.id, e.variant, e.from_newcomer_at, e.delta \
               FROM rating_entry e JOIN player p ON p.key = e.player \
               WHERE p.id = ANY($1) AND e.variant = ANY($2) AND e.from_newcomer_at > $3 AND e.delta > 0";
    let query = db::query_as(sql).bind(players.to_vec()).bind(variants.to_vec());
    query.bind(since.0).fetch_all(connection).await
}

/// Puts what was read into the folds of the variants.
fn fill(
    folds: &mut HashMap<Variant, Refold>,
    starts: Vec<(String, i64)>,
    ratings: Vec<PlayerRatingRow>,
    remembered: Vec<RememberedRow>,
    gains: Vec<GainRow>,
) -> Result<(), Damage> {
    let starts = decode_starts(starts)?;
    for fold in folds.values_mut() {
        fold.starts = starts.clone();
    }
    for row in ratings {
        let fold = folds.entry(row.variant()?).or_default();
        fold.rows.insert(parsed("player.id", &row.player)?, row.decode()?);
    }
    for (variant, low, high, first, moves, result) in remembered {
        let fold = folds.entry(parsed("rating_entry.variant", &variant)?).or_default();
        let pair = (parsed("player.id", &low)?, parsed("player.id", &high)?);
        let result = word("settlement.result", &result)?;
        let course = GameFingerprint { first: parsed("player.id", &first)?, moves, result };
        fold.remembered.entry(pair).or_default().push(course);
    }
    for (player, variant, at, delta) in gains {
        let fold = folds.entry(parsed("rating_entry.variant", &variant)?).or_default();
        fold.gains.entry(parsed("player.id", &player)?).or_default().note(UnixMillis(at), delta);
    }
    Ok(())
}

/// Player, variant, when, how much.
type GainRow = (String, String, i64, i64);

/// Variant, both players, who was first, the moves, the result.
type RememberedRow = (String, String, String, String, String, String);

/// The last rated games of each of some pairs of players, the newest first. Each game has two entries; the index is on
/// the one of the player with the lower key.
const REMEMBERED: &str = "SELECT q.variant, q.low, q.high, f.id, x.moves, x.result \
    FROM unnest($1::text[], $2::text[], $3::text[]) AS q (variant, low, high) \
    JOIN player a ON a.id = q.low JOIN player b ON b.id = q.high \
    CROSS JOIN LATERAL (SELECT e.number, n.moves, n.result, g.first_player FROM rating_entry e \
        JOIN settlement n ON n.number = e.number JOIN game g ON g.key = n.game \
        WHERE e.player = LEAST(a.key, b.key) AND e.opponent = GREATEST(a.key, b.key) AND e.player < e.opponent \
        AND e.variant = q.variant ORDER BY e.number DESC LIMIT $4) x \
    JOIN player f ON f.key = x.first_player ORDER BY x.number DESC";
