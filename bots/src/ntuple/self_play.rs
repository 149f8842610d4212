//! Games of a network against itself, and what it learns from them.

use fourfold_engine::rng::GameRng;
use fourfold_engine::search::Tactics;
use fourfold_engine::{Bitboard, Column, Position, Side, Variant};
use rand::RngExt;

use super::layout::{Drop, Stones, VARIANT};
use super::network::{Cursor, Network, squash};

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Method {
    pub exploration: f32,
    pub lambda: f32,
    pub tactics: bool,
    pub logistic: bool,
    pub bootstrap: bool,
    pub restarts: f32,
    pub look_ahead: bool,
}

impl Default for Method {
    fn default() -> Self {
        Self { exploration: 0.1, lambda: 0.7, tactics: true, logistic: false, bootstrap: false, restarts: 0.0, look_ahead: false }
    }
}

/// A position that came up, with the value it had.
#[derive(Debug)]
struct Visit {
    indices: Vec<u32>,
    side: Side,
    value: f32,
    /// What follows says nothing about this position: the next move was drawn.
    cut: bool,
    /// Value of the best move that could have followed.
    next_best: f32,
}

/// Plays games and learns from them. One for each thread.
#[derive(Debug)]
pub struct Player<'n> {
    network: &'n Network,
    pub method: Method,
    rng: GameRng,
    cursor: Cursor,
    visits: Vec<Visit>,
    used: usize,
    path: Vec<Position>,
    pub reservoir: Vec<Position>,
    pub target: Option<&'n Network>,
    saved: Vec<u32>,
}

impl<'n> Player<'n> {
    pub fn new(network: &'n Network, method: Method, rng: GameRng) -> Self {
        let cursor = Cursor::new(&network.layout);
        let visit = || Visit {
            indices: vec![0; network.layout.features()],
            side: Side::First,
            value: 0.0,
            cut: false,
            next_best: 0.0,
        };
        let visits = (0..VARIANT.cells()).map(|_| visit()).collect();
        Self { network, method, rng, cursor, visits, used: 0, path: Vec::new(), reservoir: Vec::new(), target: None, saved: vec![0; network.layout.features()] }
    }

    /// Plays one game and takes a step of this size after it.
    pub fn play(&mut self, step: f32) {
        let result = self.play_out();
        self.learn(result, step);
        if self.method.restarts > 0.0 {
            self.note_loss(result);
        }
    }

    fn note_loss(&mut self, result: f32) {
        // The last position in which the later loser stood clearly better.
        let turned = (0..self.used).rev().find(|&at| self.visits[at].value * result < -0.3
            || (result == 0.0 && self.visits[at].value.abs() > 0.5));
        if let Some(at) = turned {
            let position = self.path[at.saturating_sub(self.rng.random_range(0..4))];
            if self.reservoir.len() < 1000 {
                self.reservoir.push(position);
            } else {
                let slot = self.rng.random_range(0..1000);
                self.reservoir[slot] = position;
            }
        }
    }

    /// Returns the result: 1 if the first player wins.
    fn play_out(&mut self) -> f32 {
        let layout = &self.network.layout;
        let mut position = Position::new(Variant::STANDARD);
        if !self.reservoir.is_empty() && self.rng.random::<f32>() < self.method.restarts {
            position = self.reservoir[self.rng.random_range(0..self.reservoir.len())];
        }
        let mut stones = Stones::of(&position);
        self.cursor.set(layout, stones);
        self.used = 0;
        self.path.clear();
        loop {
            if position.is_full() {
                return 0.0;
            }
            let side = position.side_to_move();
            let sign = if side == Side::First { 1.0 } else { -1.0 };
            let cells = if self.method.tactics {
                match Tactics::of(&position) {
                    Tactics::Win(_) => return sign,
                    Tactics::Lost(_) => return -sign,
                    Tactics::Safe(cells) => cells,
                }
            } else {
                if position.has_line_of_last_mover() {
                    return -sign;
                }
                position.playable()
            };
            let (column, value, explored, best) = self.choose(cells, stones, side, sign, &position);
            let drop = Drop::new(stones, column.index(), side);
            self.cursor.drop(layout, drop);
            position = position.play_unchecked(column);
            stones = Stones::of(&position);
            if self.used > 0 {
                let before = &mut self.visits[self.used - 1];
                before.cut = explored;
                before.next_best = match self.target {
                    Some(network) if !explored => squash(network.table(side).sum(&self.cursor.indices)),
                    _ => best,
                };
            }
            let visit = &mut self.visits[self.used];
            visit.indices.copy_from_slice(&self.cursor.indices);
            visit.side = side;
            visit.value = if self.method.look_ahead { squash(self.network.table(side).sum(&self.cursor.indices)) } else { value };
            visit.cut = false;
            self.used += 1;
            self.path.push(position);
        }
    }

    fn choose(&mut self, cells: Bitboard, stones: Stones, side: Side, sign: f32, position: &Position) -> (Column, f32, bool, f32) {
        let table = self.network.table(side);
        let layout = &self.network.layout;
        let explores = cells.count() > 1 && self.rng.random::<f32>() < self.method.exploration;
        let drawn = if explores { self.rng.random_range(0..cells.count()) as usize } else { usize::MAX };
        let before = if self.method.look_ahead { 0.0 } else { self.cursor.look(table) };
        let mut best = f32::NEG_INFINITY;
        let mut chosen = None;
        let mut random = None;
        let mut left = cells.bits();
        let mut number = 0;
        while left != 0 {
            let column = (left.trailing_zeros() / 7) as usize;
            left &= left - 1;
            let drop = Drop::new(stones, column, side);
            let sum = if self.method.look_ahead {
                self.replies(position, column, drop) * sign
            } else {
                self.cursor.sum_after(layout, table, drop, before) * sign
            };
            if sum > best {
                best = sum;
                chosen = Some(column);
            }
            if number == drawn {
                random = Some((column, sum));
            }
            number += 1;
        }
        let best_column = chosen.expect("a move");
        let best_value = squash(best) * sign;
        match random {
            Some((column, sum)) if column != best_column => {
                (Column::from_index(column).expect("on the board"), squash(sum) * sign, true, best_value)
            }
            _ => (Column::from_index(best_column).expect("on the board"), best_value, false, best_value),
        }
    }

    /// The value of a move after the best reply, for the first player.
    fn replies(&mut self, position: &Position, column: usize, drop: Drop) -> f32 {
        let layout = &self.network.layout;
        let mut after = position.play_unchecked(Column::from_index(column).expect("on the board"));
        let mut sign = if after.side_to_move() == Side::First { 1.0 } else { -1.0 };
        if after.is_full() { return 0.0; }
        let mut cells = match Tactics::of(&after) {
            Tactics::Win(_) => return 3.0 * sign,
            Tactics::Lost(_) => return -3.0 * sign,
            Tactics::Safe(cells) => cells,
        };
        self.saved.copy_from_slice(&self.cursor.indices);
        self.cursor.drop(layout, drop);
        let _ = (&mut after, &mut sign, &mut cells);
        let stones = Stones::of(&after);
        let side = after.side_to_move();
        let table = self.network.table(side);
        let before = self.cursor.look(table);
        let mut best = f32::NEG_INFINITY;
        let mut left = cells.bits();
        while left != 0 {
            let column = (left.trailing_zeros() / 7) as usize;
            left &= left - 1;
            best = best.max(self.cursor.sum_after(layout, table, Drop::new(stones, column, side), before) * sign);
        }
        self.cursor.indices.copy_from_slice(&self.saved);
        best * sign
    }

    fn learn(&mut self, result: f32, step: f32) {
        let Method { lambda, logistic, bootstrap, .. } = self.method;
        let mut target = result;
        let mut next_value = result;
        for at in (0..self.used).rev() {
            let visit = &self.visits[at];
            if at + 1 < self.used {
                if visit.cut {
                    target = visit.next_best;
                } else {
                    let next = if self.target.is_some() || self.method.look_ahead { visit.next_best } else { next_value };
                    target = (1.0 - lambda) * next + lambda * target;
                }
            }
            next_value = visit.value;
            if visit.cut && !bootstrap {
                target = visit.value;
                continue;
            }
            let slope = if logistic { 1.0 } else { 1.0 - visit.value * visit.value };
            let delta = step * slope * (target - visit.value);
            self.network.table(visit.side).add(&visit.indices, delta);
        }
    }
}
