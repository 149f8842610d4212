//! How a pattern memory is trained: games against teachers, or against itself.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use fourfold_engine::{Column, Game, Position, Side, SideResult, Variant, openings, rng};
use rand::RngExt;

use crate::bot::{Bot, BotError, GameRecord, MoveBudget};
use crate::memory::{Memory, write_xml};
use crate::registry;
use crate::spec::BotSpec;
use crate::training_run::{Notes, TrainingError, TrainingRun};

/// Nodes or playouts a move of a teacher: never time, so that a run repeats.
const TEACHER_NODES: u64 = 20_000;

/// Who plays against the memory while it learns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TrainingOpponent {
    /// The memory plays both sides and learns from both.
    Itself,
    /// A house bot.
    Bot(BotSpec),
}

impl TrainingOpponent {
    /// A pool of opponents of different strength and style, the memory itself among them. None plays the same game
    /// twice: a memory that met only the replies of one habit scored up to 10 points of 100 less against others.
    pub const MIXED: [&'static str; 6] =
        ["random", "greedy", "negamax:depth=2,ties=random", "lines69", "negamax:depth=4,ties=random", "self"];
}

/// Prints `self` or the bot.
impl fmt::Display for TrainingOpponent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Itself => formatter.pad("self"),
            Self::Bot(spec) => spec.fmt(formatter),
        }
    }
}

impl FromStr for TrainingOpponent {
    type Err = BotError;

    fn from_str(text: &str) -> Result<Self, BotError> {
        if text == "self" { Ok(Self::Itself) } else { text.parse().map(Self::Bot) }
    }
}

/// A note of the state for each teacher, in their order: a bot's settings may have any characters but a line feed.
const TEACHER: &str = "teacher";

/// A run of games of a memory on 7x6. Teachers take turns; the memory plays each with either side in turn, from a
/// balanced opening that the two games share.
///
/// Each game has its own stream of the seed.
#[derive(Debug)]
pub struct Training {
    learner: Memory,
    teachers: Vec<TrainingOpponent>,
    /// Games played, which is the number of the next.
    played: u64,
    /// Games of others that were studied.
    studied: u64,
    seed: u64,
}

/// A game of the run.
struct TrainingGame {
    teacher: TrainingOpponent,
    side: Side,
    /// Its number in the seed's series.
    opening: u64,
}

impl Training {
    /// A run from the beginning, for a bot that knows this already; an empty text is nothing. Without teachers it
    /// teaches itself.
    ///
    /// # Errors
    ///
    /// Fails if the settings are not allowed, the bot has no pattern memory, what it knows makes no sense, or a
    /// teacher cannot be built.
    pub fn begin(
        spec: &BotSpec,
        knowledge: &str,
        teachers: &[TrainingOpponent],
        seed: u64,
    ) -> Result<Self, BotError> {
        let learner = registry::memory(spec, Variant::STANDARD, knowledge)?;
        for teacher in teachers {
            match teacher {
                TrainingOpponent::Itself => {}
                TrainingOpponent::Bot(spec) => drop(registry::build(spec, Variant::STANDARD)?),
            }
        }
        let teachers = if teachers.is_empty() { vec![TrainingOpponent::Itself] } else { teachers.to_vec() };
        Ok(Self { learner, teachers, played: 0, studied: 0, seed })
    }

    /// A run as [`TrainingRun::state`] left it, with the knowledge that was its product.
    ///
    /// # Errors
    ///
    /// Fails as [`Training::begin`], and if something is missing or makes no sense.
    pub fn resume(spec: &BotSpec, knowledge: &str, state: &[u8]) -> Result<Self, ResumeError> {
        let notes = Notes::from_bytes(state);
        let teachers: Vec<TrainingOpponent> =
            notes.values(TEACHER).map(str::parse).collect::<Result<_, _>>()?;
        if teachers.is_empty() {
            return Err(TrainingError::Missing { name: TEACHER.to_owned() }.into());
        }
        let training = Self::begin(spec, knowledge, &teachers, notes.value("seed")?)?;
        Ok(Self { played: notes.value("played")?, studied: notes.value("studied")?, ..training })
    }

    /// The next game. Everybody plays with one side, then everybody with the other.
    fn lesson(&self) -> TrainingGame {
        let teachers = self.teachers.len() as u64;
        let (round, place) = (self.played / teachers, self.played % teachers);
        TrainingGame {
            teacher: self.teachers[usize::try_from(place).unwrap_or_default()].clone(), // less than a length
            side: if round.is_multiple_of(2) { Side::First } else { Side::Second },
            opening: round / 2 * teachers + place,
        }
    }

    fn play(
        &mut self,
        TrainingGame { teacher, side, opening }: &TrainingGame,
    ) -> Result<SideResult, BotError> {
        let side = *side;
        let mut draws = rng::seeded_stream(self.seed, self.played);
        self.learner.seed = draws.random();
        let mut opponent = match teacher {
            TrainingOpponent::Itself => None,
            TrainingOpponent::Bot(spec) => {
                Some(registry::build(&spec.clone().with_default_seed(draws.random()), Variant::STANDARD)?)
            }
        };
        let opening =
            openings::draw(Variant::STANDARD, self.seed, *opening).expect("7x6 has balanced openings");
        let mut game = opening.game(Variant::STANDARD).expect("openings are legal");
        while game.outcome().is_none() {
            let position = game.position();
            let column = match &mut opponent {
                Some(opponent) if position.side_to_move() != side => choose(opponent.as_mut(), position)?,
                Some(_) | None => self.learner.best(position).0,
            };
            game.play(column)
                .map_err(|error| BotError::Broken { bot: "teacher", reason: error.to_string() })?;
        }
        let winner = game.outcome().and_then(fourfold_engine::Outcome::winner);
        // From games with itself it learns how they were won and how they were lost.
        let lessons = Side::BOTH.into_iter().filter(|&lesson| lesson == side || opponent.is_none());
        for side in lessons {
            self.learn(&game, side, winner);
        }
        Ok(SideResult::of(side, winner))
    }

    fn learn(&mut self, game: &Game, side: Side, winner: Option<Side>) {
        let result = SideResult::of(side, winner);
        self.learner.game_over(&GameRecord { game: game.clone(), side, result });
    }
}

fn choose(bot: &mut dyn Bot, position: &Position) -> Result<Column, BotError> {
    let budget = MoveBudget { nodes: Some(TEACHER_NODES), time: None };
    Ok(bot.choose(position, budget, &AtomicBool::new(false))?.column)
}

impl TrainingRun for Training {
    fn games(&self) -> u64 {
        self.played + self.studied
    }

    fn step(&mut self) -> Result<String, BotError> {
        let lesson = self.lesson();
        let result = match self.play(&lesson)? {
            SideResult::Win => "won",
            SideResult::Draw => "drawn",
            SideResult::Loss => "lost",
        };
        self.played += 1;
        Ok(format!("game {} against {}: {result}", self.played, lesson.teacher))
    }

    fn study(&mut self, game: &Game, winner: Option<Side>) -> Result<(), TrainingError> {
        for side in Side::BOTH {
            self.learn(game, side, winner);
        }
        self.studied += 1;
        Ok(())
    }

    fn bot(&self, seed: u64) -> Box<dyn Bot> {
        let Memory { store, rule, snapshots, seed: _ } = &self.learner;
        Box::new(Memory { store: store.clone(), rule: *rule, snapshots: *snapshots, seed })
    }

    fn summary(&self) -> String {
        format!("{} patterns", self.learner.store.iter().len())
    }

    /// The memory's XML.
    fn product(&self) -> Vec<u8> {
        write_xml(&self.learner.store).into_bytes()
    }

    fn state(&self) -> Vec<u8> {
        let notes = Notes::default()
            .with("seed", self.seed)
            .with("played", self.played)
            .with("studied", self.studied);
        self.teachers.iter().fold(notes, |notes, teacher| notes.with(TEACHER, teacher)).to_bytes()
    }
}

/// Why a saved run cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Bot(#[from] BotError),
    #[error(transparent)]
    Training(#[from] TrainingError),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(spec: &str, teachers: &[&str]) -> Training {
        let teachers: Vec<TrainingOpponent> =
            teachers.iter().map(|teacher| teacher.parse().unwrap()).collect();
        Training::begin(&spec.parse().unwrap(), "", &teachers, 7).unwrap()
    }

    fn product(training: &Training) -> String {
        String::from_utf8(training.product()).unwrap()
    }

    #[test]
    fn teachers_take_turns_with_either_side() {
        let mut training = begin("memory", &["random", "negamax:depth=2"]);
        let lines: Vec<String> = (0..4).map(|_| training.step().unwrap()).collect();
        for (line, teacher) in lines.iter().zip(["random", "negamax:depth=2"].iter().cycle()) {
            assert!(line.contains(&format!("against {teacher}: ")), "{lines:?}");
        }
        assert_eq!(training.games(), 4);
    }

    #[test]
    fn the_two_games_with_a_teacher_share_an_opening_and_no_others_do() {
        let mut training = begin("memory", &["random", "negamax:depth=2", "self"]);
        let mut lessons = Vec::new();
        for _ in 0..12 {
            let TrainingGame { teacher, side, opening } = training.lesson();
            lessons.push((opening, teacher.to_string(), side));
            training.played += 1;
        }
        lessons.sort_by_key(|lesson| lesson.0);
        for (number, pair) in (0..).zip(lessons.chunks_exact(2)) {
            assert_eq!((pair[0].0, pair[1].0), (number, number));
            assert_eq!(pair[0].1, pair[1].1);
            assert_eq!([pair[0].2, pair[1].2], Side::BOTH);
        }
    }

    #[test]
    fn a_run_goes_on_from_where_it_stopped() {
        let teachers = TrainingOpponent::MIXED;
        for spec in ["memory:rule=literal", "memory-windows:snapshots=all"] {
            let mut whole = begin(spec, &teachers);
            let mut lines: Vec<String> = (0..24).map(|_| whole.step().unwrap()).collect();
            let mut first = begin(spec, &teachers);
            let mut again: Vec<String> = (0..11).map(|_| first.step().unwrap()).collect();
            let mut second =
                Training::resume(&spec.parse().unwrap(), &product(&first), &first.state()).unwrap();
            again.extend((0..13).map(|_| second.step().unwrap()));
            assert_eq!(again, lines);
            assert_eq!(product(&second), product(&whole));
            assert_eq!(second.state(), whole.state());
            lines.clear();
        }
    }

    #[test]
    fn playing_itself_teaches_both_how_to_win_and_how_to_lose() {
        let mut training = begin("memory", &[]);
        while training.learner.store.iter().len() == 0 {
            training.step().unwrap(); // a draw of two fresh memories is possible, and teaches neither
        }
        let records: Vec<_> = training.learner.store.iter().map(|(_, record)| *record).collect();
        assert!(records.iter().any(|record| record.won > 0) && records.iter().any(|record| record.lost > 0));
    }

    #[test]
    fn games_of_others_are_studied() {
        let game = Game::from_moves(Variant::STANDARD, "3747576").unwrap();
        let mut training = begin("memory", &[]);
        training.study(&game, Some(Side::First)).unwrap();
        assert_eq!(
            (training.games(), training.summary().as_str()),
            (1, "11 patterns"),
            "one game, both views"
        );
    }

    #[test]
    fn a_game_of_a_broken_teacher_is_no_lesson() {
        let mut training = begin("memory", &["random"]);
        training.step().unwrap();
        training.teachers = vec![TrainingOpponent::Bot(BotSpec::new("broken"))];
        let state = (training.state(), product(&training));
        assert!(training.step().is_err());
        assert_eq!((training.state(), product(&training)), state, "nothing is counted, nothing learnt");
    }

    #[test]
    fn teachers_of_any_settings_are_resumed() {
        let teachers = ["c4ai:weights=1, 2,3, 4,5,6", "random:seed=3"];
        let training = begin("memory", &teachers);
        let resumed = Training::resume(&"memory".parse().unwrap(), "", &training.state()).unwrap();
        assert_eq!(resumed.teachers, training.teachers);
    }

    #[test]
    fn what_cannot_be_trained_is_refused() {
        let message = |spec: &str, knowledge: &str, teacher: &str| {
            let teacher = [teacher.parse().unwrap()];
            Training::begin(&spec.parse().unwrap(), knowledge, &teacher, 1).unwrap_err().to_string()
        };
        assert_eq!(message("greedy", "", "self"), "greedy is not a pattern memory");
        assert_eq!(message("memory", "<a>", "self"), "memory is broken: line 1: a is not closed");
        assert_eq!(message("memory", "", "nobody"), "no bot is called `nobody`; did you mean `memory`?");
        let training = begin("memory", &["random"]);
        let resume = |state: &[u8]| Training::resume(&"memory".parse().unwrap(), "", state).map(|_| ());
        assert!(resume(&training.state()).is_ok());
        assert_eq!(resume(b"").unwrap_err().to_string(), "the saved run has no `teacher`");
    }
}
