//! The table of sessions that a planned stop has left.

use tracing::error;

use super::{Damage, number, parsed};
use crate::model::ids::GameId;
use crate::storage::left_sessions::LeftSession;

row! {
    #[derive(Debug)]
    pub(crate) struct LeftSessionRow {
        id: String,
        after: i64,
        ends: String,
    }
}

impl LeftSessionRow {
    /// The sessions of rows that can be read.
    pub(crate) fn sound(rows: &[Self]) -> Vec<LeftSession> {
        let decode = |row: &Self| {
            row.decode()
                .map_err(|Damage(what)| error!(session = row.id, what, "a session is damaged and left out"))
                .ok()
        };
        rows.iter().filter_map(decode).collect()
    }

    fn decode(&self) -> Result<LeftSession, Damage> {
        Ok(LeftSession {
            session: parsed("left_session.id", &self.id)?,
            after: number("left_session.after", self.after)?,
            ends: self.ends.split_whitespace().map(end_of).collect::<Result<_, _>>()?,
        })
    }
}

/// `41:game`, the number of a message and the game whose end it told.
fn end_of(word: &str) -> Result<(u64, GameId), Damage> {
    let damage = || Damage::value("left_session.ends", word);
    let (message, game) = word.split_once(':').ok_or_else(damage)?;
    Ok((message.parse().map_err(|_| damage())?, game.parse().map_err(|_| damage())?))
}

/// The ends of a session as they stand in their column.
pub(crate) fn ends_in_words(ends: &[(u64, GameId)]) -> String {
    let words: Vec<_> = ends.iter().map(|(message, game)| format!("{message}:{game}")).collect();
    words.join(" ")
}
