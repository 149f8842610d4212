//! What every bot owes its caller: legal moves on all boards, repeatable choices, a prompt answer after a
//! stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fourfold_bots::{Bot, BotError, BotSpec, MoveBudget, registry};
use fourfold_engine::{BySide, Column, Game, Position, Variant, rng};
use rand::RngExt;

use crate::support::{build, play};

const VARIANTS: [&str; 8] = ["7x6", "9x6", "8x7", "4x4", "12x4", "4x15", "9x6x5", "12x4x3"];

/// The bot, or `None` if it does not play the variant, which only boards for lines of four may excuse.
fn build_if_played(name: &str, variant: Variant) -> Option<Box<dyn Bot>> {
    match registry::build(&BotSpec::new(name), variant) {
        Ok(bot) => Some(bot),
        Err(error) => {
            let plays = match name {
                "ntuple" => "only 7x6",
                _ => "only boards on which four stones win",
            };
            assert!(variant.connect() != 4 || name == "ntuple", "{name} should play {variant}");
            assert_eq!(error.to_string(), format!("{name} does not play {variant}: {plays}"));
            None
        }
    }
}

#[test]
fn every_bot_plays_whole_games_on_every_board_it_is_made_for() {
    for entry in registry::entries() {
        for variant in VARIANTS.map(|variant| variant.parse().unwrap()) {
            let Some(bot) = build_if_played(entry.name, variant) else { continue };
            let bots = BySide { first: bot, second: build("random", variant) };
            play(bots, Game::new(variant), 2000); // panics on an illegal move
        }
    }
}

/// A position from a random game, which goes on.
fn random_position(variant: Variant, rng: &mut rng::GameRng) -> Position {
    let mut position = Position::new(variant);
    for _ in 0..rng.random_range(0..variant.cells()) {
        let legal: Vec<Column> = position.legal_columns().collect();
        let after = position.play_unchecked(legal[rng.random_range(0..legal.len())]);
        if after.outcome().is_some() {
            break;
        }
        position = after;
    }
    position
}

#[test]
fn no_bot_plays_an_illegal_move() {
    let budget = MoveBudget { nodes: Some(200), time: None };
    let mut rng = rng::seeded(41);
    for variant in VARIANTS.map(|variant| variant.parse().unwrap()) {
        let positions: Vec<Position> = (0..400).map(|_| random_position(variant, &mut rng)).collect();
        for entry in registry::entries() {
            let Some(mut bot) = build_if_played(entry.name, variant) else { continue };
            for position in &positions {
                let choice = bot.choose(position, budget, &AtomicBool::new(false)).unwrap();
                assert!(position.is_legal(choice.column), "{} at {position:?}", entry.name);
            }
        }
    }
}

#[test]
fn equal_position_budget_and_seed_give_an_equal_choice() {
    let budget = MoveBudget { nodes: Some(500), time: None };
    let positions =
        ["", "4", "44353", "123456712345"].map(|moves| Game::from_moves(Variant::STANDARD, moves));
    for entry in registry::entries() {
        let mut veteran = build(entry.name, Variant::STANDARD);
        for game in positions.iter().flatten() {
            let choose = |bot: &mut Box<dyn fourfold_bots::Bot>| {
                bot.choose(game.position(), budget, &AtomicBool::new(false)).unwrap()
            };
            let mut novice = build(entry.name, Variant::STANDARD);
            assert_eq!(choose(&mut veteran), choose(&mut novice), "{} after {}", entry.name, game.notation());
        }
    }
}

#[test]
fn a_finished_game_is_refused_by_every_bot() {
    let game = Game::from_moves(Variant::STANDARD, "1212121").unwrap();
    for entry in registry::entries() {
        let mut bot = build(entry.name, Variant::STANDARD);
        let choice = bot.choose(game.position(), MoveBudget::default(), &AtomicBool::new(false));
        assert_eq!(choice, Err(BotError::GameOver), "{}", entry.name);
    }
}

/// How long the bot takes to answer once it is told to stop in the middle of its thoughts.
fn time_to_stop(spec: &str) -> Duration {
    let (answer, answers) = mpsc::channel();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // After these moves twelve plies take seconds.
            let game = Game::from_moves(Variant::STANDARD, "44").unwrap();
            let mut bot = build(spec, Variant::STANDARD);
            answer.send(bot.choose(game.position(), MoveBudget::default(), &stop)).unwrap();
        });
        let early = answers.recv_timeout(Duration::from_millis(20));
        assert!(early.is_err(), "{spec} should still be thinking, but answered {early:?}");
        stop.store(true, Ordering::Relaxed);
        let stopped = Instant::now();
        let choice = answers.recv().unwrap().unwrap();
        let time = stopped.elapsed();
        assert!(Position::new(Variant::STANDARD).is_legal(choice.column));
        time
    })
}

#[test]
fn a_thinking_bot_answers_within_ten_milliseconds_of_a_stop() {
    for spec in [
        "negamax:depth=12",
        "alphabeta:ms=60000",
        "mcts:ms=60000",
        "montecarlo:ms=60000",
        "montecarlo:playouts=100000000",
    ] {
        // The best of a few, because a busy machine may be slow to run the thread.
        let best = (0..5).map(|_| time_to_stop(spec)).min().unwrap();
        assert!(best < Duration::from_millis(10), "{spec} took {best:?}");
    }
}

#[test]
fn a_bot_stopped_before_it_begins_still_moves() {
    let position = Position::new(Variant::STANDARD);
    for entry in registry::entries() {
        let mut bot = build(entry.name, Variant::STANDARD);
        let choice = bot.choose(&position, MoveBudget::default(), &AtomicBool::new(true)).unwrap();
        assert!(position.is_legal(choice.column), "{}", entry.name);
    }
}

/// What a bot may hold while it is not its turn: nothing that grows with what it looks at.
const BYTES_AT_REST_MAX: usize = 4 * 1024;

#[test]
fn bots_at_rest_hold_no_tables_and_choose_as_if_they_did() {
    let (stop, budget) = (AtomicBool::new(false), MoveBudget { nodes: Some(500), time: None });
    let mut with_tables = Vec::new();
    for entry in registry::entries() {
        for variant in ["7x6", "8x7"].map(|variant| variant.parse().unwrap()) {
            let spec = BotSpec::new(entry.name).with_default_seed(7);
            let Ok(mut rested) = registry::build(&spec, variant) else { continue };
            let mut restless = registry::build(&spec, variant).unwrap();
            let mut rng = rng::seeded(22);
            for _ in 0..8 {
                let position = random_position(variant, &mut rng);
                let choice = rested.choose(&position, budget, &stop).unwrap();
                assert_eq!(choice, restless.choose(&position, budget, &stop).unwrap(), "{spec} on {variant}");
                if rested.search_bytes() > BYTES_AT_REST_MAX {
                    with_tables.push(entry.name);
                }
                rested.rest();
                assert!(rested.search_bytes() <= BYTES_AT_REST_MAX, "{spec} on {variant}");
            }
        }
    }
    with_tables.dedup();
    for name in ["alphabeta", "cutoff", "mcts", "perfect"] {
        assert!(with_tables.contains(&name), "{name} holds a table while it thinks: {with_tables:?}");
    }
}

#[test]
fn a_thousand_idle_games_cost_kilobytes() {
    let (stop, budget) = (AtomicBool::new(false), MoveBudget { nodes: Some(10), time: None });
    let start = Position::new(Variant::STANDARD);
    let bots = (0..1_000).map(|_| {
        let mut bot = build("alphabeta", Variant::STANDARD);
        bot.choose(&start, budget, &stop).unwrap();
        bot.rest();
        bot
    });
    let bots: Vec<Box<dyn Bot>> = bots.collect();
    let held: usize = bots.iter().map(|bot| bot.search_bytes()).sum();
    assert!(held <= 1_000 * BYTES_AT_REST_MAX, "{held} bytes");
}
