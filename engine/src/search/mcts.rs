//! Monte Carlo tree search: UCT with proven values.
//!
//! Each playout goes down the tree by upper confidence bounds, adds a node where it leaves it, and plays the
//! rest at random but for wins and parries in one. Positions whose result two plies show are proven at once,
//! and proofs are passed up the tree ("MCTS-Solver", Winands, Björnsson and Saito 2008), so that a forced win
//! is seen as one and not merely as likely.

use super::guide::Moves;
use super::limits::{NodeCounter, SearchLimits};
use super::ordering::ColumnOrder;
use super::threats::Tactics;
use crate::board::{Bitboard, Cell, Column, Position, Variant};
use crate::rng::PlayoutRng;

/// Weight of the urge to try moves that were tried little. From 0.5 to 1.4, which theory suggests, it made no
/// difference in matches.
const EXPLORATION: f64 = 0.8;

/// Nodes of a tree at most, 20 bytes each: after that playouts go on without new nodes.
const TREE_MAX: usize = 1 << 20;

/// Playouts through a leaf before it gets children of its own: most leaves are never seen again.
const VISITS_TO_EXPAND: u32 = 2;

/// What a tree search found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeResult {
    pub column: Column,
    /// For the side to move, from -1000 for a sure loss to 1000 for a sure win.
    pub per_mille: i32,
    pub playouts: u64,
    /// The line of play that was tried most.
    pub pv: Vec<Column>,
}

/// A tree search that grows a new tree for each position.
#[derive(Clone, Debug)]
pub struct TreeSearch {
    order: ColumnOrder,
    /// The root first; the children of a node lie side by side.
    nodes: Vec<TreeNode>,
}

/// A position in the tree. Results are counted for the side that moved to it, whose choice it was.
#[derive(Clone, Copy, Debug)]
struct TreeNode {
    /// The move that leads here; any for the root.
    column: Column,
    /// Zero children and `NodeStatus::Open` make a leaf.
    children: u8,
    status: NodeStatus,
    first_child: u32,
    visits: u32,
    /// Two for each win, one for each draw.
    half_points: u64,
}

/// What is proven of a node, for the side that moved to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NodeStatus {
    Open,
    Won,
    Drawn,
    Lost,
}

impl NodeStatus {
    /// Half points of a game with this result; `Open` has none yet.
    fn half_points(self) -> Option<u64> {
        match self {
            Self::Open => None,
            Self::Won => Some(2),
            Self::Drawn => Some(1),
            Self::Lost => Some(0),
        }
    }
}

impl TreeNode {
    fn leaf(column: Column) -> Self {
        Self { column, children: 0, status: NodeStatus::Open, first_child: 0, visits: 0, half_points: 0 }
    }

    /// The mean result, from 0 to 1.
    fn mean(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 playouts")]
        let half_points = self.half_points as f64;
        half_points / (2.0 * f64::from(self.visits))
    }

    /// What the choice at the parent maximises; unvisited moves come first, lost ones last.
    fn bound(&self, exploration: f64) -> f64 {
        match self.status {
            NodeStatus::Lost => f64::NEG_INFINITY,
            NodeStatus::Open | NodeStatus::Won | NodeStatus::Drawn if self.visits == 0 => f64::INFINITY,
            NodeStatus::Open | NodeStatus::Won | NodeStatus::Drawn => {
                self.mean() + EXPLORATION * (exploration / f64::from(self.visits)).sqrt()
            }
        }
    }
}

impl TreeSearch {
    pub fn new(variant: Variant) -> Self {
        Self { order: ColumnOrder::centre_first(variant), nodes: Vec::new() }
    }

    /// Gives the memory of the tree back: the next search grows another one anyway.
    pub fn release(&mut self) {
        self.nodes = Vec::new();
    }

    /// Memory held for the tree.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<TreeNode>()
    }

    /// Searches a position in which the game goes on, until the limits or a proof end it. `limits.nodes`
    /// bounds playouts. Without any playout the move nearest to the centre is returned, or what two plies
    /// prove.
    pub fn search(
        &mut self,
        position: &Position,
        limits: SearchLimits<'_>,
        rng: &mut PlayoutRng,
    ) -> TreeResult {
        self.nodes.clear();
        let any = position.open_columns().next().unwrap_or(Column::new_unchecked(0));
        self.nodes.push(TreeNode::leaf(any));
        self.expand(0, position);
        let mut counter = NodeCounter::new(limits);
        let mut path = Vec::new();
        while self.nodes[0].status == NodeStatus::Open && counter.begin_node().is_ok() {
            path.clear();
            self.run(*position, &mut path, rng);
        }
        self.result(position, counter.nodes())
    }

    /// One playout, from the root down and back up.
    fn run(&mut self, mut position: Position, path: &mut Vec<usize>, rng: &mut PlayoutRng) {
        let mut node = 0;
        path.push(node);
        while self.nodes[node].children > 0 && self.nodes[node].status == NodeStatus::Open {
            node = self.select(node);
            position = position.play_unchecked(self.nodes[node].column);
            path.push(node);
            let TreeNode { children, visits, status, .. } = self.nodes[node];
            let is_ripe = visits >= VISITS_TO_EXPAND && self.nodes.len() < TREE_MAX;
            if children == 0 && status == NodeStatus::Open && (visits == 0 || is_ripe) {
                self.expand_or_prove(node, &position, is_ripe);
            }
        }
        let status = self.nodes[node].status;
        let half_points = status.half_points().unwrap_or_else(|| 2 - play_out(position, rng));
        self.back_up(path, half_points);
    }

    /// The child with the highest upper confidence bound; of equal ones the first.
    fn select(&self, node: usize) -> usize {
        let TreeNode { first_child, children, visits, .. } = self.nodes[node];
        let exploration = log2(visits.max(1));
        let mut best = (f64::NEG_INFINITY, first_child as usize);
        for child in first_child as usize..first_child as usize + usize::from(children) {
            let bound = self.nodes[child].bound(exploration);
            if bound > best.0 {
                best = (bound, child);
            }
        }
        best.1
    }

    /// Proves a leaf by looking two plies ahead; otherwise gives it children if `is_ripe`.
    fn expand_or_prove(&mut self, node: usize, position: &Position, is_ripe: bool) {
        if is_ripe {
            self.expand(node, position);
        } else {
            self.nodes[node].status = status_of(position).0;
        }
    }

    /// Gives a leaf its children: the moves that do not lose at once. Proves it if two plies suffice.
    fn expand(&mut self, node: usize, position: &Position) {
        let (status, cells) = status_of(position);
        self.nodes[node].status = status;
        let moves: Moves = match status {
            // The root needs its move even so.
            NodeStatus::Lost | NodeStatus::Won | NodeStatus::Drawn if node > 0 => return,
            NodeStatus::Lost | NodeStatus::Won | NodeStatus::Drawn | NodeStatus::Open => {
                let variant = position.variant();
                let is_among = |column: &Column| !(cells & Bitboard::column(*column, variant)).is_empty();
                self.order.open_columns(position).filter(is_among).collect()
            }
        };
        let first_child = u32::try_from(self.nodes.len()).expect("a tree has at most 2^20 nodes and a few");
        let children = u8::try_from(moves.as_slice().len()).expect("a board has at most 12 columns");
        self.nodes[node] = TreeNode { children, first_child, ..self.nodes[node] };
        self.nodes.extend(moves.as_slice().iter().map(|&column| TreeNode::leaf(column)));
    }

    /// Counts a result for all nodes of a path, given for the side that moved to its last, and passes proofs
    /// up.
    fn back_up(&mut self, path: &[usize], mut half_points: u64) {
        for &node in path.iter().rev() {
            self.nodes[node].visits += 1;
            self.nodes[node].half_points += half_points;
            half_points = 2 - half_points;
            if self.nodes[node].status == NodeStatus::Open && self.nodes[node].children > 0 {
                self.nodes[node].status = self.proof(node);
            }
        }
    }

    /// What the children prove of a node. A move that wins loses the node for who moved to it; all moves
    /// known, the best of them counts.
    fn proof(&self, node: usize) -> NodeStatus {
        let mut proof = NodeStatus::Won;
        for child in self.children(node) {
            match child.status {
                NodeStatus::Won => return NodeStatus::Lost,
                NodeStatus::Open => proof = NodeStatus::Open,
                NodeStatus::Drawn if proof == NodeStatus::Won => proof = NodeStatus::Drawn,
                NodeStatus::Drawn | NodeStatus::Lost => {}
            }
        }
        proof
    }

    fn children(&self, node: usize) -> &[TreeNode] {
        let TreeNode { first_child, children, .. } = self.nodes[node];
        &self.nodes[first_child as usize..first_child as usize + usize::from(children)]
    }

    /// The child that was tried most, but for proofs; of equal ones the first.
    fn best_child(&self, node: usize) -> Option<usize> {
        let rank = |child: &TreeNode| match child.status {
            NodeStatus::Won => (2, child.visits),
            NodeStatus::Open | NodeStatus::Drawn => (1, child.visits),
            NodeStatus::Lost => (0, child.visits),
        };
        let children = self.children(node).iter().enumerate().rev();
        let (place, _) = children.max_by_key(|(_, child)| rank(child))?;
        Some(self.nodes[node].first_child as usize + place)
    }

    fn result(&self, position: &Position, playouts: u64) -> TreeResult {
        let mut pv = Vec::new();
        let mut node = 0;
        while let Some(child) = self.best_child(node) {
            pv.push(self.nodes[child].column);
            node = child;
        }
        let per_mille = match self.nodes[0].status {
            NodeStatus::Won => -1000,
            NodeStatus::Drawn => 0,
            NodeStatus::Lost => 1000,
            NodeStatus::Open => self.best_child(0).map_or(0, |child| per_mille(&self.nodes[child])),
        };
        debug_assert!(pv.first().is_some_and(|&column| position.is_legal(column)), "{pv:?}");
        TreeResult { column: pv[0], per_mille, playouts, pv }
    }
}

/// The mean result of a node, from -1000 to 1000.
#[expect(clippy::cast_possible_truncation, reason = "the mean is from 0 to 1")]
fn per_mille(node: &TreeNode) -> i32 {
    if node.visits == 0 { 0 } else { ((2.0 * node.mean() - 1.0) * 1000.0).round() as i32 }
}

/// What two plies prove of a position, for the side that moved to it, and the cells worth playing.
fn status_of(position: &Position) -> (NodeStatus, Bitboard) {
    if position.is_full() {
        return (NodeStatus::Drawn, Bitboard::EMPTY);
    }
    let landing = |column| {
        let cell = position.landing_cell(column).expect("tactics name an open column");
        Bitboard::cell(cell, position.variant())
    };
    match Tactics::of(position) {
        Tactics::Win(column) => (NodeStatus::Lost, landing(column)),
        Tactics::Lost(column) => (NodeStatus::Won, landing(column)),
        Tactics::Safe(cells) => (NodeStatus::Open, cells),
    }
}

/// Plays a game to its end, at random but for wins and parries in one, and returns the half points of the
/// side to move.
fn play_out(mut position: Position, rng: &mut PlayoutRng) -> u64 {
    let variant = position.variant();
    let mut is_first_mover = true;
    let points = |is_winner: bool| if is_winner { 2 } else { 0 };
    while !position.is_full() {
        match Tactics::of(&position) {
            Tactics::Win(_) => return points(is_first_mover),
            Tactics::Lost(_) => return points(!is_first_mover),
            Tactics::Safe(cells) => {
                let count = u8::try_from(cells.count()).expect("a board has at most 12 columns");
                let drawn = if count == 1 { 0 } else { rng.below(count) };
                let cell: Option<Cell> = cells.cells(variant).nth(usize::from(drawn));
                position = position.play_unchecked(cell.expect("drawn below their number").column());
            }
        }
        is_first_mover = !is_first_mover;
    }
    1
}

/// The logarithm to base 2, linear between powers of two. The true one differs by less than 0.1, and in its
/// last bits from machine to machine, which would make choices differ.
fn log2(number: u32) -> f64 {
    let whole = number.ilog2();
    f64::from(whole) + f64::from(number) / f64::from(1_u32 << whole) - 1.0
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::game::Game;
    use crate::rng;
    use crate::search::tests::random_position;
    use crate::search::{Negamax, Reuse, Table, ThreatGuide, TieBreak, Valuation, Window};

    fn search(position: &Position, playouts: u64, seed: u64) -> TreeResult {
        let stop = AtomicBool::new(false);
        let mut rng = PlayoutRng::from_rng(&mut rng::seeded(seed));
        let limits = SearchLimits { nodes: Some(playouts), stop: &stop };
        TreeSearch::new(position.variant()).search(position, limits, &mut rng)
    }

    #[track_caller]
    fn check(moves: &str, playouts: u64, column: u8, per_mille: i32) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let found = search(game.position(), playouts, 1);
        assert_eq!((found.column.number(), found.per_mille), (column, per_mille), "{found:?}");
    }

    #[test]
    fn what_two_plies_prove_needs_no_playout() {
        check("121213", 0, 1, 1000);
        check("445536", 0, 2, 1000); // wins on the one side that is open
        check("44553", 0, 2, -1000); // parried on one side, lost on the other
        check("12121", 0, 1, 0); // the only move, with nothing known of what follows
    }

    #[test]
    fn forced_wins_are_proven() {
        check("4455", 1000, 3, 1000);
    }

    #[test]
    fn equal_generators_find_alike() {
        let position = Position::new(Variant::STANDARD);
        assert_eq!(search(&position, 500, 3), search(&position, 500, 3));
        assert_ne!(search(&position, 500, 3).per_mille, search(&position, 500, 4).per_mille);
        assert_eq!(search(&position, 5000, 3).column.number(), 4);
    }

    /// Only results count.
    struct Results;

    impl Valuation for Results {
        fn horizon(&mut self, _position: &Position) -> i32 {
            0
        }

        fn loss(&self, _position: &Position) -> i32 {
            -1000
        }
    }

    #[test]
    fn proofs_agree_with_a_search_to_the_end() {
        let mut rng = rng::seeded(14);
        let mut proven = 0;
        for variant in ["7x6", "5x5", "4x4x3"] {
            let variant: Variant = variant.parse().unwrap();
            let guide = ThreatGuide::new(variant, Table::new(1 << 14, Reuse::SameDepth));
            let mut exact = Negamax { valuation: Results, guide, ties: TieBreak::FirstSearched };
            let stop = AtomicBool::new(false);
            let mut counter = NodeCounter::new(SearchLimits { nodes: None, stop: &stop });
            for _ in 0..100 {
                let position = random_position(variant, &mut rng);
                let empty_cells = variant.cells() - position.ply();
                if position.outcome().is_some() || empty_cells > 12 {
                    continue;
                }
                let found = search(&position, 20_000, 5);
                let mut exact_value = |position: &Position, depth| {
                    exact.search(position, depth, Window::FULL, &mut counter).unwrap().value
                };
                let value = exact_value(&position, empty_cells);
                let after = position.play_unchecked(found.column);
                assert_eq!(-exact_value(&after, empty_cells - 1), value, "a move that keeps the result");
                if found.playouts < 20_000 {
                    proven += 1;
                    assert_eq!(found.per_mille, value, "{position:?}");
                }
            }
        }
        assert!(proven > 30, "{proven}");
    }

    #[test]
    fn logarithms_are_exact_at_powers_of_two_and_rise_between() {
        let logarithms = [1, 2, 3, 4, 8].map(log2);
        let expected = [0.0, 1.0, 1.5, 2.0, 3.0];
        assert!(logarithms.iter().zip(expected).all(|(log, expected)| (log - expected).abs() < 1e-12));
    }
}
