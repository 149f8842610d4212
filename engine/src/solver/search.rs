//! The search of one position with a null window.

use super::bounds;
use super::bucket::KnownBounds;
use super::geometry::Geometry;
use super::meter::NodeMeter;
use super::node::{Node, Settled};
use super::order;
use super::processor::Instructions;
#[cfg(target_arch = "x86_64")]
use super::processor::by_avx2;
use super::table::{BoundsTable, Place};
use super::word::Word;
use crate::board::Variant;
use crate::search::Interrupted;

/// One thread of a search: its board, the table, and what it may still spend.
pub(super) struct Search<'a, G: Geometry> {
    geometry: G,
    table: &'a BoundsTable<G::Word>,
    pub(super) meter: NodeMeter<'a>,
    /// Which of several threads this is: all but the first shuffle moves of like rank.
    thread: u32,
    /// The children of the nodes from the root to the current one. A stack, because room for all columns in each node
    /// would have to be filled each time, which took a quarter of the time.
    stack: ChildStack<G::Word>,
    instructions: Instructions,
}

/// Room for the children of a search's nodes, empty between two searches: who searches again hands it on, for to find
/// the room takes as long as a node.
pub(super) type ChildStack<W> = Vec<Child<W>>;

/// A position with a free choice, reached from its parent by one move and the forced line after it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Child<W> {
    node: Node<W>,
    /// Moves that do not lose at once, at least two.
    moves: W,
    /// Whether it is the other side's turn than at the parent.
    is_flipped: bool,
    place: Place<W>,
    /// The stone of the parent's move.
    stone: W,
    /// Threats made by that stone.
    threats: i32,
}

#[expect(clippy::inline_always, reason = "part of the innermost loop")]
impl<W> Child<W> {
    /// A score of the child as a score of the parent.
    #[inline(always)]
    fn for_parent(&self, score: i32) -> i32 {
        if self.is_flipped { -score } else { score }
    }

    /// What is known of the child, for the side to move at the parent.
    #[inline(always)]
    fn known(&self, known: KnownBounds) -> KnownBounds {
        if self.is_flipped { known.flip() } else { known }
    }

    /// The window of the parent from the child's side.
    #[inline(always)]
    fn alpha(&self, alpha: i32) -> i32 {
        if self.is_flipped { -alpha - 1 } else { alpha }
    }
}

/// The children that are left to be searched, in order.
#[derive(Default)]
struct Queue {
    /// Rank and index of each: in one number, as moving numbers is what takes time.
    keys: [i32; Variant::MAX_WIDTH as usize],
    count: usize,
}

#[expect(clippy::inline_always, reason = "part of the innermost loop")]
impl Queue {
    /// No board has as many columns.
    const INDICES: i32 = 16;

    /// Adds a child; of equal ranks that with the lesser index comes first.
    #[inline(always)]
    fn insert(&mut self, rank: i32, index: u8) {
        let key = (rank + 1) * Self::INDICES - 1 - i32::from(index);
        let mut at = self.count;
        while at > 0 && self.keys[at - 1] < key {
            self.keys[at] = self.keys[at - 1];
            at -= 1;
        }
        self.keys[at] = key;
        self.count += 1;
    }

    /// The index of the child at this place of the order.
    #[inline(always)]
    fn index(&self, at: usize) -> usize {
        (Self::INDICES - 1 - self.keys[at].rem_euclid(Self::INDICES)).cast_unsigned() as usize
    }
}

/// What the looks at all children without searching them say.
enum Glance {
    /// The score is at least this, and that is more than alpha.
    Cut(i32),
    /// No child that is not listed has a score above this.
    Rest(i32),
}

#[expect(clippy::inline_always, reason = "part of the innermost loop")]
impl<'a, W: Word, G: Geometry<Word = W>> Search<'a, G> {
    pub(super) fn new(geometry: G, table: &'a BoundsTable<W>, meter: NodeMeter<'a>, thread: u32) -> Self {
        Self { geometry, table, meter, thread, stack: Vec::new(), instructions: Instructions::best() }
    }

    /// The same with a stack that another search has left.
    pub(super) fn on(self, stack: ChildStack<W>) -> Self {
        Self { stack, ..self }
    }

    /// What is left once nothing more is searched.
    pub(super) fn into_stack(mut self) -> ChildStack<W> {
        self.stack.clear();
        self.stack
    }

    /// The same with these instructions, of which the answer and the nodes do not depend.
    #[cfg(test)]
    pub(super) fn with_instructions(self, instructions: Instructions) -> Self {
        Self { instructions, ..self }
    }

    /// A bound of the score of `node`, an upper one if it is at most `alpha`, else a lower one.
    ///
    /// `node` has a free choice of two or more `moves`, and what [`bounds::of`] and the table say does not decide
    /// whether its score is above `alpha`.
    ///
    /// # Errors
    ///
    /// Fails when the limits are reached.
    pub(super) fn search(&mut self, node: &Node<W>, moves: W, alpha: i32) -> Result<i32, Interrupted> {
        // Plies times columns: never more, so it never grows.
        self.stack.reserve((self.geometry.cells() * self.geometry.width()) as usize);
        match self.instructions {
            Instructions::Common => self.search_commonly(node, moves, alpha),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(proof) => by_avx2!(proof, self.search_by_avx2(node, moves, alpha)),
        }
    }

    /// [`Search::search`] for all processors.
    fn search_commonly(&mut self, node: &Node<W>, moves: W, alpha: i32) -> Result<i32, Interrupted> {
        self.search_children(node, moves, alpha, Self::search_commonly)
    }

    /// [`Search::search`] for those that have [`Instructions::Avx2`]: all that is inlined here is compiled for them.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn search_by_avx2(&mut self, node: &Node<W>, moves: W, alpha: i32) -> Result<i32, Interrupted> {
        self.search_children(node, moves, alpha, |search, node, moves, alpha| {
            search.search_by_avx2(node, moves, alpha)
        })
    }

    #[inline(always)]
    fn search_children(
        &mut self,
        node: &Node<W>,
        moves: W,
        alpha: i32,
        search: impl Fn(&mut Self, &Node<W>, W, i32) -> Result<i32, Interrupted>,
    ) -> Result<i32, Interrupted> {
        self.meter.begin_node()?;
        let before = self.meter.nodes;
        let base = self.stack.len();
        let mut queue = Queue::default();
        let mut best = match self.glance_at_children(node, moves, alpha, &mut queue) {
            Glance::Cut(score) => {
                self.stack.truncate(base);
                return Ok(score);
            }
            Glance::Rest(best) => best,
        };
        for index in 0..queue.count {
            let child = self.stack[base + queue.index(index)];
            let mut score = i32::MIN;
            if index > 0 {
                // The searches before this one may have met the position.
                let known = child.known(self.table.recall(child.place));
                if known.lower > alpha {
                    score = known.lower;
                } else if known.upper <= alpha {
                    score = known.upper;
                }
            }
            if score == i32::MIN {
                score = child.for_parent(search(self, &child.node, child.moves, child.alpha(alpha))?);
            }
            best = best.max(score);
            if best > alpha {
                break;
            }
        }
        self.stack.truncate(base);
        let place = self.table.place(node.key(self.geometry), self.geometry.key_bits());
        self.table.remember(place, best, alpha, self.meter.nodes - before);
        Ok(best)
    }

    /// Lists the children that have to be searched, in order.
    #[inline(always)]
    fn glance_at_children(&mut self, node: &Node<W>, moves: W, alpha: i32, queue: &mut Queue) -> Glance {
        let base = self.stack.len();
        match self.settle_children(node, moves, alpha) {
            Glance::Cut(score) => Glance::Cut(score),
            Glance::Rest(best) => self.probe_children(node, alpha, best, base, queue),
        }
    }

    /// Plays each move and the forced line after it, and lists the children of which the rules and the static bounds
    /// do not say enough.
    #[inline(always)]
    fn settle_children(&mut self, node: &Node<W>, moves: W, alpha: i32) -> Glance {
        let geometry = self.geometry;
        let mut best = -i32::MAX;
        let mut rest = moves;
        while rest != W::ZERO {
            let stone = rest.lowest();
            rest = rest.without_lowest();
            let played = node.play(geometry, stone);
            let (settled, moves, is_flipped) = match played.settle(geometry) {
                Settled::Known(score) if -score > alpha => return Glance::Cut(-score),
                Settled::Known(score) => {
                    best = best.max(-score);
                    continue;
                }
                Settled::Open { node, moves, is_flipped } => (node, moves, !is_flipped),
            };
            let child = Child {
                node: settled,
                moves,
                is_flipped,
                place: Place::default(),
                stone,
                threats: order::threats(geometry, &played),
            };
            let known = child.known(bounds::of(geometry, &child.node));
            if known.lower > alpha {
                return Glance::Cut(known.lower);
            }
            if known.upper <= alpha {
                best = best.max(known.upper);
                continue;
            }
            let place = self.table.place(child.node.key(geometry), geometry.key_bits());
            self.table.prefetch(place);
            self.stack.push(Child { place, ..child });
        }
        Glance::Rest(best)
    }

    /// Drops the children of which the table says enough, and puts the others in order.
    #[inline(always)]
    fn probe_children(
        &self,
        node: &Node<W>,
        alpha: i32,
        mut best: i32,
        base: usize,
        queue: &mut Queue,
    ) -> Glance {
        let order = order::Order::new(self.geometry, node);
        for (index, child) in (0..).zip(&self.stack[base..]) {
            let known = child.known(self.table.recall(child.place));
            if known.lower > alpha {
                return Glance::Cut(known.lower);
            }
            if known.upper <= alpha {
                best = best.max(known.upper);
                continue;
            }
            let rank = order.rank(self.geometry, child.stone, child.threats) + self.shuffle(child.stone);
            queue.insert(rank, index);
        }
        Glance::Rest(best)
    }

    /// What a thread adds to the rank of a move, so that threads go different ways: less than a threat is worth.
    #[inline(always)]
    fn shuffle(&self, stone: W) -> i32 {
        const AMOUNTS: u32 = 8;
        (stone.trailing_zeros().wrapping_mul(self.thread).wrapping_mul(0x9E37_79B9) >> 16 & (AMOUNTS - 1))
            .cast_signed()
    }
}
