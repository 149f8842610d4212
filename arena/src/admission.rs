//! The self-test of an entrant: whether it can be let into a match or onto a ladder. It says nothing about strength.
//!
//! A pair of games against itself, a pair against a random player, and the moments at which players break: the board
//! almost full, the same question twice, a start in mid-game, two games at once, the end.

mod report;

use std::time::Duration;

use fourfold_engine::openings::Opening;
use fourfold_engine::{BySide, Game, Side, Variant};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

pub use self::report::{Check, CheckVerdict, Percentiles, Report};
use crate::entrant::{Answer, DecidedBy, Entrant, EntrantFault, GameStart, Player, Turn};
use crate::play::{GameTerms, Played, play};
use crate::stop::Stop;
use crate::time::TimeControl;

/// How far the limit for a move may be overrun.
const MARGIN: Duration = Duration::from_millis(50);

/// Random games until one is drawn: about one in 400 is, so that this many without one cannot be.
const ATTEMPTS_MAX: u32 = 100_000;

/// Stones on the board when a board is almost full: the last row is being filled.
const LATE_CELLS: usize = 4;

/// Tests an entrant with `limit` for each move. Takes as long as the entrant thinks, some 200 moves.
pub fn admit(entrant: &dyn Entrant, variant: Variant, limit: Duration, seed: u64, stop: &Stop) -> Report {
    let mut test = Test { entrant, variant, limit, stop, spent: Vec::new(), checks: Vec::new() };
    match entrant.player() {
        Ok(player) => {
            test.passed("handshake", "it starts");
            test.run(player, seed);
        }
        Err(fault) => test.failed("handshake", &fault.to_string()),
    }
    Report::new(entrant.name(), limit, test.checks, test.spent)
}

struct Test<'a> {
    entrant: &'a dyn Entrant,
    variant: Variant,
    limit: Duration,
    stop: &'a Stop,
    spent: Vec<Duration>,
    checks: Vec<Check>,
}

impl Test<'_> {
    fn run(&mut self, player: Box<dyn Player>, seed: u64) {
        let drawn = drawn_game(self.variant, seed);
        self.positions("turn", player, &[Game::new(self.variant)]);
        let positions = |plies: &[usize]| plies.iter().map(|&ply| after(&drawn, ply)).collect::<Vec<_>>();
        let cells = drawn.moves().len();
        let middle = cells / 2;
        // Each with a player that knows nothing of the game so far.
        for (name, plies) in [
            ("both_sides", vec![middle, middle + 1]),
            ("duplicate_turn", vec![middle, middle]),
            ("takes_up_a_game", vec![middle]),
            ("full_columns", (cells - LATE_CELLS..cells).collect()),
            ("full_board", vec![cells - 1]),
        ] {
            match self.entrant.player() {
                Ok(player) => self.positions(name, player, &positions(&plies)),
                Err(fault) => self.failed(name, &fault.to_string()),
            }
        }
        self.double_session();
        self.games(seed);
    }

    /// Asks one player for a move in each position.
    fn positions(&mut self, name: &'static str, mut player: Box<dyn Player>, positions: &[Game]) {
        let mut asked = 0;
        for game in positions {
            match self.ask(&mut *player, game) {
                Ok(()) => asked += 1,
                Err(fault) => return self.failed(name, &format!("after {}: {fault}", game.notation())),
            }
        }
        self.passed(name, &format!("{asked} legal moves"));
    }

    fn ask(&mut self, player: &mut dyn Player, game: &Game) -> Result<(), EntrantFault> {
        let time = TimeControl::per_move(self.limit);
        let side = game.position().side_to_move();
        player.begin(&GameStart { variant: self.variant, side, time, seed: 0 })?;
        let limit_ms = u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX);
        let turn = Turn {
            game,
            budget: Some(self.limit),
            allotment: Some(self.limit / 2),
            margin: MARGIN,
            remaining_ms: [limit_ms; 2],
            nodes: None,
            stop: self.stop,
        };
        let Answer { column, spent } = player.choose(&turn)?;
        self.spent.push(spent);
        match game.position().play(column) {
            Ok(_) => Ok(()),
            Err(error) => Err(EntrantFault::Illegal(error.to_string())),
        }
    }

    /// Two players that live at the same time are asked in turn.
    fn double_session(&mut self) {
        let name = "double_session";
        let game = Game::new(self.variant);
        let both = self.entrant.player().and_then(|first| Ok([first, self.entrant.player()?]));
        let asked =
            both.and_then(|mut both| both.iter_mut().try_for_each(|player| self.ask(&mut **player, &game)));
        match asked {
            Ok(()) => self.passed(name, "two at the same time"),
            Err(fault) => self.failed(name, &fault.to_string()),
        }
    }

    /// The pairs: against itself, and against chance.
    fn games(&mut self, seed: u64) {
        let own = |test: &Self| test.entrant.player();
        let mut ends = Vec::new();
        let mut longest = 0;
        for (name, against_itself) in [("pair_against_itself", true), ("pair_against_random", false)] {
            let mut words = Vec::new();
            let mut fault = None;
            for side in Side::BOTH {
                let opponent: Result<Box<dyn Player>, EntrantFault> = if against_itself {
                    own(self)
                } else {
                    Ok(Box::new(Chance { rng: ChaCha8Rng::seed_from_u64(seed) }))
                };
                let played = own(self).and_then(|player| Ok(self.play(player, opponent?, side)));
                match played {
                    Ok(Some(played)) => {
                        longest = longest.max(played.game.moves().len());
                        if played.end.reason.is_fault() {
                            fault = played.end.fault;
                        } else {
                            ends.push(played.end.reason);
                            words.push(played.game.notation());
                        }
                    }
                    Ok(None) => fault = Some("it was stopped".to_owned()),
                    Err(error) => fault = Some(error.to_string()),
                }
            }
            match fault {
                Some(fault) => self.failed(name, &fault),
                None => self.passed(name, &words.join(" and ")),
            }
        }
        if ends.contains(&DecidedBy::Four) {
            self.passed("win", "a line of four ended a game");
        } else {
            self.skipped("win", "no game ended by a line of four");
        }
    }

    fn play(
        &mut self,
        mut player: Box<dyn Player>,
        mut opponent: Box<dyn Player>,
        side: Side,
    ) -> Option<Played> {
        let terms = GameTerms {
            variant: self.variant,
            opening: &Opening::empty(),
            limits: TimeControl::per_move(self.limit).into(),
            margin: MARGIN,
            seeds: BySide { first: 1, second: 2 },
        };
        let players: BySide<&mut dyn Player> = match side {
            Side::First => BySide { first: &mut *player, second: &mut *opponent },
            Side::Second => BySide { first: &mut *opponent, second: &mut *player },
        };
        let game = play(&terms, players, self.stop)?;
        let own = game.spent_us.iter().enumerate();
        let own = own.filter(|(ply, _)| (ply % 2 == 0) == (side == Side::First));
        self.spent.extend(own.map(|(_, &us)| Duration::from_micros(us)));
        Some(game)
    }

    fn passed(&mut self, name: &'static str, note: &str) {
        self.checks.push(Check { name, verdict: CheckVerdict::Passed, note: note.to_owned() });
    }

    fn failed(&mut self, name: &'static str, fault: &str) {
        let note = hint(fault).map_or_else(|| fault.to_owned(), |hint| format!("{fault}; {hint}"));
        self.checks.push(Check { name, verdict: CheckVerdict::Failed, note });
    }

    fn skipped(&mut self, name: &'static str, note: &str) {
        self.checks.push(Check { name, verdict: CheckVerdict::Skipped, note: note.to_owned() });
    }
}

/// What to look at first, if a fault is one that many programs begin with.
fn hint(fault: &str) -> Option<&'static str> {
    const HINTS: [(&str, &str); 4] = [
        (r#""0" is no move in the dialect simple"#, "does it count columns from 0? They are counted from 1"),
        (
            "is not on a board",
            "does it count columns as the dialect does: simple from 1, kaggle and aigames from 0?",
        ),
        ("is full", "does it look at the board that it is sent, and count columns from 1?"),
        ("too late", "if it had an answer by then, does it flush its output after each line?"),
    ];
    HINTS.iter().find(|(words, _)| fault.contains(words)).map(|(_, hint)| *hint)
}

/// A game between random players that fills the board.
fn drawn_game(variant: Variant, seed: u64) -> Game {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut game = Game::new(variant);
    for _ in 0..ATTEMPTS_MAX {
        game = Game::new(variant);
        while let Some(column) = draw(&game, &mut rng) {
            if game.play(column).is_err() {
                break;
            }
        }
        if game.position().is_full() {
            break;
        }
    }
    game
}

fn draw(game: &Game, rng: &mut ChaCha8Rng) -> Option<fourfold_engine::Column> {
    let count = game.position().legal_columns().count();
    (count > 0).then(|| game.position().legal_columns().nth(rng.random_range(0..count)))?
}

/// The game as it stood after so many moves.
fn after(game: &Game, ply: usize) -> Game {
    let mut earlier = game.clone();
    while earlier.moves().len() > ply {
        earlier.undo();
    }
    earlier
}

/// Plays a random legal column.
struct Chance {
    rng: ChaCha8Rng,
}

impl Player for Chance {
    fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
        Ok(())
    }

    fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
        let column = draw(turn.game, &mut self.rng);
        let column = column.ok_or_else(|| EntrantFault::Broken("there is no legal column".to_owned()))?;
        Ok(Answer { column, spent: Duration::ZERO })
    }
}

#[cfg(test)]
mod tests {
    use fourfold_bots::Recipe;

    use super::*;
    use crate::house::HouseEntrant;
    use crate::watchdog::Watchdog;

    fn verdicts(spec: &str) -> Vec<(&'static str, CheckVerdict)> {
        let watchdog = Watchdog::start().unwrap();
        let recipe = Recipe::new(spec.parse().unwrap(), Variant::STANDARD, None).unwrap();
        let bot = HouseEntrant::new(spec.into(), recipe, &watchdog);
        let report = admit(&bot, Variant::STANDARD, Duration::from_mins(1), 7, &Stop::default());
        assert!(report.is_passed(), "{report:?}");
        report.checks.iter().map(|check| (check.name, check.verdict)).collect()
    }

    #[test]
    fn a_sound_player_passes() {
        let verdicts = verdicts("greedy");
        assert_eq!(verdicts.len(), 11);
        assert!(verdicts.iter().all(|(_, verdict)| *verdict != CheckVerdict::Failed));
    }

    /// Always wants the middle.
    struct Stubborn;

    impl Entrant for Stubborn {
        fn name(&self) -> &'static str {
            "stubborn"
        }

        fn player(&self) -> Result<Box<dyn Player>, EntrantFault> {
            Ok(Box::new(Middle))
        }
    }

    struct Middle;

    impl Player for Middle {
        fn begin(&mut self, _: &GameStart) -> Result<(), EntrantFault> {
            Ok(())
        }

        fn choose(&mut self, turn: &Turn<'_>) -> Result<Answer, EntrantFault> {
            let column = turn.game.variant().columns().nth(3).expect("boards are wide enough");
            Ok(Answer { column, spent: Duration::from_millis(2) })
        }
    }

    #[test]
    fn who_does_not_look_at_the_board_fails_where_it_is_full() {
        let report = admit(&Stubborn, Variant::STANDARD, Duration::from_secs(1), 7, &Stop::default());
        assert!(!report.is_passed());
        let failed = |name| {
            report.checks.iter().any(|check| check.name == name && check.verdict == CheckVerdict::Failed)
        };
        assert!(!failed("handshake") && !failed("turn") && failed("pair_against_itself"));
        assert!(report.latency_ms.max >= 2.0);
        let full = report.checks.iter().find(|check| check.note.contains("column 4 is full")).unwrap();
        assert!(full.note.ends_with("and count columns from 1?"), "{}", full.note);
    }

    #[test]
    fn frequent_faults_come_with_a_hint() {
        let game = Game::new(Variant::STANDARD);
        let malformed = crate::program::dialect::Dialect::Simple.read("0", &game).unwrap_err();
        assert!(hint(&malformed.to_string()).unwrap().contains("counted from 1"));
        let beyond = crate::program::dialect::Dialect::Kaggle.read("7", &game).unwrap().unwrap();
        let beyond = game.position().play(beyond).unwrap_err();
        assert!(hint(&beyond.to_string()).unwrap().contains("kaggle and aigames from 0"));
        assert!(hint(&EntrantFault::Late.to_string()).unwrap().contains("flush"));
        assert_eq!(hint("exited with code 1"), None);
    }
}
