//! Games that begin, go on and end: any number of such writes in one statement.

use std::collections::HashMap;

use fourfold_engine::{BySide, Side, Variant};

use super::db::Connection;
use super::precedents::{Beginnings, EndingGame, folds_before};
use super::statement::{Statement, made_texts, numbers, numbers_or_none, texts, texts_or_none, truths};
use crate::model::chain_hash::ChainHash;
use crate::model::ids::GameId;
use crate::model::time::UnixMillis;
use crate::storage::chain;
use crate::storage::live::UnfinishedGame;
use crate::storage::record::{Ending, GameSpec, RatingRow, Settlement, StoredEvent, UnratedReason};
use crate::storage::refold::{Refold, Voided};
use crate::storage::rows::events::NewRow;
use crate::storage::rows::games::GameKeys;
use crate::storage::rows::settlement::EntryRow;
use crate::storage::rows::to_sql;
use crate::storage::settle::{RatingVerdict, Referee};
use crate::storage::store::{Refused, StoreError, Write, Written};
use crate::storage::words::Word as _;

/// A game that goes on: what it looks like, and its rows' keys.
#[derive(Clone, Debug)]
pub(super) struct KnownGame {
    pub(super) keys: GameKeys,
    pub(super) game: UnfinishedGame,
}

/// What the writer knows, and what the commit under way makes of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Staged {
    /// What becomes of live games: `None` for those that end.
    pub(super) changed: HashMap<GameId, Option<KnownGame>>,
    /// Number of the last finished game.
    pub(super) last_number: i64,
    /// Its hash in the chain of finished games.
    pub(super) head: ChainHash,
}

/// Whether a write can be part of a run.
pub(super) fn is_of_games(write: &Write) -> bool {
    matches!(write, Write::StartGame(_) | Write::Append { .. } | Write::Finish { .. })
}

/// Rows to be written.
#[derive(Default)]
pub(super) struct Run<'b> {
    games: Vec<(GameKeys, &'b GameSpec)>,
    events: Vec<(i64, &'b StoredEvent)>,
    ends: Vec<EndRow>,
    entries: Vec<(String, EntryRow)>,
    ratings: HashMap<(i64, String), RatingRow>,
    /// Games that were live before and are over.
    over: Vec<i64>,
}

struct EndRow {
    number: i64,
    keys: GameKeys,
    ending: Ending,
    moves: String,
    unrated_because: Option<UnratedReason>,
    ended_at: UnixMillis,
    hash: ChainHash,
}

impl<'b> Run<'b> {
    /// Judges writes one after the other, with what they must know read first.
    pub(super) async fn judge(
        connection: &Connection,
        live: &HashMap<GameId, KnownGame>,
        staged: &mut Staged,
        writes: &[&'b Write],
    ) -> Result<(Self, Vec<Result<Written, Refused>>), StoreError> {
        let specs: Vec<&GameSpec> = writes.iter().filter_map(|write| started(write)).collect();
        let ending = endings(live, staged, &specs, writes);
        let ending: Vec<EndingGame<'_>> =
            ending.iter().map(|(spec, ended_at)| EndingGame { spec, ended_at: *ended_at }).collect();
        let (mut beginnings, mut folds) =
            futures::try_join!(Beginnings::read(connection, &specs), folds_before(connection, &ending))?;
        let mut run = Self::default();
        let mut answers = Vec::with_capacity(writes.len());
        for write in writes {
            answers.push(match write {
                Write::StartGame(spec) => run.start(staged, &mut beginnings, spec),
                Write::Append { game, events } => run.append(live, staged, game, events),
                Write::Finish { game, events } => run.finish(live, staged, &mut folds, game, events),
                _ => Err(Refused::Contradiction),
            });
        }
        Ok((run, answers))
    }

    fn start(
        &mut self,
        staged: &mut Staged,
        beginnings: &mut Beginnings,
        spec: &'b GameSpec,
    ) -> Result<Written, Refused> {
        let players = beginnings.players(&spec.players).ok_or(Refused::NoSuchPlayer)?;
        if !beginnings.taken.insert(spec.id.clone()) {
            return Err(Refused::IdTaken);
        }
        let key = beginnings.next_key().ok_or(Refused::Contradiction)?;
        let keys = GameKeys { key, first_player: players.first, second_player: players.second };
        self.games.push((keys, spec));
        let known = KnownGame { keys, game: UnfinishedGame::new(spec.clone()) };
        staged.changed.insert(spec.id.clone(), Some(known));
        Ok(Written::Done)
    }

    fn append(
        &mut self,
        live: &HashMap<GameId, KnownGame>,
        staged: &mut Staged,
        id: &GameId,
        events: &'b [StoredEvent],
    ) -> Result<Written, Refused> {
        let known = known(live, staged, id)?;
        known.game.check_append(events)?;
        known.game.apply(events);
        let key = known.keys.key;
        self.events.extend(events.iter().map(|event| (key, event)));
        Ok(Written::Done)
    }

    fn finish(
        &mut self,
        live: &HashMap<GameId, KnownGame>,
        staged: &mut Staged,
        folds: &mut HashMap<Variant, Refold>,
        id: &GameId,
        events: &'b [StoredEvent],
    ) -> Result<Written, Refused> {
        let ending = known(live, staged, id)?.game.check_finish(events)?;
        let Some(Some(KnownGame { keys, mut game })) = staged.changed.insert(id.clone(), None) else {
            return Err(Refused::NoSuchGame);
        };
        game.apply(events);
        self.events.extend(events.iter().map(|event| (keys.key, event)));
        staged.last_number += 1;
        let number = staged.last_number;
        let (spec, moves) = (game.spec(), game.moves());
        let ended_at = events.last().map_or(spec.started_at, |event| event.at);
        let referee = Referee { spec, moves: &moves, ending };
        let fold = folds.entry(spec.variant).or_default();
        let (ratings, unrated_because) =
            match fold.settle(number.unsigned_abs(), &referee, ended_at, Voided::No) {
                RatingVerdict::Rated(changes) => {
                    for side in Side::BOTH {
                        let entry = EntryRow::of(keys.players(), side, number, ended_at, &changes[side]);
                        self.entries.push((spec.variant.to_string(), entry));
                        self.ratings.insert((entry.player, spec.variant.to_string()), changes[side].row);
                    }
                    (Some(changes.map(|change| change.entry)), None)
                }
                RatingVerdict::Unrated(reason) => (None, reason),
            };
        if live.contains_key(id) {
            self.over.push(keys.key);
        }
        let counted = number.unsigned_abs();
        let hash = chain::then(&staged.head, &chain::content(counted, spec, &moves, ending, ended_at));
        staged.head = hash.clone();
        self.ends.push(EndRow { number, keys, ending, moves, unrated_because, ended_at, hash: hash.clone() });
        let hash = Some(hash);
        Ok(Written::Settled(Settlement { number: counted, ratings, unrated_because, hash }))
    }

    /// Adds all rows to a statement.
    pub(super) fn add_to<'s>(&'s self, statement: &mut Statement<'s>) {
        if !self.games.is_empty() {
            self.add_games(statement);
        }
        if !self.events.is_empty() {
            self.add_events(statement);
        }
        if !self.ends.is_empty() {
            self.add_ends(statement);
        }
        if !self.entries.is_empty() {
            self.add_entries(statement);
        }
    }

    fn add_games<'s>(&'s self, statement: &mut Statement<'s>) {
        let (keys, specs) = (self.games.iter().map(|game| game.0), || self.games.iter().map(|game| game.1));
        let pairs = || specs().map(|spec| spec.pair.as_ref());
        let footings = || specs().map(|spec| spec.footing);
        statement.insert(
            "game (key, id, first_player, second_player, variant, bank_ms, increment_ms, move_ms, rated, \
             unrated_because, opening_kind, opening_moves, pair_id, pair_leg, pair_of, started_at, first_footing, \
             second_footing, first_version, second_version)",
            vec![
                numbers(keys.clone().map(|keys| keys.key)),
                texts(specs().map(|spec| spec.id.as_str())),
                numbers(keys.clone().map(|keys| keys.first_player)),
                numbers(keys.map(|keys| keys.second_player)),
                made_texts(specs().map(|spec| spec.variant.to_string())),
                numbers_or_none(specs().map(|spec| spec.time.bank_ms.map(i64::from))),
                numbers(specs().map(|spec| i64::from(spec.time.increment_ms))),
                numbers_or_none(specs().map(|spec| spec.time.move_ms.map(i64::from))),
                truths(specs().map(|spec| spec.rated)),
                texts_or_none(specs().map(|spec| spec.unrated_because.map(UnratedReason::as_str))),
                texts(specs().map(|spec| spec.opening.kind.word())),
                texts(specs().map(|spec| spec.opening.moves.as_str())),
                texts_or_none(pairs().map(|pair| pair.map(|pair| pair.id.as_str()))),
                numbers_or_none(pairs().map(|pair| pair.map(|pair| i64::from(pair.leg)))),
                numbers_or_none(pairs().map(|pair| pair.map(|pair| i64::from(pair.of)))),
                numbers(specs().map(|spec| spec.started_at.0)),
                texts_or_none(footings().map(|footing| footing.map(|footing| footing.first.word()))),
                texts_or_none(footings().map(|footing| footing.map(|footing| footing.second.word()))),
                texts_or_none(specs().map(|spec| spec.versions.first.as_deref())),
                texts_or_none(specs().map(|spec| spec.versions.second.as_deref())),
            ],
            "",
        );
        let over = |key: i64| self.ends.iter().any(|end| end.keys.key == key);
        let live = self.games.iter().map(|(keys, _)| keys.key).filter(|key| !over(*key));
        statement.insert("live_game (game)", vec![numbers(live)], "");
    }

    fn add_events<'s>(&'s self, statement: &mut Statement<'s>) {
        let events = || self.events.iter().map(|(_, event)| event);
        let rows: Vec<NewRow<'s>> = events().map(|event| NewRow::of(&event.kind)).collect();
        let rows = || rows.iter();
        statement.insert(
            "event (game, seq, kind, first_ms, second_ms, at, column_no, spent_ms, credited_ms, info, plies, result, \
             reason, at_fault)",
            vec![
                numbers(self.events.iter().map(|(key, _)| *key)),
                numbers(events().map(|event| i64::from(event.seq))),
                texts(rows().map(|row| row.kind)),
                numbers(events().map(|event| to_sql(event.clock_ms.first))),
                numbers(events().map(|event| to_sql(event.clock_ms.second))),
                numbers(events().map(|event| event.at.0)),
                numbers_or_none(rows().map(|row| row.column_no.map(i64::from))),
                numbers_or_none(rows().map(|row| row.spent_ms)),
                numbers_or_none(rows().map(|row| row.credited_ms)),
                texts_or_none(rows().map(|row| row.info)),
                numbers_or_none(rows().map(|row| row.plies.map(i64::from))),
                texts_or_none(rows().map(|row| row.result)),
                texts_or_none(rows().map(|row| row.reason)),
                texts_or_none(rows().map(|row| row.at_fault)),
            ],
            "",
        );
    }

    fn add_ends<'s>(&'s self, statement: &mut Statement<'s>) {
        let ends = || self.ends.iter();
        statement.insert(
            "settlement (number, game, result, moves, unrated_because, ended_at, hash)",
            vec![
                numbers(ends().map(|end| end.number)),
                numbers(ends().map(|end| end.keys.key)),
                texts(ends().map(|end| end.ending.result.word())),
                texts(ends().map(|end| end.moves.as_str())),
                texts_or_none(ends().map(|end| end.unrated_because.map(UnratedReason::as_str))),
                numbers(ends().map(|end| end.ended_at.0)),
                texts(ends().map(|end| end.hash.as_str())),
            ],
            "",
        );
        let of_players = ends().flat_map(|end| {
            let BySide { first, second } = end.keys.players();
            [(first, end.number), (second, end.number)]
        });
        let players = of_players.clone().map(|(player, _)| player);
        // A player's game against itself has one row.
        statement.insert(
            "player_game (player, number)",
            vec![numbers(players), numbers(of_players.map(|(_, number)| number))],
            "ON CONFLICT DO NOTHING",
        );
        if !self.over.is_empty() {
            statement.end_games(self.over.clone());
        }
    }

    fn add_entries<'s>(&'s self, statement: &mut Statement<'s>) {
        let entries = || self.entries.iter().map(|(_, entry)| entry);
        statement.insert(
            "rating_entry (variant, player, number, opponent, before, delta, after, from_newcomer_at)",
            vec![
                texts(self.entries.iter().map(|(variant, _)| variant.as_str())),
                numbers(entries().map(|entry| entry.player)),
                numbers(entries().map(|entry| entry.number)),
                numbers(entries().map(|entry| entry.opponent)),
                numbers(entries().map(|entry| entry.before)),
                numbers(entries().map(|entry| entry.delta)),
                numbers(entries().map(|entry| entry.after)),
                numbers_or_none(entries().map(|entry| entry.from_newcomer_at)),
            ],
            "",
        );
        let rows = || self.ratings.values();
        statement.insert(
            "rating (player, variant, rating, games, wins, draws, losses)",
            vec![
                numbers(self.ratings.keys().map(|(player, _)| *player)),
                texts(self.ratings.keys().map(|(_, variant)| variant.as_str())),
                numbers(rows().map(|row| row.standing.rating.0)),
                numbers(rows().map(|row| to_sql(row.standing.games))),
                numbers(rows().map(|row| to_sql(row.score.wins))),
                numbers(rows().map(|row| to_sql(row.score.draws))),
                numbers(rows().map(|row| to_sql(row.score.losses))),
            ],
            "ON CONFLICT (player, variant) DO UPDATE SET rating = excluded.rating, games = excluded.games, \
             wins = excluded.wins, draws = excluded.draws, losses = excluded.losses",
        );
    }
}

fn started(write: &Write) -> Option<&GameSpec> {
    match write {
        Write::StartGame(spec) => Some(spec),
        _ => None,
    }
}

/// The games that these writes end, whether they were live before or begin among the writes.
fn endings(
    live: &HashMap<GameId, KnownGame>,
    staged: &Staged,
    specs: &[&GameSpec],
    writes: &[&Write],
) -> Vec<(GameSpec, UnixMillis)> {
    let spec_of = |id: &GameId| match staged.changed.get(id) {
        Some(known) => known.as_ref().map(|known| known.game.spec()),
        None => live.get(id).map(|known| known.game.spec()),
    };
    let ending = writes.iter().filter_map(|write| {
        let Write::Finish { game, events } = write else { return None };
        let spec = spec_of(game).or_else(|| specs.iter().copied().find(|spec| spec.id == *game))?;
        Some((spec.clone(), events.last().map_or(spec.started_at, |event| event.at)))
    });
    ending.collect()
}

/// A live game, to be changed.
fn known<'s>(
    live: &HashMap<GameId, KnownGame>,
    staged: &'s mut Staged,
    id: &GameId,
) -> Result<&'s mut KnownGame, Refused> {
    let known = staged.changed.entry(id.clone()).or_insert_with(|| live.get(id).cloned());
    known.as_mut().ok_or(Refused::NoSuchGame)
}
