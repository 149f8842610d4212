//! The one depth-limited search: negamax with alpha-beta.
//!
//! Bots differ in how they value positions ([`Valuation`]), in the order of columns, and in which of several
//! equally good moves they take ([`TieBreak`]). Whatever they choose is what plain negamax without cutoffs
//! would choose; the cutoffs only save time.

use std::sync::atomic::AtomicBool;

use super::limits::{Interrupted, Limits, NodeCounter};
use super::ordering::ColumnOrder;
use crate::board::{Column, Position};

/// How a bot values positions, always for the side to move. All values lie strictly inside [`Window::FULL`].
pub trait Valuation {
    /// The value of a position at the horizon, in which the game goes on.
    fn horizon(&mut self, position: &Position) -> i32;

    /// The value of a position in which the opponent has just completed a line.
    fn loss(&self, position: &Position) -> i32;
}

/// Which of several equally good moves is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TieBreak {
    /// The one that was searched first.
    FirstSearched,
    /// The rightmost, in whatever order they were searched.
    Rightmost,
}

impl TieBreak {
    /// Whether a move as good as `best` takes its place.
    fn prefers(self, column: Column, best: Column) -> bool {
        match self {
            Self::FirstSearched => false,
            Self::Rightmost => column > best,
        }
    }
}

/// The values a search has to tell apart: it may return any value ≤ `alpha` for those that are, and ≥ `beta`
/// alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    pub alpha: i32,
    pub beta: i32,
}

impl Window {
    /// Tells all values apart.
    pub const FULL: Self = Self { alpha: -1_000_000_000, beta: 1_000_000_000 };
}

/// What a search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchResult {
    /// For the side to move.
    pub value: i32,
    /// The principal variation; empty if the game is over or the depth is 0.
    pub pv: Vec<Column>,
}

/// The result of the deepest search that was finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deepened {
    pub result: SearchResult,
    /// Plies looked ahead.
    pub depth: u32,
    /// Nodes of all depths together, the unfinished one included.
    pub nodes: u64,
}

/// A depth-limited search with a bot's valuation and habits.
#[derive(Clone, Debug)]
pub struct Negamax<V> {
    pub valuation: V,
    pub order: ColumnOrder,
    pub ties: TieBreak,
}

impl<V: Valuation> Negamax<V> {
    /// Searches `depth` plies ahead.
    ///
    /// A value inside the window is exact, and the principal variation is the one that plain negamax would
    /// find. A value ≤ `alpha` is an upper bound and one ≥ `beta` a lower bound; the variation then proves
    /// nothing.
    ///
    /// # Errors
    ///
    /// Fails if `counter` interrupts the search.
    pub fn search(
        &mut self,
        position: &Position,
        depth: u32,
        window: Window,
        counter: &mut NodeCounter<'_>,
    ) -> Result<SearchResult, Interrupted> {
        debug_assert!(window.alpha < window.beta, "{window:?} is empty");
        let mut run = Run { negamax: self, counter, pvs: Vec::new() };
        let value = run.value(position, depth, 0, window)?;
        Ok(SearchResult { value, pv: run.pvs.swap_remove(0) })
    }

    /// Searches one ply ahead, then two, and so on to `depth_max` (at least 1), and returns the last search
    /// that was finished.
    ///
    /// The game must not be over. The first search is finished whatever the limits say: it takes
    /// microseconds, and there has to be a move.
    pub fn deepen(&mut self, position: &Position, depth_max: u32, limits: Limits<'_>) -> Deepened {
        let mut best = self.search_one_ply(position);
        let first_nodes = best.nodes;
        let nodes = limits.nodes.map(|nodes| nodes.saturating_sub(first_nodes));
        let mut counter = NodeCounter::new(Limits { nodes, stop: limits.stop });
        // Beyond the end of the game there is nothing to see.
        let depth_max = depth_max.min(position.variant().cells() - position.ply());
        for depth in 2..=depth_max {
            let Ok(result) = self.search(position, depth, Window::FULL, &mut counter) else { break };
            best = Deepened { result, depth, nodes: 0 };
        }
        best.nodes = first_nodes + counter.nodes();
        best
    }

    fn search_one_ply(&mut self, position: &Position) -> Deepened {
        let never = AtomicBool::new(false);
        let mut counter = NodeCounter::new(Limits { nodes: None, stop: &never });
        let result = self.search(position, 1, Window::FULL, &mut counter).expect("nothing interrupts it");
        Deepened { result, depth: 1, nodes: counter.nodes() }
    }
}

/// One search under way.
struct Run<'s, 'l, V> {
    negamax: &'s mut Negamax<V>,
    counter: &'s mut NodeCounter<'l>,
    /// The principal variation from each ply below the root on. Reused, so that searching allocates nothing.
    pvs: Vec<Vec<Column>>,
}

impl<V: Valuation> Run<'_, '_, V> {
    /// Returns the value of `position`, which is `ply` plies below the root, under the contract of
    /// [`Negamax::search`], and leaves the principal variation in `pvs[ply]`.
    fn value(
        &mut self,
        position: &Position,
        depth: u32,
        ply: usize,
        Window { alpha, beta }: Window,
    ) -> Result<i32, Interrupted> {
        self.counter.begin_node()?;
        self.start_pv(ply);
        if position.has_line_of_last_mover() {
            return Ok(self.negamax.valuation.loss(position));
        }
        if position.is_full() {
            return Ok(0);
        }
        if depth == 0 {
            return Ok(self.negamax.valuation.horizon(position));
        }
        let mut best: Option<(i32, Column)> = None;
        for index in 0.. {
            let Some(column) = self.negamax.order.column(index) else { break };
            if !position.is_open(column) {
                continue;
            }
            // Of a worse move we only need to know that it is worse. One as good as the best has to be told
            // apart from a worse one if it may take its place, so the window reaches one below the best.
            let floor = match (best, self.negamax.ties) {
                (None, _) => alpha,
                (Some((value, _)), TieBreak::FirstSearched) => alpha.max(value),
                (Some((value, _)), TieBreak::Rightmost) => alpha.max(value - 1),
            };
            let window = Window { alpha: -beta, beta: -floor };
            let value = -self.value(&position.play_unchecked(column), depth - 1, ply + 1, window)?;
            let is_better = best.is_none_or(|(best_value, best_column)| {
                value > best_value || value == best_value && self.negamax.ties.prefers(column, best_column)
            });
            if is_better {
                best = Some((value, column));
                self.extend_pv(ply, column);
            }
            if value >= beta {
                break;
            }
        }
        let (value, _) = best.expect("a board that is not full has an open column");
        Ok(value)
    }

    fn start_pv(&mut self, ply: usize) {
        if self.pvs.len() <= ply {
            self.pvs.push(Vec::new());
        }
        self.pvs[ply].clear();
    }

    /// The variation at `ply` becomes `column` and then the variation below.
    fn extend_pv(&mut self, ply: usize, column: Column) {
        let [.., pv, below] = &mut self.pvs[..ply + 2] else { unreachable!("the child has started its own") };
        pv.clear();
        pv.push(column);
        pv.extend_from_slice(below);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use rand::RngExt;

    use super::*;
    use crate::board::Variant;
    use crate::rng::{self, GameRng};
    use crate::search::eval;

    struct Segments;

    impl Valuation for Segments {
        fn horizon(&mut self, position: &Position) -> i32 {
            eval::evaluate(position)
        }

        fn loss(&self, _position: &Position) -> i32 {
            -eval::FULL_LINE
        }
    }

    /// Negamax as in the textbook: no window, every move searched in full.
    fn search_plainly(position: &Position, depth: u32, order: &ColumnOrder, ties: TieBreak) -> SearchResult {
        if position.has_line_of_last_mover() {
            return SearchResult { value: Segments.loss(position), pv: Vec::new() };
        }
        if position.is_full() || depth == 0 {
            let value = if position.is_full() { 0 } else { Segments.horizon(position) };
            return SearchResult { value, pv: Vec::new() };
        }
        let mut best: Option<SearchResult> = None;
        for column in order.open_columns(position) {
            let below = search_plainly(&position.play_unchecked(column), depth - 1, order, ties);
            let value = -below.value;
            let is_better = best.as_ref().is_none_or(|best| {
                let takes_ties = match ties {
                    TieBreak::FirstSearched => false,
                    TieBreak::Rightmost => column > best.pv[0],
                };
                value > best.value || value == best.value && takes_ties
            });
            if is_better {
                best = Some(SearchResult { value, pv: [vec![column], below.pv].concat() });
            }
        }
        best.unwrap()
    }

    fn random_position(variant: Variant, rng: &mut GameRng) -> Position {
        let mut position = Position::new(variant);
        for _ in 0..rng.random_range(0..variant.cells()) {
            let open: Vec<Column> = position.legal_columns().collect();
            let Some(drawn) = open.len().checked_sub(1).map(|last| rng.random_range(0..=last)) else { break };
            position = position.play_unchecked(open[drawn]);
        }
        position
    }

    fn search(
        position: &Position,
        depth: u32,
        order: ColumnOrder,
        ties: TieBreak,
        window: Window,
    ) -> SearchResult {
        let stop = AtomicBool::new(false);
        let mut counter = NodeCounter::new(Limits { nodes: None, stop: &stop });
        Negamax { valuation: Segments, order, ties }.search(position, depth, window, &mut counter).unwrap()
    }

    #[test]
    fn cutoffs_change_neither_value_nor_variation() {
        let mut rng = rng::seeded(3);
        for variant in ["7x6", "4x4", "5x5x3", "9x6x5"] {
            let variant: Variant = variant.parse().unwrap();
            for order in [ColumnOrder::ascending(variant), ColumnOrder::centre_first(variant)] {
                for ties in [TieBreak::FirstSearched, TieBreak::Rightmost] {
                    for _ in 0..30 {
                        let position = random_position(variant, &mut rng);
                        let found = search(&position, 4, order.clone(), ties, Window::FULL);
                        assert_eq!(found, search_plainly(&position, 4, &order, ties), "{position:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn values_outside_the_window_are_bounds() {
        let mut rng = rng::seeded(4);
        let order = ColumnOrder::centre_first(Variant::STANDARD);
        for _ in 0..100 {
            let position = random_position(Variant::STANDARD, &mut rng);
            let exact = search(&position, 4, order.clone(), TieBreak::Rightmost, Window::FULL).value;
            for alpha in [exact - 3, exact - 1, exact, exact + 2] {
                let window = Window { alpha, beta: alpha + 2 };
                let value = search(&position, 4, order.clone(), TieBreak::Rightmost, window).value;
                if value <= window.alpha {
                    assert!(exact <= value);
                } else if value >= window.beta {
                    assert!(exact >= value);
                } else {
                    assert_eq!(exact, value);
                }
            }
        }
    }

    fn deepen(depth_max: u32, nodes: Option<u64>, stop: bool) -> Deepened {
        let order = ColumnOrder::centre_first(Variant::STANDARD);
        let mut negamax = Negamax { valuation: Segments, order, ties: TieBreak::Rightmost };
        let stop = AtomicBool::new(stop);
        negamax.deepen(&Position::new(Variant::STANDARD), depth_max, Limits { nodes, stop: &stop })
    }

    #[test]
    fn deepening_ends_with_the_search_of_full_depth() {
        let deepened = deepen(5, None, false);
        let order = ColumnOrder::centre_first(Variant::STANDARD);
        let position = Position::new(Variant::STANDARD);
        assert_eq!(deepened.result, search(&position, 5, order, TieBreak::Rightmost, Window::FULL));
        assert_eq!(deepened.depth, 5);
    }

    #[test]
    fn limits_leave_the_last_finished_depth() {
        let deepened = deepen(12, Some(5000), false);
        assert_eq!(deepened.nodes, 5000);
        assert!((2..8).contains(&deepened.depth), "{deepened:?}");
        assert_eq!(deepened, deepen(12, Some(5000), false));
        for deepened in [deepen(12, Some(0), false), deepen(12, None, true)] {
            assert_eq!((deepened.depth, deepened.nodes), (1, 8), "the first depth is always finished");
        }
    }

    #[test]
    fn an_interrupted_search_says_so() {
        let stop = AtomicBool::new(false);
        stop.store(true, Ordering::Relaxed);
        let mut counter = NodeCounter::new(Limits { nodes: None, stop: &stop });
        let order = ColumnOrder::ascending(Variant::STANDARD);
        let mut negamax = Negamax { valuation: Segments, order, ties: TieBreak::FirstSearched };
        let position = Position::new(Variant::STANDARD);
        assert_eq!(negamax.search(&position, 3, Window::FULL, &mut counter), Err(Interrupted));
    }
}
