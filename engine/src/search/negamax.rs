//! The one depth-limited search: negamax with alpha-beta.
//!
//! Bots differ in how they value positions ([`Valuation`]), in what guides their search ([`Guide`]), and in
//! which of several equally good moves they take ([`TieBreak`]). Values are those of plain negamax without
//! cutoffs, and with a plain [`ColumnOrder`] so are the moves; all else only saves time.

use std::sync::atomic::AtomicBool;

use super::guide::{Finding, Guide, Recalled};
use super::limits::{Interrupted, NodeCounter, SearchLimits};
use super::ordering::ColumnOrder;
use super::window::{Bound, Window};
use crate::board::{Column, Position};

/// How a bot values positions, always for the side to move. All values lie strictly inside [`Window::FULL`].
pub trait Valuation {
    /// The value of a position at the horizon, in which the game goes on.
    fn horizon(&mut self, position: &Position) -> i32;

    /// The value of a position in which the opponent has just completed a line.
    fn loss(&self, position: &Position) -> i32;

    /// Whether a value shows how the game ends, so that looking deeper is no use. [`Negamax::deepen`] asks.
    fn is_settled(&self, _value: i32) -> bool {
        false
    }
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
    pub depth: u32,
    /// Nodes of all depths together, the unfinished one included.
    pub nodes: u64,
}

/// A depth-limited search with a bot's valuation and habits.
#[derive(Clone, Debug)]
pub struct Negamax<V, G = ColumnOrder> {
    pub valuation: V,
    pub guide: G,
    pub ties: TieBreak,
}

impl<V: Valuation, G: Guide> Negamax<V, G> {
    /// Searches `depth` plies ahead.
    ///
    /// A value inside the window is exact, and the principal variation leads to it as far as it goes: a guide
    /// that recalls values cuts it short. With a plain [`ColumnOrder`] it is the one that plain negamax would
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
        let mut run = SearchRun::new(self, counter);
        let value = run.value(position, depth, 0, window)?;
        Ok(SearchResult { value, pv: run.pvs.swap_remove(0) })
    }

    /// Whether the value of `position` searched `depth` plies ahead is at least `bound`.
    ///
    /// # Errors
    ///
    /// Fails if `counter` interrupts the search.
    pub fn reaches(
        &mut self,
        position: &Position,
        depth: u32,
        bound: i32,
        counter: &mut NodeCounter<'_>,
    ) -> Result<bool, Interrupted> {
        let window = Window { alpha: bound - 1, beta: bound };
        Ok(SearchRun::new(self, counter).value(position, depth, 1, window)? >= bound)
    }

    /// Searches to each of `depths` in turn (rising, at least 1) and returns the last search that was finished.
    ///
    /// The game must not be over. Ends early when a value is settled, and at the depth that reaches the end
    /// of the game. If not even the first search is finished, returns its best move so far, or what one ply
    /// shows: that is searched whatever the limits say, as it takes microseconds and there has to be a move.
    pub fn deepen(
        &mut self,
        position: &Position,
        depths: impl IntoIterator<Item = u32>,
        limits: SearchLimits<'_>,
    ) -> Deepened {
        let mut best = self.search_one_ply(position);
        let first_nodes = best.nodes;
        let mut counter = NodeCounter::new(limits.after(first_nodes));
        let plies_left = position.variant().cells() - position.ply();
        let mut is_first = true;
        for depth in depths {
            if depth > 1 {
                let mut run = SearchRun::new(self, &mut counter);
                let finished = run.value(position, depth, 0, Window::FULL);
                let result = run.into_result();
                match (finished, result) {
                    (Ok(_), Some(result)) => best = Deepened { result, depth, nodes: 0 },
                    (Err(Interrupted), Some(result)) if is_first => {
                        best = Deepened { result, depth, nodes: 0 };
                    }
                    (Ok(_) | Err(Interrupted), _) => {}
                }
                if finished.is_err() {
                    break;
                }
            }
            if depth >= plies_left || self.valuation.is_settled(best.result.value) {
                break;
            }
            is_first = false;
        }
        best.nodes = first_nodes + counter.nodes();
        best
    }

    fn search_one_ply(&mut self, position: &Position) -> Deepened {
        let never = AtomicBool::new(false);
        let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &never });
        let result = self.search(position, 1, Window::FULL, &mut counter).expect("nothing interrupts it");
        Deepened { result, depth: 1, nodes: counter.nodes() }
    }
}

/// One search under way.
struct SearchRun<'s, 'l, V, G> {
    negamax: &'s mut Negamax<V, G>,
    counter: &'s mut NodeCounter<'l>,
    /// The principal variation from each ply below the root on. Reused, so that searching allocates nothing.
    pvs: Vec<Vec<Column>>,
    /// The value of the best move at the root so far.
    root_value: Option<i32>,
}

impl<'s, 'l, V: Valuation, G: Guide> SearchRun<'s, 'l, V, G> {
    fn new(negamax: &'s mut Negamax<V, G>, counter: &'s mut NodeCounter<'l>) -> Self {
        Self { negamax, counter, pvs: Vec::new(), root_value: None }
    }

    /// The best move so far, and its variation; `None` if no move has been searched to the end.
    fn into_result(mut self) -> Option<SearchResult> {
        let value = self.root_value?;
        Some(SearchResult { value, pv: self.pvs.swap_remove(0) })
    }

    /// Returns the value of `position`, which is `ply` plies below the root, under the contract of
    /// [`Negamax::search`], and leaves the principal variation in `pvs[ply]`.
    fn value(
        &mut self,
        position: &Position,
        depth: u32,
        ply: usize,
        window: Window,
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
        let Recalled { value, best: best_before } = self.negamax.guide.recall(position, depth, window);
        // At the root the caller wants a move, not only a value.
        if let Some(value) = value.filter(|_| ply > 0) {
            return Ok(value);
        }
        let moves = self.negamax.guide.moves(position, depth, best_before);
        let (value, best) = self.best_of(moves.as_slice(), position, depth, ply, window)?;
        let bound = if value <= window.alpha {
            Bound::Upper
        } else if value >= window.beta {
            Bound::Lower
        } else {
            Bound::Exact
        };
        self.negamax.guide.remember(position, Finding { depth, value, bound, best });
        Ok(value)
    }

    /// Searches the moves of a position in which the game goes on.
    fn best_of(
        &mut self,
        moves: &[Column],
        position: &Position,
        depth: u32,
        ply: usize,
        Window { alpha, beta }: Window,
    ) -> Result<(i32, Column), Interrupted> {
        let mut best: Option<(i32, Column)> = None;
        for &column in moves {
            // Of a worse move we only need to know that it is worse. One as good as the best has to be told
            // apart from a worse one if it may take its place, so the window reaches one below the best.
            let floor = match (best, self.negamax.ties) {
                (None, _) => alpha,
                (Some((value, _)), TieBreak::FirstSearched) => alpha.max(value),
                (Some((value, _)), TieBreak::Rightmost) => alpha.max(value - 1),
            };
            let window = Window { alpha: floor, beta };
            let after = position.play_unchecked(column);
            let value = if G::NULL_WINDOWS && best.is_some() {
                self.value_if_above(&after, depth - 1, ply + 1, window)?
            } else {
                self.value_after(&after, depth - 1, ply + 1, window)?
            };
            let is_better = best.is_none_or(|(best_value, best_column)| {
                value > best_value || value == best_value && self.negamax.ties.prefers(column, best_column)
            });
            if is_better {
                best = Some((value, column));
                self.extend_pv(ply, column);
                if ply == 0 {
                    self.root_value = Some(value);
                }
            }
            if value >= beta {
                break;
            }
        }
        Ok(best.expect("a board that is not full has an open column"))
    }

    /// The value of the move that led to `after`, for the side that made it.
    fn value_after(
        &mut self,
        after: &Position,
        depth: u32,
        ply: usize,
        Window { alpha, beta }: Window,
    ) -> Result<i32, Interrupted> {
        Ok(-self.value(after, depth, ply, Window { alpha: -beta, beta: -alpha })?)
    }

    /// The same, by a test first whether the move is any better: mostly it is not, and the test is cheap.
    fn value_if_above(
        &mut self,
        after: &Position,
        depth: u32,
        ply: usize,
        window: Window,
    ) -> Result<i32, Interrupted> {
        let null = Window { alpha: window.alpha, beta: window.alpha + 1 };
        let value = self.value_after(after, depth, ply, null)?;
        if value <= window.alpha || value >= window.beta {
            return Ok(value);
        }
        self.value_after(after, depth, ply, window)
    }

    fn start_pv(&mut self, ply: usize) {
        if self.pvs.len() <= ply {
            self.pvs.resize_with(ply + 1, Vec::new);
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

    use super::*;
    use crate::board::Variant;
    use crate::rng;
    use crate::search::eval::OpenLines;
    use crate::search::tests::random_position;
    use crate::search::{Reuse, Table, ThreatGuide};

    /// Negamax as in the textbook: no window, every move searched in full.
    fn search_plainly(position: &Position, depth: u32, order: &ColumnOrder, ties: TieBreak) -> SearchResult {
        if position.has_line_of_last_mover() {
            return SearchResult { value: OpenLines.loss(position), pv: Vec::new() };
        }
        if position.is_full() || depth == 0 {
            let value = if position.is_full() { 0 } else { OpenLines.horizon(position) };
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

    fn search(
        position: &Position,
        depth: u32,
        order: ColumnOrder,
        ties: TieBreak,
        window: Window,
    ) -> SearchResult {
        let stop = AtomicBool::new(false);
        let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &stop });
        Negamax { valuation: OpenLines, guide: order, ties }
            .search(position, depth, window, &mut counter)
            .unwrap()
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
    fn threats_and_memory_change_no_value() {
        let mut rng = rng::seeded(8);
        for variant in ["7x6", "4x4", "5x5x3", "9x6x5"] {
            let variant: Variant = variant.parse().unwrap();
            // Few slots, so that findings are pushed out, and one table for all, so that old ones remain.
            let guide = ThreatGuide::new(variant, Table::new(1 << 10, Reuse::SameDepth));
            let mut guided = Negamax { valuation: OpenLines, guide, ties: TieBreak::FirstSearched };
            let stop = AtomicBool::new(false);
            let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &stop });
            for _ in 0..100 {
                let position = random_position(variant, &mut rng);
                for depth in [5, 1, 2, 4, 3, 5] {
                    let order = ColumnOrder::centre_first(variant);
                    let plain = search(&position, depth, order, TieBreak::FirstSearched, Window::FULL);
                    let found = guided.search(&position, depth, Window::FULL, &mut counter).unwrap();
                    assert_eq!(found.value, plain.value, "{position:?} at depth {depth}");
                    for bound in [plain.value - 1, plain.value, plain.value + 1] {
                        let reaches = guided.reaches(&position, depth, bound, &mut counter).unwrap();
                        assert_eq!(reaches, plain.value >= bound);
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
        let mut negamax = Negamax { valuation: OpenLines, guide: order, ties: TieBreak::Rightmost };
        let stop = AtomicBool::new(stop);
        negamax.deepen(&Position::new(Variant::STANDARD), 1..=depth_max, SearchLimits { nodes, stop: &stop })
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
    fn a_first_search_that_is_not_finished_leaves_its_best_move_so_far() {
        let order = ColumnOrder::centre_first(Variant::STANDARD);
        let mut negamax = Negamax { valuation: OpenLines, guide: order, ties: TieBreak::FirstSearched };
        let stop = AtomicBool::new(false);
        let position = Position::new(Variant::STANDARD);
        let mut deepen =
            |nodes| negamax.deepen(&position, [7, 9], SearchLimits { nodes: Some(nodes), stop: &stop }).depth;
        assert_eq!(deepen(100), 1, "not even one move was searched: one ply has to do");
        assert_eq!(deepen(10_000), 7, "some moves were");
    }

    #[test]
    fn an_interrupted_search_says_so() {
        let stop = AtomicBool::new(false);
        stop.store(true, Ordering::Relaxed);
        let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &stop });
        let order = ColumnOrder::ascending(Variant::STANDARD);
        let mut negamax = Negamax { valuation: OpenLines, guide: order, ties: TieBreak::FirstSearched };
        let position = Position::new(Variant::STANDARD);
        assert_eq!(negamax.search(&position, 3, Window::FULL, &mut counter), Err(Interrupted));
    }
}
