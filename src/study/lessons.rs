//! The lessons: what each is about, positions to solve, and one to play on from. Pure; what is said of them is the
//! page's, what a column is worth the solver's. A test holds each position against the solver and against what its
//! lesson claims.

/// What a lesson teaches, in the order in which one learns it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Topic {
    Rules,
    Block,
    OpenThree,
    Fork,
    Stacked,
    Centre,
    FirstMove,
    LastMove,
    OddAndEven,
    Zugzwang,
    ClaimEven,
    BaseInverse,
    Endings,
}

impl Topic {
    /// As addresses have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Block => "block",
            Self::OpenThree => "open-three",
            Self::Fork => "fork",
            Self::Stacked => "stacked-threats",
            Self::Centre => "centre",
            Self::FirstMove => "first-move",
            Self::LastMove => "last-move",
            Self::OddAndEven => "odd-and-even",
            Self::Zugzwang => "zugzwang",
            Self::ClaimEven => "claim-even",
            Self::BaseInverse => "baseinverse",
            Self::Endings => "endings",
        }
    }
}

/// Which columns are right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// Any: a disc is to fall.
    Any,
    /// Those that win at once.
    WinNow,
    /// Those that win the fastest.
    WinFast,
    /// Those that win.
    Win,
    /// Those that stop a win of the other side's, and do not lose later.
    Stop,
    /// Those that do not lose.
    Hold,
}

impl Task {
    /// As the page's module reads it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::WinNow | Self::WinFast => "fastest",
            Self::Win | Self::Stop | Self::Hold => "keep",
        }
    }
}

/// A position to solve on the standard board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exercise {
    /// The moves to it.
    pub(crate) moves: &'static str,
    pub(crate) task: Task,
    /// Right moves until it is solved; the solver replies in between.
    pub(crate) own: usize,
}

/// A lesson.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lesson {
    pub(crate) topic: Topic,
    pub(crate) exercises: &'static [Exercise],
    /// Moves to a position to play on from, against a bot.
    pub(crate) practice: &'static str,
}

const fn exercise(moves: &'static str, task: Task, own: usize) -> Exercise {
    Exercise { moves, task, own }
}

/// All lessons, in the order of [`Topic`].
pub(crate) const LESSONS: [Lesson; 13] = [
    Lesson {
        topic: Topic::Rules,
        exercises: &[
            exercise("", Task::Any, 1),
            exercise("314151", Task::WinNow, 1),
            exercise("454546", Task::WinNow, 1),
            exercise("1223433464", Task::WinNow, 1),
            exercise("12131", Task::Stop, 1),
        ],
        practice: "",
    },
    Lesson {
        topic: Topic::Block,
        exercises: &[
            exercise("3243226", Task::Stop, 1),
            exercise("23242235", Task::Stop, 1),
            // Both sides could win at once: whoever is to move does.
            exercise("46266753624662534453", Task::WinNow, 1),
        ],
        practice: "23242235",
    },
    Lesson {
        topic: Topic::OpenThree,
        exercises: &[exercise("4131", Task::WinFast, 2), exercise("44115", Task::Stop, 1)],
        practice: "4131",
    },
    Lesson {
        topic: Topic::Fork,
        exercises: &[
            exercise("24735334644254", Task::WinFast, 2),
            exercise("56456656322532554411", Task::WinFast, 2),
            exercise("651146464445166347523526", Task::WinFast, 2),
        ],
        practice: "56456656322532554411",
    },
    Lesson {
        topic: Topic::Stacked,
        exercises: &[
            exercise("37551752643255146773356631", Task::WinFast, 2),
            exercise("51672513746525536645172211", Task::WinFast, 2),
            exercise("3477767627536744254656554462", Task::WinFast, 2),
        ],
        practice: "37551752643255146773356631",
    },
    Lesson {
        topic: Topic::Centre,
        exercises: &[
            exercise("44", Task::Win, 1),
            exercise("4444", Task::Win, 1),
            exercise("1", Task::Win, 1),
        ],
        practice: "44",
    },
    Lesson {
        topic: Topic::FirstMove,
        exercises: &[exercise("", Task::Win, 1), exercise("43", Task::Win, 1), exercise("3", Task::Hold, 1)],
        practice: "",
    },
    Lesson {
        topic: Topic::LastMove,
        exercises: &[
            exercise("515755151544634674414222762122771", Task::Win, 4),
            exercise("37343375653444534566624551662222", Task::Win, 4),
        ],
        practice: "515755151544634674414222762122771",
    },
    Lesson {
        topic: Topic::OddAndEven,
        exercises: &[
            exercise("441432654121226441125527", Task::Win, 2),
            exercise("7525641175534634316666523344311", Task::Win, 3),
        ],
        practice: "441432654121226441125527",
    },
    Lesson {
        topic: Topic::Zugzwang,
        exercises: &[
            exercise("7461132112677246557742245334557", Task::Win, 4),
            exercise("353622147674776444335564355352122", Task::Win, 3),
            exercise("34335415534413374176251255", Task::Win, 2),
        ],
        practice: "34335415534413374176251255",
    },
    Lesson {
        topic: Topic::ClaimEven,
        exercises: &[
            exercise("363743435225446335644656562", Task::Win, 1),
            exercise("626566225345433", Task::Win, 1),
            exercise("4476744536625234564655562", Task::Hold, 1),
        ],
        practice: "363743435225446335644656562",
    },
    Lesson {
        topic: Topic::BaseInverse,
        exercises: &[
            exercise("434655354474", Task::Win, 1),
            exercise("1265347322375543235567", Task::Win, 1),
            exercise("755535655662216466342322", Task::Hold, 1),
        ],
        practice: "1265347322375543235567",
    },
    Lesson {
        topic: Topic::Endings,
        exercises: &[
            exercise("3256326671414523562522366535731117", Task::Win, 2),
            exercise("45333535535621531721146222276116", Task::Hold, 2),
            exercise("5453245517251444224657712662613311", Task::Hold, 2),
        ],
        practice: "3256326671414523562522366535731117",
    },
];

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use fourfold_engine::review::Judge;
    use fourfold_engine::search::Value;
    use fourfold_engine::solver::{ColumnScores, SearchLimits, Solver};
    use fourfold_engine::{Bitboard, Cell, Column, Game, Line, Position, Side, Variant};

    use super::*;
    use crate::study::puzzles::themes::{open_threats, threats};

    /// What the solver says, as often as it is asked.
    struct Proof(Judge);

    impl Proof {
        fn new() -> Self {
            Self(Judge::new(Solver::new()))
        }

        fn scores(&mut self, position: &Position) -> ColumnScores {
            let stop = AtomicBool::new(false);
            self.0.column_scores(position, SearchLimits { nodes: None, stop: &stop }).unwrap().value
        }

        /// The value of a position, and the plies until its end.
        fn value_and_plies(&mut self, position: &Position) -> (Value, u32) {
            let best = self.scores(position).best().expect("a column is open");
            (best.sign(), best.plies_to_end(position))
        }

        /// The columns that the page takes for right.
        fn right(&mut self, position: &Position, task: Task) -> Vec<Column> {
            let scores = self.scores(position);
            let best = scores.best().expect("a column is open");
            let right = scores.iter().filter(|(_, score)| match task {
                Task::Any => true,
                Task::WinNow | Task::WinFast => *score == best,
                Task::Win | Task::Stop | Task::Hold => score.sign() == best.sign(),
            });
            right.map(|(column, _)| column).collect()
        }

        fn only(&mut self, exercise: &Exercise) -> (Position, Column) {
            let position = position(exercise.moves);
            let right = self.right(&position, exercise.task);
            assert_eq!(right.len(), 1, "{exercise:?}: {right:?}");
            (position, right[0])
        }

        /// All positions from this one to the end, if both sides play perfectly.
        fn best_line(&mut self, mut position: Position) -> Vec<Position> {
            let mut line = vec![position];
            while position.outcome().is_none() {
                let column = self.scores(&position).best_columns().next().expect("a column is open");
                position = position.play_unchecked(column);
                line.push(position);
            }
            line
        }
    }

    fn position(moves: &str) -> Position {
        let game = Game::from_moves(Variant::STANDARD, moves);
        *game.unwrap_or_else(|why| panic!("{moves}: {why}")).position()
    }

    fn exercises(topic: Topic) -> &'static [Exercise] {
        LESSONS.iter().find(|lesson| lesson.topic == topic).expect("a test reads them all").exercises
    }

    #[test]
    fn every_topic_has_a_lesson_with_a_name_of_its_own() {
        let mut names: Vec<_> = LESSONS.iter().map(|lesson| lesson.topic.name()).collect();
        assert!(names.len() > 12, "the rules and twelve lessons");
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), LESSONS.len());
    }

    #[test]
    fn every_exercise_has_right_answers_and_wrong_ones() {
        let mut proof = Proof::new();
        for lesson in LESSONS {
            for exercise in lesson.exercises {
                let position = position(exercise.moves);
                let right = proof.right(&position, exercise.task).len();
                let all = position.open_columns().count();
                let (value, plies) = proof.value_and_plies(&position);
                let fits = match exercise.task {
                    Task::Any => right == all,
                    Task::WinNow => value == Value::Win && plies == 1,
                    Task::WinFast => value == Value::Win && plies as usize == 2 * exercise.own - 1,
                    Task::Win => value == Value::Win && plies as usize >= 2 * exercise.own - 1,
                    Task::Stop => value != Value::Loss && plies > 4,
                    Task::Hold => value == Value::Draw && plies as usize >= 2 * exercise.own - 1,
                };
                assert!(fits, "{:?} {exercise:?}: {value:?} in {plies}", lesson.topic);
                assert!(
                    exercise.task == Task::Any || (1..=4).contains(&right),
                    "{exercise:?}: {right} right"
                );
                assert!(exercise.task == Task::Any || right < all, "{exercise:?}");
            }
        }
    }

    #[test]
    fn whoever_plays_on_from_a_lesson_can_win_or_hold() {
        let mut proof = Proof::new();
        for lesson in LESSONS {
            assert_ne!(
                proof.value_and_plies(&position(lesson.practice)).0,
                Value::Loss,
                "{:?}",
                lesson.topic
            );
        }
    }

    #[test]
    fn a_block_is_the_only_place_where_the_other_side_would_win() {
        let mut proof = Proof::new();
        for exercise in &exercises(Topic::Block)[..2] {
            let (position, right) = proof.only(exercise);
            let against: Vec<_> = open_threats(&position, position.side_to_move().opponent());
            assert_eq!(against.iter().map(|cell| cell.column()).collect::<Vec<_>>(), [right]);
            assert!(open_threats(&position, position.side_to_move()).is_empty());
        }
        let (both, win) = proof.only(&exercises(Topic::Block)[2]);
        let against = open_threats(&both, both.side_to_move().opponent());
        assert!(
            against.iter().any(|cell| cell.column() != win),
            "there is something to stop, and something better"
        );
    }

    #[test]
    fn an_open_three_wins_at_both_ends() {
        let mut proof = Proof::new();
        let [make, stop] = [exercises(Topic::OpenThree)[0], exercises(Topic::OpenThree)[1]];
        let (position, right) = proof.only(&make);
        let ends = open_threats(&position.play_unchecked(right), position.side_to_move());
        assert_eq!(ends.iter().map(|cell| cell.row_number()).collect::<Vec<_>>(), [1, 1]);
        let position = self::position(stop.moves);
        let right = proof.right(&position, stop.task);
        for column in position.open_columns().filter(|column| !right.contains(column)) {
            let (value, plies) = proof.value_and_plies(&position.play_unchecked(column));
            assert_eq!((value, plies), (Value::Win, 3), "after {column:?} three are open at both ends");
        }
    }

    #[test]
    fn a_fork_threatens_twice() {
        let mut proof = Proof::new();
        for exercise in exercises(Topic::Fork) {
            let (position, right) = proof.only(exercise);
            let forked = position.play_unchecked(right);
            assert!(open_threats(&forked, position.side_to_move()).len() >= 2, "{exercise:?}");
        }
    }

    #[test]
    fn stacked_threats_lie_one_above_the_other() {
        let mut proof = Proof::new();
        for exercise in exercises(Topic::Stacked) {
            let (position, right) = proof.only(exercise);
            let side = position.side_to_move();
            let after = position.play_unchecked(right);
            let [lower] = open_threats(&after, side)[..] else { panic!("{exercise:?}: one can be stopped") };
            let upper = Cell::new(lower.column(), lower.row_index() + 1);
            assert!(threats(&after, side).iter().any(|cell| Some(*cell) == upper), "{exercise:?}");
        }
    }

    #[test]
    fn the_middle_column_is_in_51_of_69_lines() {
        let middle = Bitboard::column(Column::from_digit('4').expect("a column"), Variant::STANDARD);
        let crosses = |line: &Line| !(line.bitboard(Variant::STANDARD) & middle).is_empty();
        assert_eq!(Line::all(Variant::STANDARD).count(), 69);
        assert_eq!(Line::all(Variant::STANDARD).filter(crosses).count(), 51);
        let mut proof = Proof::new();
        for exercise in &exercises(Topic::Centre)[..2] {
            assert_eq!(proof.only(exercise).1.digit(), '4');
        }
    }

    #[test]
    fn of_first_moves_the_middle_wins_its_neighbours_draw_and_the_others_lose() {
        let scores = Proof::new().scores(&position(""));
        let values: Vec<_> = scores.iter().map(|(_, score)| score.sign()).collect();
        let (win, draw, loss) = (Value::Win, Value::Draw, Value::Loss);
        assert_eq!(values, [loss, loss, draw, win, draw, loss, loss]);
    }

    #[test]
    fn somebody_must_give_the_win_away_in_the_end() {
        let mut proof = Proof::new();
        for exercise in [Topic::LastMove, Topic::Zugzwang].map(exercises).into_iter().flatten() {
            let (start, right) = proof.only(exercise);
            let winner = start.side_to_move();
            let is_zugzwang = |at: &Position| {
                let loses = |column: Column| at.play_unchecked(column).winning_columns().next().is_some();
                at.side_to_move() != winner
                    && open_threats(at, winner).is_empty()
                    && at.open_columns().all(loses)
            };
            let line = proof.best_line(start.play_unchecked(right));
            assert!(line.iter().any(is_zugzwang), "{exercise:?}");
        }
    }

    #[test]
    fn odd_threats_win_for_the_first_and_even_ones_for_the_second() {
        let mut proof = Proof::new();
        for (exercise, side) in exercises(Topic::OddAndEven).iter().zip([Side::First, Side::Second]) {
            let (start, right) = proof.only(exercise);
            assert_eq!(start.side_to_move(), side);
            let after = start.play_unchecked(right);
            let line = proof.best_line(after);
            let [before, end] = [line[line.len() - 2], line[line.len() - 1]];
            let last = before.open_columns().find(|column| before.play_unchecked(*column) == end);
            let cell = before.landing_cell(last.expect("the last move")).expect("where it fell");
            assert_eq!(cell.row_number() % 2 == 1, side == Side::First, "{exercise:?} ends on {cell:?}");
            assert!(
                threats(&after, side).contains(&cell),
                "{exercise:?}: the threat is there from the beginning"
            );
        }
    }

    #[test]
    fn the_second_side_follows_up_to_even_rows() {
        let mut proof = Proof::new();
        for exercise in exercises(Topic::ClaimEven) {
            let (position, right) = proof.only(exercise);
            assert_eq!(exercise.moves.chars().last(), Some(right.digit()), "{exercise:?}");
            assert_eq!(position.side_to_move(), Side::Second);
            assert_eq!(
                position.landing_cell(right).map(|cell| cell.row_number() % 2),
                Some(0),
                "{exercise:?}"
            );
            assert!(open_threats(&position, Side::First).is_empty(), "{exercise:?}: it is no mere block");
        }
    }

    #[test]
    fn of_two_open_places_in_a_line_one_can_always_be_had() {
        let mut proof = Proof::new();
        for exercise in exercises(Topic::BaseInverse) {
            let (after, right) = proof.only(exercise);
            let (rest, last) = exercise.moves.split_at(exercise.moves.len() - 1);
            let before = position(rest);
            let last = Column::from_digit(last.chars().next().expect("a move")).expect("a column");
            let [taken, answer] =
                [last, right].map(|column| before.landing_cell(column).expect("both were open"));
            assert_ne!(last, right);
            let own = after.stones()[after.side_to_move()];
            let holds_both = |line: &Line| {
                line.cells().any(|cell| cell == taken)
                    && line.cells().any(|cell| cell == answer)
                    && (line.bitboard(Variant::STANDARD) & own).is_empty()
            };
            assert!(Line::all(Variant::STANDARD).any(|line| holds_both(&line)), "{exercise:?}");
        }
    }

    #[test]
    fn endings_have_few_places_left() {
        for exercise in exercises(Topic::Endings) {
            assert!(Variant::STANDARD.cells() - position(exercise.moves).ply() <= 10, "{exercise:?}");
        }
    }
}
