//! What operators do to games and players. Each of these has a reason and stands in the audit log.

use super::execute::{Control, with_causes};
use super::request::{ControlAnswer, ControlRefusal, RefusalKind};
use crate::model::ids::GameId;
use crate::model::time::UnixMillis;
use crate::storage::store::{Refused, Write};
use crate::storage::writer::WriteError;

/// Characters of a reason: a sentence or two.
const REASON_MAX: usize = 200;

/// Takes a finished game out of ratings and learning.
pub(super) async fn void(
    control: &Control,
    id: &GameId,
    reason: &str,
) -> Result<ControlAnswer, ControlRefusal> {
    let reason = checked(reason)?;
    let settlement = control.store.game(id).await?.and_then(|game| game.settlement);
    let was_rated = settlement.is_some_and(|settled| settled.ratings.is_some());
    let write = Write::VoidGame { game: id.clone(), reason, at: UnixMillis::now() };
    match control.writer.write(write).await {
        Ok(_) => {
            tracing::info!(game = %id, was_rated, "a game was voided");
            control.learning.lessons_withdrawn();
            Ok(ControlAnswer::Voided { game: id.clone(), was_rated })
        }
        Err(WriteError::Refused(Refused::NoSuchGame)) => {
            Err(ControlRefusal::new(RefusalKind::Conflict, format!("there is no finished game {id}")))
        }
        Err(WriteError::Refused(Refused::AlreadyVoided)) => {
            Err(ControlRefusal::new(RefusalKind::Conflict, format!("game {id} has been voided already")))
        }
        Err(error @ WriteError::Busy) => Err(ControlRefusal::new(RefusalKind::Busy, error.to_string())),
        Err(error) => Err(ControlRefusal::new(RefusalKind::Failed, with_causes(&error))),
    }
}

/// A reason as it is kept: one line of text.
fn checked(reason: &str) -> Result<String, ControlRefusal> {
    let reason = reason.trim();
    let length = reason.chars().count();
    if length == 0 {
        Err(ControlRefusal::new(RefusalKind::Usage, "a reason is needed"))
    } else if length > REASON_MAX {
        let message = format!("a reason has at most {REASON_MAX} characters, this one has {length}");
        Err(ControlRefusal::new(RefusalKind::Usage, message))
    } else if reason.chars().any(char::is_control) {
        Err(ControlRefusal::new(RefusalKind::Usage, "a reason is one line of text"))
    } else {
        Ok(reason.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_of_text() {
        assert_eq!(checked(" a bug of the bot ").unwrap(), "a bug of the bot");
        for bad in ["", "  ", "two\nlines", "bell\u{7}", &"x".repeat(REASON_MAX + 1)] {
            assert_eq!(checked(bad).unwrap_err().kind, RefusalKind::Usage, "{bad:?}");
        }
    }
}
