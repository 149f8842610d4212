//! A player: connects to some node, plays by chance, and remembers all that it sent and heard.

use std::collections::{BTreeMap, BTreeSet};

use fourfold_engine::{Column, Game, Side, Variant};
use rand::rngs::ChaCha8Rng;
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};

use super::words::{Frame, Over, SessionNumber};
use crate::cluster::Incarnation;
use crate::model::ids::{GameId, PlayerId};
use crate::storage::conformance::player_id;
use crate::storage::record::StoredGame;

/// How long a player thinks, in milliseconds.
const THINK_MS: std::ops::Range<u64> = 50..900;

/// How long a player waits before it comes back, in milliseconds.
const AWAY_MS: std::ops::Range<u64> = 200..900;

/// How long a player waits for what it has played to appear before it looks for another node, in milliseconds.
const PATIENCE_MS: u64 = 8_000;

/// A game as a client sees it.
#[derive(Clone, Debug)]
struct View {
    game: GameId,
    side: Side,
    moves: Vec<Column>,
    over: Over,
}

/// What a client wants of the world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    Connect,
    Disconnect,
    Resume { game: GameId },
    Play { game: GameId, ply: u32, column: Column },
    Sync,
}

#[derive(Debug)]
pub(super) struct Client {
    pub(super) player: PlayerId,
    chance: ChaCha8Rng,
    pub(super) connection: Option<(Incarnation, SessionNumber)>,
    view: Option<View>,
    /// When it does something by itself.
    pub(super) due_ms: u64,
    /// Since when the move that it has sent is not there.
    waits_since_ms: Option<u64>,
    /// All that it ever sent; all that it was told of its own moves; the longest that it saw of each game.
    sent: BTreeMap<(GameId, u32), Column>,
    acked: BTreeMap<(GameId, u32), Column>,
    seen: BTreeMap<GameId, Vec<Column>>,
    pub(super) faults: Vec<String>,
}

impl Client {
    pub(super) fn new(number: usize, seed: u64) -> Self {
        Self {
            player: player_id(&name(number)),
            chance: ChaCha8Rng::seed_from_u64(seed.wrapping_mul(31).wrapping_add(number as u64)),
            connection: None,
            view: None,
            due_ms: 0,
            waits_since_ms: None,
            sent: BTreeMap::new(),
            acked: BTreeMap::new(),
            seen: BTreeMap::new(),
            faults: Vec::new(),
        }
    }

    pub(super) fn is_playing(&self) -> bool {
        self.view.as_ref().is_some_and(|view| view.over == Over::NotYet)
    }

    pub(super) fn acked(&self) -> usize {
        self.acked.len()
    }

    /// The game to which it comes back.
    pub(super) fn resumed(&self) -> Option<Wish> {
        let view = self.view.as_ref().filter(|view| view.over == Over::NotYet)?;
        Some(Wish::Resume { game: view.game.clone() })
    }

    /// The connection is gone.
    pub(super) fn cut(&mut self, now_ms: u64) {
        self.connection = None;
        self.waits_since_ms = None;
        self.due_ms = now_ms + self.chance.random_range(AWAY_MS);
    }

    /// Its time has come.
    pub(super) fn act(&mut self, now_ms: u64) -> Option<Wish> {
        self.due_ms = now_ms + 1_000;
        if self.connection.is_none() {
            return Some(Wish::Connect);
        }
        if self.waits_since_ms.is_some_and(|since| now_ms >= since + PATIENCE_MS) {
            return Some(Wish::Disconnect);
        }
        let view = self.view.as_ref().filter(|view| view.over == Over::NotYet)?;
        let ply = u32::try_from(view.moves.len()).unwrap_or(u32::MAX);
        let is_ours = (ply % 2 == 0) == (view.side == Side::First);
        if !is_ours || self.waits_since_ms.is_some() {
            return None;
        }
        let game = view.game.clone();
        // What was sent before may be stored: another column would be another move.
        let known = self.sent.get(&(game.clone(), ply)).copied();
        let column = known.or_else(|| {
            let mut board = Game::new(Variant::STANDARD);
            view.moves.iter().try_for_each(|column| board.play(*column).map(drop)).ok()?;
            board.position().legal_columns().choose(&mut self.chance)
        })?;
        self.sent.insert((game.clone(), ply), column);
        self.waits_since_ms = Some(now_ms);
        Some(Wish::Play { game, ply, column })
    }

    /// Hears a frame; what it has to ask for at once.
    pub(super) fn hear(&mut self, frame: &Frame, now_ms: u64) -> Option<Wish> {
        match frame {
            Frame::Snapshot { game, side, moves, over } => {
                let before = self.view.take().filter(|view| view.game == *game);
                let known = before.as_ref().map_or(&[][..], |view| view.moves.as_slice());
                self.compare(game, known, moves);
                // A snapshot answers whether the move was taken: if it is not there, it is sent again.
                let is_news = moves.len() > known.len() || before.is_none() || self.waits_since_ms.is_some();
                let moves = if moves.len() >= known.len() { moves.clone() } else { known.to_vec() };
                let over = if before.is_some_and(|view| view.over == Over::Yes) { Over::Yes } else { *over };
                self.view = Some(View { game: game.clone(), side: *side, moves, over });
                self.waits_since_ms = None;
                if is_news {
                    self.looked_at(now_ms);
                }
                None
            }
            Frame::Moved { game, ply, column } => self.hear_move(game, *ply, *column, now_ms),
            Frame::Busy { game } => {
                if self.view.as_ref().is_some_and(|view| view.game == *game) {
                    self.waits_since_ms = None;
                }
                None
            }
        }
    }

    fn hear_move(&mut self, game: &GameId, ply: u32, column: Column, now_ms: u64) -> Option<Wish> {
        let Some(view) = self.view.as_mut().filter(|view| view.game == *game) else {
            return Some(Wish::Sync);
        };
        match (ply as usize).cmp(&view.moves.len()) {
            std::cmp::Ordering::Equal => view.moves.push(column),
            std::cmp::Ordering::Less if view.moves[ply as usize] == column => return None,
            std::cmp::Ordering::Less => {
                let known = view.moves[ply as usize];
                self.faults.push(format!("I6: {game} ply {ply} was {known}, now it is {column}"));
                return None;
            }
            std::cmp::Ordering::Greater => return Some(Wish::Sync),
        }
        self.waits_since_ms = None;
        self.looked_at(now_ms);
        None
    }

    fn compare(&mut self, game: &GameId, known: &[Column], told: &[Column]) {
        if known.iter().zip(told).any(|(known, told)| known != told) {
            self.faults.push(format!("I6: {:?} saw {known:?} of {game}, and then {told:?}", self.player));
        }
    }

    /// Takes note of what the view shows, and thinks about the next move.
    fn looked_at(&mut self, now_ms: u64) {
        let Some(view) = &self.view else { return };
        for (ply, column) in (0_u32..).zip(&view.moves) {
            if self.sent.get(&(view.game.clone(), ply)) == Some(column) {
                self.acked.insert((view.game.clone(), ply), *column);
            }
        }
        let seen = self.seen.entry(view.game.clone()).or_default();
        if view.moves.len() > seen.len() {
            seen.clone_from(&view.moves);
        }
        self.due_ms = now_ms + self.chance.random_range(THINK_MS);
    }

    /// Compares what it knows with what is kept.
    pub(super) fn judge(&self, games: &BTreeMap<GameId, (StoredGame, Vec<Column>)>) -> Vec<String> {
        let kept = |game: &GameId, ply: u32| games.get(game)?.1.get(ply as usize).copied();
        let lost = self.acked.iter().filter(|((game, ply), column)| kept(game, *ply) != Some(**column));
        let lost = lost.map(|((game, ply), column)| format!("I1: {column} at ply {ply} of {game} was lost"));
        let unseen = self
            .seen
            .iter()
            .filter(|(game, seen)| games.get(*game).is_none_or(|(_, moves)| !moves.starts_with(seen)));
        let unseen = unseen.map(|(game, seen)| format!("I6: {seen:?} was seen of {game} and is not kept"));
        let ours = games.values().filter_map(|(stored, moves)| {
            let players = &stored.spec.players;
            let side = Side::BOTH.into_iter().find(|side| players[*side] == self.player)?;
            Some((&stored.spec.id, moves, usize::from(side == Side::Second)))
        });
        let invented = ours.flat_map(|(game, moves, first)| {
            let plies = (0_u32..).zip(moves).skip(first).step_by(2);
            let strange = plies.filter(|(ply, column)| self.sent.get(&(game.clone(), *ply)) != Some(*column));
            strange
                .map(|(ply, column)| format!("I2: nobody sent {column} at ply {ply} of {game}"))
                .collect::<Vec<_>>()
        });
        let faults: BTreeSet<String> = lost.chain(unseen).chain(invented).collect();
        faults.into_iter().chain(self.faults.iter().cloned()).collect()
    }
}

pub(super) fn name(number: usize) -> String {
    format!("client{number}")
}
