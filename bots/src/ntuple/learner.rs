//! What is learnt from games, one after the other.

use std::sync::Arc;

use fourfold_engine::search::Tactics;
use fourfold_engine::{Column, Game, Outcome, Position};

use super::average::{Average, AveragePace};
use super::codec::{ByteSource, CodecError, CodecFormat, Sink};
use super::layout::VARIANT;
use super::network::{Network, squash};
use super::player::Look;
use super::shape::NetworkShape;
use super::trace::{BestValue, Trace};
use super::walk::{Walk, sign};
use super::weights::Weights;

/// What the bytes are.
const FORMAT: CodecFormat = CodecFormat { kind: *b"F4NLEARN", version: 1 };

/// The sum of the steps of a position's weights: near 1 the position itself is learnt at once, which pays as long as
/// few games are known.
const STEPS: f32 = 0.8;

/// Weight of how the game went on against what the network sees itself. From 0 to 0.8 it made little difference.
const LAMBDA: f32 = 0.5;

/// A move that looks worse than the best by more than this, of 2 from loss to win, is a mistake.
const MARGIN: f32 = 0.1;

/// Plies beside the game that are learnt too: the moves that were not played, and the replies to all. From 10,000
/// games the points against two plies of search were 20 % without, 38 % with one ply, 50 % with two, and 57 % with
/// three, which took six times as long.
const PLIES: u32 = 2;

/// A network that learns from the games of others.
///
/// It is a fold: equal games in equal order make equal learners, to the last bit and on every machine, and a
/// learner that went through [`NetworkLearner::to_bytes`] goes on as if nothing had happened. It does not draw and has
/// no clock.
#[derive(Debug)]
pub struct NetworkLearner {
    network: Network,
    average: Average,
    games: u64,
    /// The game learnt last.
    last: Option<Vec<Column>>,
}

impl NetworkLearner {
    /// A learner that knows nothing.
    pub fn new(shape: NetworkShape) -> Self {
        Self::with_network(Network::new(shape))
    }

    pub(super) fn with_network(network: Network) -> Self {
        let average = Average::new(&network);
        Self { network, average, games: 0, last: None }
    }

    /// Games learnt from.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Learns from a game on 7x6, also from one that was not played to the end; of others it takes no notice, nor of
    /// the same game twice in a row, which is how a game is told by its two players.
    ///
    /// The moves only say which positions are worth a look. What a position is worth, the network sees itself, a
    /// move and a reply ahead, and learns; how the game went on counts as far as no mistake was made. So bad
    /// players teach too, and a lie in a result teaches nothing.
    pub fn study(&mut self, game: &Game) {
        let is_known = self.last.as_deref() == Some(game.moves());
        if game.variant() != VARIANT || is_known {
            return;
        }
        self.last = Some(game.moves().to_vec());
        Study::new(&self.network).read(game);
        self.games += 1;
        self.average.follow(&self.network, self.games, AveragePace::STUDY);
    }

    /// The move that the network as it is now, without its average, likes best at first sight before each move of a
    /// game on 7x6.
    pub(super) fn leanings(&self, game: &Game, look: Look) -> Vec<Column> {
        let mut walk = Walk::new(&self.network);
        let liked = game.turns().map(|(position, _)| match look.tactics_of(&position) {
            Tactics::Win(column) | Tactics::Lost(column) => column,
            Tactics::Safe(cells) => {
                walk.set(position);
                walk.value_moves(cells).best().0
            }
        });
        liked.collect()
    }

    /// Takes note of the weights as they are after so many games of self-play, so that single steps do not matter to
    /// how it plays.
    pub(super) fn follow_self_play(&mut self, games: u64, pace: AveragePace) {
        self.average.follow(&self.network, games, pace);
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }

    pub(super) fn average(&self) -> &Average {
        &self.average
    }

    /// What it would play by.
    pub fn weights(&self) -> Arc<Weights> {
        Arc::new(self.average.round(&self.network))
    }

    /// All that it is, as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut sink = Sink::new(FORMAT, self.network.shape());
        self.write(&mut sink);
        sink.finish()
    }

    /// Reads what [`NetworkLearner::to_bytes`] wrote.
    ///
    /// # Errors
    ///
    /// Fails if the bytes are something else, of another version, or damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CodecError> {
        let (mut source, shape) = ByteSource::open(bytes, FORMAT)?;
        let learner = Self::read(&mut source, shape)?;
        source.finish()?;
        Ok(learner)
    }

    pub(super) fn write(&self, sink: &mut Sink) {
        sink.varint(self.games);
        // 0 for none, else one more than the number of moves, and those.
        sink.varint(self.last.as_ref().map_or(0, |last| last.len() as u64 + 1));
        for column in self.last.iter().flatten() {
            sink.bytes(&[column.number()]);
        }
        self.network.write(sink);
        self.average.write(sink);
    }

    pub(super) fn read(source: &mut ByteSource<'_>, shape: NetworkShape) -> Result<Self, CodecError> {
        let games = source.varint()?;
        let last = read_moves(source)?;
        let network = Network::read(source, shape)?;
        let average = Average::read(source, &network)?;
        Ok(Self { network, average, games, last })
    }
}

fn read_moves(source: &mut ByteSource<'_>) -> Result<Option<Vec<Column>>, CodecError> {
    const NAME: &str = "last game";
    let Some(count) = source.varint()?.checked_sub(1) else { return Ok(None) };
    if count > u64::from(VARIANT.cells()) {
        return Err(CodecError::Field { name: NAME });
    }
    let mut column = |_| {
        let [number] = source.array()?;
        Column::from_number(number).ok_or(CodecError::Field { name: NAME })
    };
    (0..count).map(&mut column).collect::<Result<_, _>>().map(Some)
}

/// The reading of one game.
struct Study<'n> {
    walk: Walk<'n>,
    trace: Trace,
    network: &'n Network,
    step: f32,
}

impl<'n> Study<'n> {
    fn new(network: &'n Network) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "some hundred features")]
        let step = STEPS / network.layout.features() as f32;
        Self { walk: Walk::new(network), trace: Trace::new(), network, step }
    }

    fn read(&mut self, game: &Game) {
        self.walk.set(Position::new(VARIANT));
        self.trace.clear();
        for &column in game.moves() {
            let best_value = self.best_value(Some(column));
            self.trace.set_best(best_value);
            self.walk.play(column);
            let sum = self.walk.sum();
            self.trace.visit(&self.walk, sum);
        }
        let result = match game.outcome() {
            Some(Outcome::Win { by, .. }) => sign(by),
            Some(Outcome::Draw) => 0.0,
            None => {
                let best_value = self.best_value(None);
                self.trace.set_best(best_value);
                best_value.value
            }
        };
        self.trace.learn(self.network, result, LAMBDA, self.step);
    }

    /// What the position is worth for the first player, and whether the move that was played shows it.
    fn best_value(&mut self, played: Option<Column>) -> BestValue {
        let position = *self.walk.position();
        let sign = sign(position.side_to_move());
        match Tactics::of(&position) {
            Tactics::Win(_) => {
                let is_missed = !position.winning_columns().any(|column| Some(column) == played);
                BestValue { value: sign, is_missed }
            }
            Tactics::Lost(_) => BestValue { value: -sign, is_missed: true },
            Tactics::Safe(cells) => {
                self.walk.explore(PLIES, self.step);
                let valued = self.walk.value_moves_by_replies(cells);
                let best = squash(valued.best().1);
                let played = valued.as_slice().iter().find(|(column, _)| Some(*column) == played);
                let is_missed = played.is_none_or(|(_, sum)| squash(*sum) < best - MARGIN);
                BestValue { value: best * sign, is_missed }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::*;

    /// The first player threatens to win in columns 3 and 7, looks away twice, and loses.
    const LOST_AFTER_TWO_THREATS: &str = "4455661313";

    fn shape() -> NetworkShape {
        NetworkShape::draw(12, 6, 5)
    }

    fn game(moves: &str) -> Game {
        Game::from_moves(Variant::STANDARD, moves).unwrap()
    }

    fn value(learner: &NetworkLearner, moves: &str) -> f32 {
        let mut walk = Walk::new(&learner.network);
        walk.set(*game(moves).position());
        squash(walk.sum())
    }

    #[test]
    fn a_learner_that_was_saved_goes_on_as_if_nothing_had_happened() {
        // A win of either side, a game given up, one that ended in the middle, and one without a move.
        let games = ["4455667", LOST_AFTER_TWO_THREATS, "44553", "1234567", ""].map(game);
        let mut whole = NetworkLearner::new(shape());
        let mut parts = NetworkLearner::new(shape());
        for game in &games {
            whole.study(game);
            parts.study(game);
            parts = NetworkLearner::from_bytes(&parts.to_bytes()).unwrap();
        }
        assert_eq!(parts.games(), games.len() as u64);
        assert_eq!(parts.to_bytes(), whole.to_bytes(), "byte for byte");
        assert_eq!(parts.weights().to_bytes(), whole.weights().to_bytes());
    }

    #[test]
    fn won_positions_rise_and_lost_ones_fall() {
        let mut learner = NetworkLearner::new(shape());
        for moves in ["4455667", "4433221"].into_iter().cycle().take(20) {
            learner.study(&game(moves));
        }
        assert!(value(&learner, "44556") > 0.3, "two threats");
        assert!(value(&learner, "44556") > value(&learner, "4455"));
    }

    #[test]
    fn a_mistake_says_nothing_about_what_came_before() {
        let mut learner = NetworkLearner::new(shape());
        for moves in [LOST_AFTER_TWO_THREATS, "44", "4"].into_iter().cycle().take(60) {
            learner.study(&game(moves));
        }
        assert!(value(&learner, "44556") > 0.3);
    }

    #[test]
    fn games_on_other_boards_are_passed_over() {
        let mut learner = NetworkLearner::new(shape());
        learner.study(&Game::from_moves("8x7".parse().unwrap(), "4455667").unwrap());
        assert_eq!(learner.games(), 0);
        assert_eq!(learner.to_bytes(), NetworkLearner::new(shape()).to_bytes());
    }

    #[test]
    fn broken_bytes_are_refused() {
        let bytes = NetworkLearner::new(shape()).to_bytes();
        assert_eq!(NetworkLearner::from_bytes(&[]).unwrap_err(), CodecError::OtherKind);
        assert_eq!(NetworkLearner::from_bytes(&bytes[..bytes.len() - 1]).unwrap_err(), CodecError::Checksum);
        assert_eq!(Weights::from_bytes(&bytes).unwrap_err(), CodecError::OtherKind);
    }
}
