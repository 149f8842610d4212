//! From null windows to a score: which windows are searched, and by how many threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};

use super::bounds;
use super::bucket::KnownBounds;
use super::geometry::Geometry;
use super::meter::NodeMeter;
use super::node::{Node, Settled};
use super::search::{ChildStack, Search};
use super::table::BoundsTable;
use super::word::Word;
use crate::search::{Interrupted, SearchLimits};

/// Distances in plies that are asked for first, in this order: odd ones for a win of the side to move, even ones for a
/// loss. Near ends are found, and far ones shown to be far, at little cost, and the bisection that follows starts with
/// less to choose from.
///
/// Mean nodes on begin-easy (60 rows), middle-easy, begin-medium (30): without 549, 56.1, 125.6k; with 9, 12, 13, 16,
/// 17: 185, 35.2, 121.0k. More of them (20, 21) cost a seventh on begin-medium; fewer cost more on the easy ones.
const DISTANCES: [u32; 5] = [9, 12, 13, 16, 17];

/// Solves positions of one board.
pub(super) struct Root<'a, G: Geometry> {
    pub(super) geometry: G,
    pub(super) table: &'a BoundsTable<G::Word>,
    pub(super) limits: SearchLimits<'a>,
    pub(super) threads: NonZeroUsize,
    /// Of the caller's thread.
    pub(super) stack: ChildStack<G::Word>,
    /// Nodes of all threads so far.
    pub(super) nodes: u64,
}

impl<W: Word, G: Geometry<Word = W>> Root<'_, G> {
    /// Narrows what is known of a position's score until it is one number, or until the limits are reached. In it
    /// nobody has a line. A `guess` is asked for first.
    ///
    /// # Errors
    ///
    /// Fails with what was proven until the limits were reached.
    pub(super) fn solve(
        &mut self,
        root: Node<W>,
        known: KnownBounds,
        guess: Option<i32>,
    ) -> Result<i32, KnownBounds> {
        match root.settle(self.geometry) {
            Settled::Known(score) => Ok(score.clamp(known.lower, known.upper)),
            Settled::Open { node, moves, is_flipped: false } => self.solve_open(&node, moves, known, guess),
            Settled::Open { node, moves, is_flipped: true } => {
                let solved = self.solve_open(&node, moves, known.flip(), guess.map(|guess| -guess));
                solved.map(|score| -score).map_err(KnownBounds::flip)
            }
        }
    }

    fn solve_open(
        &mut self,
        node: &Node<W>,
        moves: W,
        known: KnownBounds,
        guess: Option<i32>,
    ) -> Result<i32, KnownBounds> {
        let place = self.table.place(node.key(self.geometry), self.geometry.key_bits());
        let proven = bounds::of(self.geometry, node).and(self.table.recall(place));
        // The caller may ask for less than the score, such as its sign: then the score may lie outside.
        let mut known = KnownBounds {
            lower: proven.lower.clamp(known.lower, known.upper),
            upper: proven.upper.clamp(known.lower, known.upper),
        };
        let mut distances = DISTANCES.into_iter();
        while known.lower < known.upper {
            let alpha = guess
                .and_then(|guess| window_at(guess, known))
                .or_else(|| distances.find_map(|plies| self.window_of(node.ply, plies, known)))
                .unwrap_or_else(|| middle(known));
            match self.search(node, moves, alpha) {
                Ok(score) if score <= alpha => known.upper = score.max(known.lower),
                Ok(score) => known.lower = score.min(known.upper),
                Err(Interrupted) => return Err(known),
            }
        }
        Ok(known.lower)
    }

    /// The window that tells whether the game ends within `plies`, if that is open.
    fn window_of(&self, ply: u32, plies: u32, known: KnownBounds) -> Option<i32> {
        let score = self.geometry.win(ply + plies);
        let alpha = if plies.is_multiple_of(2) { -score } else { score - 1 };
        (score > 0 && (known.lower..known.upper).contains(&alpha)).then_some(alpha)
    }

    /// Searches one null window. With several threads the first that finishes answers.
    fn search(&mut self, node: &Node<W>, moves: W, alpha: i32) -> Result<i32, Interrupted> {
        let left = self.limits.after(self.nodes);
        let is_done = AtomicBool::new(false);
        let threads = self.threads.get();
        let limits = SearchLimits { nodes: left.nodes.map(|left| left.div_ceil(threads as u64)), ..left };
        let run = |thread: usize, stack: ChildStack<W>| {
            let meter = NodeMeter { limits, is_done: &is_done, nodes: 0 };
            let thread = u32::try_from(thread).unwrap_or(0);
            let mut search = Search::new(self.geometry, self.table, meter, thread).on(stack);
            let found = search.search(node, moves, alpha);
            if found.is_ok() {
                is_done.store(true, Ordering::Relaxed);
            }
            (found, search.meter.nodes, search.into_stack())
        };
        let stack = std::mem::take(&mut self.stack);
        if threads == 1 {
            let (found, nodes, stack) = run(0, stack);
            self.nodes += nodes;
            self.stack = stack;
            return found;
        }
        let mut results = std::thread::scope(|scope| {
            let run = &run;
            let helpers: Vec<_> =
                (1..threads).map(|thread| scope.spawn(move || run(thread, ChildStack::new()))).collect();
            let mut results = vec![run(0, stack)];
            results.extend(helpers.into_iter().filter_map(|helper| helper.join().ok()));
            results
        });
        self.nodes += results.iter().map(|(_, nodes, _)| nodes).sum::<u64>();
        self.stack = std::mem::take(&mut results[0].2);
        results.into_iter().find_map(|(found, ..)| found.ok()).ok_or(Interrupted)
    }
}

/// The window that a guess asks for: whether the score is as much, and then whether it is more. `None` once it is
/// refuted.
fn window_at(guess: i32, known: KnownBounds) -> Option<i32> {
    match guess {
        guess if guess == known.lower => Some(guess),
        guess if known.lower < guess && guess <= known.upper => Some(guess - 1),
        _ => None,
    }
}

/// A window that halves what is open, or rather its square root: near to 0 are most scores, and far from it the
/// searches are short.
fn middle(known: KnownBounds) -> i32 {
    let KnownBounds { lower, upper } = known;
    let middle = (lower + upper).div_euclid(2);
    let alpha = if middle <= 0 && lower / 2 < middle {
        lower / 2
    } else if middle >= 0 && upper / 2 > middle {
        upper / 2
    } else {
        middle
    };
    alpha.clamp(lower, upper - 1)
}
