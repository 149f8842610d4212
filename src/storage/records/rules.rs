//! Whether moves and the end that is recorded for them agree: for the verifier and for reading records.

use fourfold_engine::{Game, Outcome, Side};

use crate::model::result::{EndReason, GameResult};
use crate::storage::record::{Ending, EventKind, StoredEvent, StoredGame};
use crate::storage::words::Word;

/// Replays a stored game: its opening, and its events up to the end.
///
/// # Errors
///
/// Says which event cannot have happened.
pub(crate) fn replay(stored: &StoredGame) -> Result<Game, String> {
    let opening = &stored.spec.opening.moves;
    let mut game = Game::from_moves(stored.spec.variant, opening)
        .map_err(|error| format!("opening {opening}: {error}"))?;
    let opening_plies = game.ply();
    let mut is_over = false;
    for (due, event) in (1..).zip(&stored.events) {
        if event.seq != due {
            return Err(format!("event {due} is missing, {} follows", event.seq));
        }
        if is_over {
            return Err(format!("event {due} comes after the end"));
        }
        is_over = matches!(event.kind, EventKind::Finished(_));
        replay_event(&mut game, opening_plies, event).map_err(|what| format!("event {due}: {what}"))?;
    }
    Ok(game)
}

fn replay_event(game: &mut Game, opening_plies: u32, event: &StoredEvent) -> Result<(), String> {
    match &event.kind {
        EventKind::Move(played) => {
            game.play(played.column).map_err(|error| format!("move {}: {error}", game.ply() + 1))?;
            if played.credited_ms > played.spent_ms {
                return Err(format!("{} ms spent, {} ms credited", played.spent_ms, played.credited_ms));
            }
            Ok(())
        }
        EventKind::Takeback { plies } => {
            let played = game.ply() - opening_plies;
            if *plies == 0 || *plies > played {
                return Err(format!("{plies} of {played} moves are taken back"));
            }
            for _ in 0..*plies {
                game.undo();
            }
            Ok(())
        }
        EventKind::Paused => Ok(()),
        EventKind::Finished(ending) => check_end(game, *ending),
    }
}

/// Whether a game can end like this in the position that it has reached.
///
/// # Errors
///
/// Says what does not agree.
pub(crate) fn check_end(game: &Game, ending: Ending) -> Result<(), String> {
    let Ending { result, reason, by } = ending;
    let recorded = format!("{} by {}", result.word(), reason.word());
    if let Some(outcome) = game.outcome() {
        let due = end_on_board(outcome);
        let said = format!("{} by {}", due.result.word(), due.reason.word());
        return if ending == due {
            Ok(())
        } else {
            Err(format!("the board says {said}, recorded is {recorded}"))
        };
    }
    let is_possible = match reason {
        EndReason::Four | EndReason::Full => false,
        EndReason::Aborted => result == GameResult::Void,
        EndReason::Resign | EndReason::Time | EndReason::Illegal | EndReason::Left => {
            is_won_against(result, by)
        }
        // The arena may stop a game without a result or decide it, after a breakdown of its own bot too.
        EndReason::Stopped | EndReason::BotFailed => result == GameResult::Void || is_won_against(result, by),
    };
    if is_possible {
        Ok(())
    } else {
        Err(format!("the game is not over on the board, recorded is {recorded}"))
    }
}

fn end_on_board(outcome: Outcome) -> Ending {
    let (result, reason) = match outcome {
        Outcome::Win { by: Side::First, .. } => (GameResult::First, EndReason::Four),
        Outcome::Win { by: Side::Second, .. } => (GameResult::Second, EndReason::Four),
        Outcome::Draw => (GameResult::Draw, EndReason::Full),
    };
    Ending { result, reason, by: None }
}

/// Whether a side won, and not the one at fault.
fn is_won_against(result: GameResult, at_fault: Option<Side>) -> bool {
    result.winner().is_some_and(|winner| at_fault != Some(winner))
}

#[cfg(test)]
mod tests {
    use fourfold_engine::Variant;

    use super::*;

    #[track_caller]
    fn check(moves: &str, result: GameResult, reason: EndReason, by: Option<Side>, expected: &str) {
        let game = Game::from_moves(Variant::STANDARD, moves).unwrap();
        let found = check_end(&game, Ending { result, reason, by }).err().unwrap_or_default();
        assert_eq!(found, expected, "{moves} {result:?} {reason:?} {by:?}");
    }

    #[test]
    fn what_stands_on_the_board_decides() {
        use EndReason::{Four, Full, Resign};
        use GameResult::{Draw, First, Second, Void};
        let line = "1212121";
        check(line, First, Four, None, "");
        check(line, Second, Four, None, "the board says first by four, recorded is second by four");
        check(line, First, Resign, None, "the board says first by four, recorded is first by resign");
        check(line, Void, Four, None, "the board says first by four, recorded is void by four");
        let open = "the game is not over on the board, recorded is";
        check("121212", First, Four, None, &format!("{open} first by four"));
        check("121212", Draw, Full, None, &format!("{open} draw by full"));
        let full = "121212212121343434434343565656656565777777";
        check(full, Draw, Full, None, "");
        check(full, Draw, Resign, None, "the board says draw by full, recorded is draw by resign");
    }

    #[test]
    fn nobody_wins_by_a_fault_of_their_own() {
        use EndReason::{Aborted, BotFailed, Left, Stopped, Time};
        use GameResult::{Draw, First, Second, Void};
        let open = "the game is not over on the board, recorded is";
        check("44", First, Time, Some(Side::Second), "");
        check("44", First, Time, Some(Side::First), &format!("{open} first by time"));
        check("44", Second, Left, None, "");
        check("44", Draw, Time, None, &format!("{open} draw by time"));
        check("44", Void, Left, None, &format!("{open} void by left"));
        check("", Void, Aborted, Some(Side::First), "");
        check("", First, Aborted, Some(Side::Second), &format!("{open} first by aborted"));
        check("44", Void, Stopped, None, "");
        check("44", Second, BotFailed, Some(Side::First), "");
    }
}
