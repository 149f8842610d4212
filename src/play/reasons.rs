//! What a bot of the house says about its move, as it is kept with the move: "why this move".
//!
//! The reasons are written down when the move is made, by the version that made it, so that they stay true while the
//! learner goes on. They share the 512 bytes that a move's `info` has.

use fourfold_bots::{Choice, Reason};
use fourfold_engine::notation::print_moves;

use crate::model::bounded::{Bounded, BoundedLong};
use crate::protocol::client::MoveInfo;

/// What the note of a move begins with that has reasons.
const LEAD: &str = "why: ";

/// Between two reasons.
const SEPARATOR: &str = "; ";

/// Bytes of a note; the other fields take up to 200.
const NOTE_BYTES_MAX: usize = 300;

/// The info of a move: what the search found, and the weightiest reasons, those for the chosen column first. `None` if
/// the bot has nothing to say.
pub(crate) fn info(choice: &Choice, reasons: &[Reason]) -> Option<MoveInfo> {
    let note = note(choice, reasons);
    if choice.info.is_none() && note.is_none() {
        return None;
    }
    let search = choice.info.as_ref();
    Some(MoveInfo {
        score: search.map(|info| info.score.into()),
        depth: search.map(|info| Bounded::new(info.depth)),
        nodes: search.map(|info| BoundedLong::new(info.nodes)),
        pv: search.map(|info| print_moves(&info.pv)),
        note,
    })
}

fn note(choice: &Choice, reasons: &[Reason]) -> Option<String> {
    let (own, others): (Vec<&Reason>, Vec<&Reason>) =
        reasons.iter().partition(|reason| reason.column == choice.column);
    let mut note = String::new();
    for reason in own.into_iter().chain(others) {
        let lead = if note.is_empty() { LEAD } else { SEPARATOR };
        let text = format!("{lead}{reason}");
        if note.len() + text.len() > NOTE_BYTES_MAX {
            break;
        }
        note.push_str(&text);
    }
    (!note.is_empty()).then_some(note)
}

/// The reasons in a note; none if it is about something else.
pub(crate) fn parse(note: &str) -> Vec<Reason> {
    let reasons = note.strip_prefix(LEAD).map(|reasons| reasons.split(SEPARATOR));
    reasons.into_iter().flatten().filter_map(|reason| reason.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use fourfold_bots::{Counts, SearchInfo};
    use fourfold_engine::Column;

    use super::*;
    use crate::protocol::INFO_BYTES_MAX;

    fn reason(column: u8, weight: i64) -> Reason {
        let counts = Counts { seen: 1_000_000, won: 500_000, lost: 400_000 };
        let column = Column::from_number(column).unwrap();
        Reason { column, weight, pattern: "enemy c1 d1 e1 .".into(), counts }
    }

    #[test]
    fn the_chosen_column_speaks_first_and_all_fits_the_move() {
        let column = Column::from_number(4).unwrap();
        let search = SearchInfo { score: i32::MIN, depth: 42, nodes: u64::MAX, pv: vec![column; 42] };
        let choice = Choice { column, info: Some(search) };
        let reasons: Vec<Reason> = (0..30).map(|index| reason(1 + index % 7, 100_000)).collect();
        let info = info(&choice, &reasons).unwrap();
        assert!(info.to_stored().unwrap().len() <= INFO_BYTES_MAX);
        let read = parse(info.note.as_deref().unwrap());
        assert!(read.len() >= 4, "{read:?}");
        assert_eq!(read[0], reasons[3]);
    }

    #[test]
    fn who_says_nothing_keeps_nothing() {
        let choice = Choice::from(Column::from_number(4).unwrap());
        assert_eq!(info(&choice, &[]), None);
        assert_eq!(parse("anything else; 4 +1 x (1 1 1)"), []);
    }
}
