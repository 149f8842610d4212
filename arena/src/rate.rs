//! Games out of files of records, whoever wrote them, and the joint ratings that they give.
//!
//! Only what a rating needs is read: who played, who won, and which games belong together. Live and void games count
//! for nothing.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::report::{Entry, RatingTable};
use crate::stats::fit::{Anchor, DRAW, LOSS, Meeting, WIN};

/// Longest line. A record of the largest board has under 4 KiB; a file that is none may be one line of a gigabyte.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Why a file cannot be rated.
#[derive(Debug, thiserror::Error)]
pub enum RateError {
    #[error("line {line}: {reason}")]
    Line {
        /// Counted from 1.
        line: u64,
        reason: String,
    },
    #[error("cannot read it: {0}")]
    Unreadable(#[from] io::Error),
}

/// Games that were read.
#[derive(Debug, Default)]
pub struct Games {
    players: Vec<Entry>,
    numbers: HashMap<String, usize>,
    /// By the two players, the earlier one first.
    meetings: HashMap<(usize, usize), Meeting>,
    /// Games of pairs that wait for their other one, by the pair's name and its half.
    open: HashMap<(String, u32), Game>,
}

/// A game by the numbers of its players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Game {
    first: usize,
    second: usize,
    /// How it ended for the first side.
    ending: usize,
}

#[derive(Deserialize)]
struct Line<'a> {
    event: Option<IgnoredAny>,
    #[serde(borrow)]
    players: Option<Players<'a>>,
    result: Option<Cow<'a, str>>,
    pair: Option<Pair<'a>>,
}

#[derive(Deserialize)]
struct Players<'a> {
    #[serde(borrow)]
    first: Player<'a>,
    second: Player<'a>,
}

#[derive(Deserialize)]
struct Player<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Pair<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    leg: u32,
}

impl Games {
    /// Adds all games of a file. Returns whether the last line was torn: without a line feed, and no JSON.
    ///
    /// # Errors
    ///
    /// Names the first line that is neither a record nor an event.
    pub fn read(&mut self, mut file: impl BufRead) -> Result<bool, RateError> {
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            (&mut file).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                break;
            }
            if bytes.len() as u64 > LINE_BYTES_MAX {
                return Err(RateError::Line { line, reason: format!("longer than {LINE_BYTES_MAX} bytes") });
            }
            if let Err(reason) = self.read_line(bytes.trim_ascii()) {
                if bytes.ends_with(b"\n") {
                    return Err(RateError::Line { line, reason });
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn read_line(&mut self, text: &[u8]) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        let line: Line<'_> =
            serde_json::from_slice(text).map_err(|error| format!("not a record: {error}"))?;
        if line.event.is_some() {
            return Ok(());
        }
        let players = line.players.ok_or("not a record: it has no players")?;
        let ending = match line.result.as_deref() {
            Some("first") => WIN,
            Some("second") => LOSS,
            Some("draw") => DRAW,
            Some("void") | None => return Ok(()),
            Some(other) => return Err(format!("result `{other}` is unknown")),
        };
        let (first, second) = (self.number(&players.first), self.number(&players.second));
        if first == second {
            return Err(format!("{} plays against itself", players.first.name));
        }
        let game = Game { first, second, ending };
        self.count(game);
        match line.pair {
            Some(pair) => self.add_to_pair(&pair, game),
            None => self.add_single(game),
        }
        Ok(())
    }

    /// The player's number, a new one for whoever was not seen yet.
    fn number(&mut self, player: &Player<'_>) -> usize {
        let id = player.id.as_ref().unwrap_or(&player.name);
        if let Some(&number) = self.numbers.get(id.as_ref()) {
            return number;
        }
        let number = self.players.len();
        self.players.push(Entry { name: player.name.to_string(), ..Entry::default() });
        self.numbers.insert(id.to_string(), number);
        number
    }

    fn count(&mut self, game: Game) {
        for (player, ending) in [(game.first, game.ending), (game.second, WIN - game.ending)] {
            let entry = &mut self.players[player];
            entry.games += 1;
            match ending {
                WIN => entry.wins += 1,
                DRAW => entry.draws += 1,
                _ => entry.losses += 1,
            }
        }
    }

    fn add_to_pair(&mut self, pair: &Pair<'_>, game: Game) {
        // A longer series is so many pairs.
        let key = (pair.id.to_string(), pair.leg.saturating_sub(1) / 2);
        let Some(other) = self.open.remove(&key) else {
            self.open.insert(key, game);
            return;
        };
        if (other.first, other.second) != (game.second, game.first) {
            // Colours were not swapped, or it is another pair of the same name.
            self.add_single(other);
            self.add_single(game);
            return;
        }
        let (a, b) = (game.first.min(game.second), game.first.max(game.second));
        let (begun_by_a, begun_by_b) = if game.first == a { (game, other) } else { (other, game) };
        let meeting = self.meeting(a, b);
        meeting.pairs[begun_by_a.ending][WIN - begun_by_b.ending] += 1;
    }

    fn add_single(&mut self, game: Game) {
        let (a, b) = (game.first.min(game.second), game.first.max(game.second));
        let meeting = self.meeting(a, b);
        if game.first == a {
            meeting.singles[0][game.ending] += 1;
        } else {
            meeting.singles[1][WIN - game.ending] += 1;
        }
    }

    fn meeting(&mut self, a: usize, b: usize) -> &mut Meeting {
        let meeting = self.meetings.entry((a, b)).or_default();
        (meeting.a, meeting.b) = (a, b);
        meeting
    }

    /// Whether there is nothing to rate by.
    pub fn is_empty(&self) -> bool {
        self.players.is_empty()
    }

    /// The number of the player of this name.
    pub fn player(&self, name: &str) -> Option<usize> {
        self.players.iter().position(|player| player.name == name)
    }

    /// The ratings of all players. Games whose pair is unfinished count for nobody's rating.
    #[must_use]
    pub fn rate(&self, anchors: &[Anchor]) -> RatingTable {
        let mut meetings: Vec<Meeting> = self.meetings.values().copied().collect();
        // In one order always, so that sums round alike.
        meetings.sort_by_key(|meeting| (meeting.a, meeting.b));
        RatingTable::rate(&self.players, &meetings, anchors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(first: &str, second: &str, result: &str, pair: &str) -> String {
        format!(
            r#"{{"players":{{"first":{{"id":"{first}","name":"{first}"}},"second":{{"name":"{second}"}}}},"result":"{result}"{pair}}}"#
        )
    }

    fn read(text: &str) -> Result<(Games, bool), String> {
        let mut games = Games::default();
        games.read(text.as_bytes()).map(|torn| (games, torn)).map_err(|error| error.to_string())
    }

    #[test]
    fn games_of_a_pair_are_found_in_any_order() {
        let leg = |leg| format!(r#","pair":{{"id":"p","leg":{leg},"of":2}}"#);
        let text = [
            r#"{"event":"start"}"#.to_owned(),
            line("b", "a", "first", &leg(2)),
            String::new(),
            line("a", "b", "draw", &leg(1)),
            line("a", "b", "void", ""),
            line("b", "a", "second", ""),
        ];
        let (games, torn) = read(&text.join("\n")).unwrap();
        assert!(!torn);
        let meeting = games.meetings[&(0, 1)]; // b was seen first
        assert_eq!(meeting.pairs[WIN][DRAW], 1);
        assert_eq!(meeting.singles[0], [1, 0, 0]);
        let table = games.rate(&[Anchor { player: games.player("a").unwrap(), elo: 100.0 }]);
        assert_eq!((table.games, table.pairs), (3, 1));
        assert!(table.players.iter().any(|player| player.name == "a" && (player.elo - 100.0).abs() < 1e-9));
    }

    #[test]
    fn mistakes_name_their_line_and_a_torn_end_is_forgiven() {
        let good = line("a", "b", "first", "");
        assert!(read(&format!("{good}\n{{\"play")).unwrap().1);
        assert!(read(&format!("{good}\nnonsense\n")).unwrap_err().starts_with("line 2: not a record"));
        assert_eq!(read("{}\n").unwrap_err(), "line 1: not a record: it has no players");
        let itself = line("a", "a", "first", "");
        assert_eq!(read(&format!("{itself}\n")).unwrap_err(), "line 1: a plays against itself");
        assert!(read(&format!("{}\n", line("a", "b", "lost", ""))).unwrap_err().contains("`lost`"));
        assert!(read(&format!("{}\n", "x".repeat(70_000))).unwrap_err().contains("longer than"));
    }
}
