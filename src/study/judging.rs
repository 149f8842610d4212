//! The exact solver looks at every finished game.
//!
//! [`judge_stored`] judges one game, [`mod@slice`] some of them in one go on a thread, [`service`] follows the finished
//! games by their numbers while the daemon runs, within a share of the processor. When it is behind, games of people go
//! first, the newest of them before others. What it says is stored together with how far it has come, so that each
//! game is judged exactly once, whatever happens. On the way it finds puzzles ([`crate::study::puzzles`]).

pub(crate) mod service;
mod slice;

use std::sync::atomic::AtomicBool;

use fourfold_engine::Game;

use crate::analysis::judged::{GameJudge, Judged};
use crate::model::result::GameResult;
use crate::storage::record::StoredGame;

pub(crate) use self::service::{JudgingActor, JudgingDeps, JudgingSettings, WHILE_PLAYERS_RETURN};

/// Judges a finished game. `None` if it is void, private or only put load on the arena, makes no sense, has positions
/// that are too hard, or `stop` is set.
pub(crate) fn judge_stored(stored: &StoredGame, judge: &mut GameJudge, stop: &AtomicBool) -> Option<Judged> {
    if stored.spec.is_left_out() {
        return None;
    }
    match stored.ending()?.result {
        GameResult::First | GameResult::Second | GameResult::Draw => {}
        GameResult::Void => return None,
    }
    let game = Game::from_moves(stored.spec.variant, &stored.moves()).ok()?;
    let opening = u32::try_from(stored.spec.opening.moves.len()).ok()?;
    judge.judge(game, opening, stop)
}

#[cfg(test)]
mod tests {
    use fourfold_engine::review::Judge;
    use fourfold_engine::solver::Solver;

    use super::*;
    use crate::model::result::EndReason;
    use crate::storage::conformance::{FIRST_WINS, spec, whole_game};
    use crate::storage::record::{OpeningSource, UnratedReason};

    fn game(moves: &str, result: GameResult) -> StoredGame {
        let reason = EndReason::Resign;
        StoredGame {
            spec: spec("g", "Ada", "Bob"),
            events: whole_game(moves, result, reason),
            settlement: None,
        }
    }

    fn judged(stored: &StoredGame) -> Option<Judged> {
        judge_stored(stored, &mut GameJudge::new(), &AtomicBool::new(false))
    }

    #[test]
    fn the_moves_after_the_opening_are_judged() {
        let mut stored = game(FIRST_WINS, GameResult::First);
        let whole = judged(&stored).unwrap();
        assert_eq!((whole.from_ply, whole.moves.len()), (0, 7));
        assert_eq!((whole.skill.first.moves, whole.skill.second.moves), (4, 3));
        let opening = &mut stored.spec.opening;
        *opening = OpeningSource { moves: "12".into(), ..opening.clone() };
        stored.events = whole_game("12121", GameResult::First, EndReason::Four);
        let rest = judged(&stored).unwrap();
        assert_eq!((rest.from_ply, rest.moves.len()), (2, 5));
        assert_eq!(rest.moves, whole.moves[2..]);
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        assert_eq!(judged(&game(FIRST_WINS, GameResult::Void)), None);
        let mut load = game(FIRST_WINS, GameResult::First);
        load.spec.unrated_because = Some(UnratedReason::Load);
        assert_eq!(judged(&load), None, "nobody chose its moves");
        assert_eq!(judged(&game("11111112", GameResult::First)), None, "a column has six cells");
        let mut wide = game("5555", GameResult::First);
        wide.spec.variant = "9x6".parse().unwrap();
        assert_eq!(judged(&wide), None);
        let stopped = AtomicBool::new(true);
        let long = game("635211145114", GameResult::First);
        let mut without_book = GameJudge::with(Judge::without_book(Solver::new()));
        assert_eq!(judge_stored(&long, &mut without_book, &stopped), None);
        let unfinished = StoredGame { events: Vec::new(), ..long };
        assert_eq!(judged(&unfinished), None);
    }
}
