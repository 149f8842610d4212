//! What is learnt from games, one after the other.

use std::sync::Arc;

use fourfold_engine::search::Tactics;
use fourfold_engine::{Column, Game, Outcome, Position};

use super::average::Average;
use super::codec::{CodecError, Sink, Source};
use super::layout::VARIANT;
use super::network::{Network, squash};
use super::shape::Shape;
use super::trace::{Outlook, Trace};
use super::walk::{Walk, sign};
use super::weights::Weights;

/// What the bytes are.
const KIND: &[u8; 8] = b"F4NLEARN";

/// A network that learns from the games of others.
///
/// It is a fold: equal games in equal order make equal learners, to the last bit and on every machine, and a
/// learner that went through [`Learner::to_bytes`] goes on as if nothing had happened. It does not draw and has
/// no clock.
#[derive(Debug)]
pub struct Learner {
    network: Network,
    average: Average,
    games: u64,
    lessons: Lessons,
}

/// How much is made of a game.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lessons {
    /// Sum of the steps of a position's weights.
    pub step: f32,
    /// Weight of how the game went on against what the network sees itself.
    pub lambda: f32,
    /// A move that looks worse than the best by more than this counts as a mistake: what follows says nothing
    /// about the position before.
    pub margin: f32,
    /// Plies beyond the game that are learnt too.
    pub depth: u32,
}

impl Lessons {
    /// What learnt most from 10,000 games of mixed players.
    pub const DEFAULT: Self = Self { step: 0.8, lambda: 0.5, margin: 0.1, depth: 2 };
}

impl Learner {
    /// A learner that knows nothing.
    #[must_use]
    pub fn new(shape: Shape) -> Self {
        Self::with_network(Network::new(shape))
    }

    pub(super) fn with_network(network: Network) -> Self {
        let average = Average::new(&network);
        Self { network, average, games: 0, lessons: Lessons::DEFAULT }
    }

    pub fn set_lessons(&mut self, lessons: Lessons) { self.lessons = lessons; }

    /// Games learnt from.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Learns from a game on 7x6, also from one that was not played to the end; of others it takes no notice.
    ///
    /// The moves only say which positions are worth a look. What a position is worth, the network sees itself, a
    /// move and a reply ahead, and learns; how the game went on counts as far as no mistake was made. So bad
    /// players teach too, and a lie in a result teaches nothing.
    pub fn study(&mut self, game: &Game) {
        if game.variant() != VARIANT {
            return;
        }
        let step = self.lessons.step / self.network.layout.features() as f32;
        let (walk, trace) = (Walk::new(&self.network), Trace::new());
        Study { walk, trace, lessons: self.lessons, step }.read(&self.network, game);
        self.games += 1;
        self.average.follow(&self.network, self.games);
    }

    /// Takes note of the weights as they are, so that single steps do not matter to how it plays.
    pub(super) fn take_average(&mut self) {
        self.average.take_step(&self.network);
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    /// What it would play by.
    #[must_use]
    pub fn weights(&self) -> Arc<Weights> {
        Arc::new(self.average.round(&self.network))
    }

    /// All that it is, as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut sink = Sink::new(KIND, self.network.shape());
        self.write(&mut sink);
        sink.finish()
    }

    /// Reads what [`Learner::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are something else, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        let (mut source, shape) = Source::open(bytes, KIND)?;
        let learner = Self::read(&mut source, shape)?;
        source.finish()?;
        Ok(learner)
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        sink.varint(self.games);
        self.network.write(sink);
        self.average.write(sink);
    }

    pub(super) fn read(source: &mut Source<'_>, shape: Shape) -> Result<Self, CodecError> {
        let games = source.varint()?;
        let network = Network::read(source, shape)?;
        let average = Average::read(source, &network)?;
        Ok(Self { network, average, games, lessons: Lessons::DEFAULT })
    }
}

/// The reading of one game.
struct Study<'n> {
    walk: Walk<'n>,
    trace: Trace,
    lessons: Lessons,
    /// For each weight.
    step: f32,
}

impl Study<'_> {
    fn read(&mut self, network: &Network, game: &Game) {
        self.walk.set(Position::new(VARIANT));
        self.trace.clear();
        for &column in game.moves() {
            let outlook = self.outlook(Some(column));
            self.trace.set_outlook(outlook);
            self.walk.play(column);
            let sum = self.walk.sum();
            self.trace.visit(&self.walk, sum);
        }
        let result = match game.outcome() {
            Some(Outcome::Win { by, .. }) => sign(by),
            Some(Outcome::Draw) => 0.0,
            None => {
                let outlook = self.outlook(None);
                self.trace.set_outlook(outlook);
                outlook.value
            }
        };
        self.trace.learn(network, result, self.lessons.lambda, self.step);
    }

    /// What the position is worth for the first player, and whether the move that was played shows it.
    fn outlook(&mut self, played: Option<Column>) -> Outlook {
        let position = *self.walk.position();
        let sign = sign(position.side_to_move());
        match Tactics::of(&position) {
            Tactics::Win(_) => {
                let is_missed = !position.winning_columns().any(|column| Some(column) == played);
                Outlook { value: sign, is_missed }
            }
            Tactics::Lost(_) => Outlook { value: -sign, is_missed: true },
            Tactics::Safe(cells) => {
                self.walk.explore(self.lessons.depth, self.step);
                let valued = self.walk.value_moves_by_replies(cells);
                let best = squash(valued.best().1);
                let played = valued.as_slice().iter().find(|(column, _)| Some(*column) == played);
                let is_missed = played.is_none_or(|(_, sum)| squash(*sum) < best - self.lessons.margin);
                Outlook { value: best * sign, is_missed }
            }
        }
    }
}
