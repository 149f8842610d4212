//! One game between two players, from its opening to its end.

use std::time::Duration;

use fourfold_engine::openings::Opening;
use fourfold_engine::{BySide, Game, Outcome, Side, Variant};

use crate::entrant::{Answer, DecidedBy, End, EntrantFault, GameStart, Player, Turn};
use crate::stop::Stop;
use crate::time::{BotLimits, Clock};

/// What is agreed before a game.
#[derive(Clone, Copy, Debug)]
pub struct GameTerms<'a> {
    pub variant: Variant,
    pub opening: &'a Opening,
    pub limits: BotLimits,
    /// How far a limit may be overrun without losing by it.
    pub margin: Duration,
    /// For bots that draw.
    pub seeds: BySide<u64>,
}

/// A finished game.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    pub game: Game,
    pub end: End,
    /// What both sides had left after each ply, those of the opening included, in milliseconds.
    pub clocks: Vec<[u64; 2]>,
    /// What each move cost that was played, in microseconds, those of the opening not included.
    pub spent_us: Vec<u64>,
}

/// Plays a game. `None` if the run was stopped before the end.
///
/// Whatever a player does, the game ends: by the board, or by its fault.
pub fn play(terms: &GameTerms<'_>, players: BySide<&mut dyn Player>, stop: &Stop) -> Option<Played> {
    let mut table = GameUnderWay::new(terms);
    let players = &mut { players };
    let begun = table.begin(terms, players);
    let end = match begun {
        Err((side, fault)) => lost(side, &fault),
        Ok(()) => loop {
            if stop.is_set() {
                return None;
            }
            if let Some(end) = table.step(terms, players, stop) {
                break end;
            }
        },
    };
    if stop.is_set() {
        return None; // who was interrupted may have answered anything, be it the move that ended the game
    }
    for side in Side::BOTH {
        players[side].end(&table.game, &end);
    }
    let GameUnderWay { game, clock: _, clocks, spent_us } = table;
    Some(Played { game, end, clocks, spent_us })
}

/// A game under way.
struct GameUnderWay {
    game: Game,
    clock: Clock,
    clocks: Vec<[u64; 2]>,
    spent_us: Vec<u64>,
}

impl GameUnderWay {
    fn new(terms: &GameTerms<'_>) -> Self {
        let game = terms.opening.game(terms.variant).expect("suites hold legal openings only");
        let clock = Clock::new(terms.limits.time);
        let stones = usize::from(terms.variant.width()) * usize::from(terms.variant.height());
        let mut clocks = Vec::with_capacity(stones);
        clocks.resize(terms.opening.moves().len(), clock.remaining_ms());
        Self { game, clock, clocks, spent_us: Vec::with_capacity(stones) }
    }

    fn begin(
        &self,
        terms: &GameTerms<'_>,
        players: &mut BySide<&mut dyn Player>,
    ) -> Result<(), (Side, EntrantFault)> {
        for side in Side::BOTH {
            let seed = terms.seeds[side];
            let start = GameStart { variant: self.game.variant(), side, time: terms.limits.time, seed };
            players[side].begin(&start).map_err(|fault| (side, fault))?;
        }
        Ok(())
    }

    /// Asks for one move and plays it; gives the end if that was it.
    fn step(
        &mut self,
        terms: &GameTerms<'_>,
        players: &mut BySide<&mut dyn Player>,
        stop: &Stop,
    ) -> Option<End> {
        let side = self.game.position().side_to_move();
        let turn = Turn {
            game: &self.game,
            budget: self.clock.budget(side),
            allotment: self.clock.allotment(side),
            margin: terms.margin,
            remaining_ms: self.clock.remaining_ms(),
            nodes: terms.limits.nodes,
            stop,
        };
        let answer = players[side].choose(&turn);
        match answer.and_then(|answer| self.accept(side, answer, terms.margin)) {
            Ok(outcome) => outcome.map(decided),
            Err(fault) => Some(lost(side, &fault)),
        }
    }

    fn accept(
        &mut self,
        side: Side,
        answer: Answer,
        margin: Duration,
    ) -> Result<Option<Outcome>, EntrantFault> {
        self.clock.charge(side, answer.spent, margin).map_err(|_| EntrantFault::Late)?;
        let outcome =
            self.game.play(answer.column).map_err(|error| EntrantFault::Illegal(error.to_string()))?;
        self.clocks.push(self.clock.remaining_ms());
        self.spent_us.push(u64::try_from(answer.spent.as_micros()).unwrap_or(u64::MAX));
        Ok(outcome)
    }
}

fn decided(outcome: Outcome) -> End {
    match outcome {
        Outcome::Win { by, line: _ } => End { winner: Some(by), reason: DecidedBy::Four, fault: None },
        Outcome::Draw => End { winner: None, reason: DecidedBy::Full, fault: None },
    }
}

fn lost(side: Side, fault: &EntrantFault) -> End {
    End { winner: Some(side.opponent()), reason: fault.reason(), fault: Some(fault.to_string()) }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use fourfold_engine::Column;

    use super::*;
    use crate::time::TimeControl;

    /// Answers with these in turn, again and again.
    struct Script {
        answers: Vec<Result<Answer, EntrantFault>>,
        asked: usize,
        told: Option<End>,
    }

    impl Script {
        fn columns(columns: &[u8], spent: Duration) -> Self {
            let answer =
                |&number| Ok(Answer { column: Column::from_number(number).expect("a column"), spent });
            Self { answers: columns.iter().map(answer).collect(), asked: 0, told: None }
        }

        fn fault(fault: EntrantFault) -> Self {
            Self { answers: vec![Err(fault)], asked: 0, told: None }
        }
    }

    impl Player for Script {
        fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
            Ok(())
        }

        fn choose(&mut self, _: &Turn<'_>) -> Result<Answer, EntrantFault> {
            self.asked += 1;
            self.answers[(self.asked - 1) % self.answers.len()].clone()
        }

        fn end(&mut self, _: &Game, end: &End) {
            self.told = Some(end.clone());
        }
    }

    fn play_scripts(first: &mut Script, second: &mut Script, time: TimeControl) -> Played {
        let terms = GameTerms {
            variant: Variant::STANDARD,
            opening: &Opening::empty(),
            limits: time.into(),
            margin: Duration::from_millis(50),
            seeds: BySide { first: 1, second: 2 },
        };
        play(&terms, BySide { first, second }, &Stop::default()).expect("nobody stops it")
    }

    static EMPTY: LazyLock<Opening> = LazyLock::new(Opening::empty);

    fn any_terms() -> GameTerms<'static> {
        GameTerms {
            variant: Variant::STANDARD,
            opening: &EMPTY,
            limits: BotLimits::default(),
            margin: Duration::ZERO,
            seeds: BySide { first: 1, second: 2 },
        }
    }

    const SOON: Duration = Duration::from_micros(5);

    #[test]
    fn a_line_wins_and_both_are_told() {
        let (mut first, mut second) = (Script::columns(&[4], SOON), Script::columns(&[1, 2, 3], SOON));
        let played = play_scripts(&mut first, &mut second, TimeControl::default());
        assert_eq!(played.game.notation(), "4142434");
        let end = End { winner: Some(Side::First), reason: DecidedBy::Four, fault: None };
        assert_eq!((first.told, second.told), (Some(end.clone()), Some(end)));
        assert_eq!((played.spent_us, played.clocks.len()), (vec![5; 7], 7));
    }

    #[track_caller]
    fn check_fault(mut second: Script, time: TimeControl, reason: DecidedBy, text: &str) {
        let mut first = Script::columns(&[4, 5, 6, 4], SOON);
        let end = play_scripts(&mut first, &mut second, time).end;
        assert_eq!(end.at_fault(), Some(Side::Second));
        assert_eq!((end.winner, end.reason), (Some(Side::First), reason));
        assert_eq!(end.fault.as_deref(), Some(text));
        assert_eq!(second.told.expect("the loser is told too").fault.as_deref(), Some(text));
    }

    #[test]
    fn faults_lose() {
        let untimed = TimeControl::default();
        check_fault(
            Script::columns(&[9], SOON),
            untimed,
            DecidedBy::Illegal,
            "column 9 is not on a board of 7 columns",
        );
        check_fault(
            Script::fault(EntrantFault::Gone("it exited".into())),
            untimed,
            DecidedBy::Left,
            "it exited",
        );
        check_fault(Script::fault(EntrantFault::Broken("no".into())), untimed, DecidedBy::BotFailed, "no");
        let blitz = TimeControl::per_move(Duration::from_millis(100));
        check_fault(Script::columns(&[1], Duration::from_millis(151)), blitz, DecidedBy::Time, "too late");
    }

    /// Plays column 1, and stops the run with its last move.
    struct Stopper<'a> {
        stop: &'a Stop,
    }

    impl Player for Stopper<'_> {
        fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
            Ok(())
        }

        fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
            let column = if turn.game.ply().is_multiple_of(2) { 1 } else { 2 };
            if turn.game.ply() == 6 {
                self.stop.set();
            }
            Ok(Answer { column: Column::from_number(column).unwrap(), spent: Duration::ZERO })
        }
    }

    #[test]
    fn a_game_that_ends_while_the_run_is_stopped_does_not_count() {
        let stop = Stop::default();
        let (mut first, mut second) = (Stopper { stop: &stop }, Stopper { stop: &stop });
        let terms = any_terms();
        assert_eq!(play(&terms, BySide { first: &mut first, second: &mut second }, &stop), None);
    }

    #[test]
    fn a_stopped_run_leaves_its_games_unfinished() {
        let stop = Stop::default();
        stop.set();
        let terms = any_terms();
        let (mut first, mut second) = (Script::columns(&[1], SOON), Script::columns(&[2], SOON));
        assert_eq!(play(&terms, BySide { first: &mut first, second: &mut second }, &stop), None);
    }
}
