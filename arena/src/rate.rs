//! Games out of files of records, whoever wrote them, and the joint ratings that they give.
//!
//! Only what a rating needs is read: who played, who won, and which games belong together. Games that are live or void
//! count for nothing, nor do those that an operator took out.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufRead, Read};

use fourfold_engine::{Game, Outcome, Side, Variant};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::log::Chain;
use crate::report::{RatingTable, ReportEntry};
use crate::stats::fit::{Anchor, DRAW, FitMeeting, LOSS, WIN};
use crate::stats::ledger::{Booking, Ledger};

/// Longest line. A record of the largest board has under 4 KiB; a file that is none may be one line of a gigabyte.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// Why a file cannot be rated.
#[derive(Debug, thiserror::Error)]
pub enum RateError {
    #[error("line {line}: {reason}")]
    Line { line: u64, reason: String },
    #[error("cannot read it: {0}")]
    Unreadable(#[from] io::Error),
}

/// Which games of a file count.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Only {
    /// Those that moved ratings of the daemon. Matches move none.
    pub rated: bool,
    pub bots: bool,
    /// Those on this board, such as `7x6`.
    pub variant: Option<String>,
    /// Those that were decided on the board or given up, and by no fault.
    pub faultless: bool,
}

/// Whether lines are held against their checksums, and results against their moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Trust {
    #[default]
    Checked,
    /// For lines that were picked from a log, whose checksums cover the whole.
    Blind,
}

/// Games that were read.
#[derive(Debug, Default)]
pub struct Games {
    only: Only,
    names: Vec<String>,
    /// Numbers of the players by their ids: what is summed in the order of the ids is the same in any order of games.
    numbers: BTreeMap<String, usize>,
    ledger: Ledger,
    trust: Trust,
    /// Lines that were read, by their contents: the same file twice is one.
    read: HashSet<u64>,
    repeats: u64,
}

#[derive(Deserialize)]
struct FileLine<'a> {
    event: Option<IgnoredAny>,
    #[serde(borrow)]
    players: Option<FilePlayers<'a>>,
    result: Option<Cow<'a, str>>,
    pair: Option<FilePair<'a>>,
    #[serde(default)]
    moves: Cow<'a, str>,
    reason: Option<Cow<'a, str>>,
    #[serde(default)]
    rated: bool,
    variant: Option<Cow<'a, str>>,
    unrated_because: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct FilePlayers<'a> {
    #[serde(borrow)]
    first: FilePlayer<'a>,
    second: FilePlayer<'a>,
}

#[derive(Deserialize)]
struct FilePlayer<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    name: Cow<'a, str>,
    kind: Option<Cow<'a, str>>,
    /// How often the daemon had its rating begin anew: another player each time.
    #[serde(default)]
    era: u32,
}

impl FilePlayer<'_> {
    /// Whoever says nothing about it is one: matches are between bots.
    fn is_bot(&self) -> bool {
        self.kind.as_deref().is_none_or(|kind| kind == "bot")
    }
}

#[derive(Deserialize)]
struct FilePair<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    leg: u32,
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Replays a game: its moves must be legal, and if they end it, it must have ended so.
fn check_moves(line: &FileLine<'_>) -> Result<(), String> {
    let Some(result) = line.result.as_deref().filter(|result| *result != "void") else { return Ok(()) };
    let variant = line.variant.as_deref().unwrap_or("7x6");
    let variant: Variant = variant.parse().map_err(|error| format!("variant `{variant}`: {error}"))?;
    let game = Game::from_moves(variant, &line.moves).map_err(|error| format!("moves: {error}"))?;
    let on_board = match game.outcome() {
        Some(Outcome::Win { by: Side::First, .. }) => "first",
        Some(Outcome::Win { by: Side::Second, .. }) => "second",
        Some(Outcome::Draw) => "draw",
        None if matches!(line.reason.as_deref(), Some("four" | "full")) => {
            return Err("reason: the moves do not end the game".to_owned());
        }
        None => return Ok(()),
    };
    if on_board == result {
        Ok(())
    } else {
        Err(format!("result `{result}`, but by the moves it is `{on_board}`"))
    }
}

impl Games {
    /// Nothing read yet.
    pub fn new(only: Only, trust: Trust) -> Self {
        Self { only, trust, ..Self::default() }
    }

    /// Games that stood in the files before, letter for letter, and were passed over.
    pub fn repeats(&self) -> u64 {
        self.repeats
    }

    /// Adds all games of a file. Returns whether the last line was torn: without a line feed, and no JSON.
    ///
    /// # Errors
    ///
    /// Names the first line that is neither a record nor an event.
    pub fn read(&mut self, mut file: impl BufRead) -> Result<bool, RateError> {
        let mut bytes = Vec::new();
        let mut chain = Chain::default();
        for line in 1.. {
            bytes.clear();
            (&mut file).take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
            if bytes.is_empty() {
                break;
            }
            if bytes.len() as u64 > LINE_BYTES_MAX {
                return Err(RateError::Line { line, reason: format!("longer than {LINE_BYTES_MAX} bytes") });
            }
            let text = bytes.trim_ascii();
            if let Err(reason) = self.check_sum(text, &mut chain).and_then(|()| self.read_line(text)) {
                if bytes.ends_with(b"\n") {
                    return Err(RateError::Line { line, reason });
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Holds a line of a log against its checksum, which covers the lines before it as well. Other files have none, and
    /// files that were joined have a start in their midst.
    fn check_sum(&self, text: &[u8], chain: &mut Chain) -> Result<(), String> {
        if self.trust == Trust::Blind || !Chain::is_on(text) || chain.accepts(text) {
            return Ok(());
        }
        let mut start = Chain::default();
        if start.accepts(text) {
            *chain = start;
            return Ok(());
        }
        Err("its checksum is wrong: it was changed, or a line before it is missing (--unchecked takes it anyway)".into())
    }

    fn read_line(&mut self, text: &[u8]) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        let line: FileLine<'_> =
            serde_json::from_slice(text).map_err(|error| format!("not a record: {error}"))?;
        if line.event.is_some() {
            return Ok(());
        }
        if !self.read.insert(hash(text)) {
            self.repeats += 1;
            return Ok(());
        }
        if self.trust == Trust::Checked {
            check_moves(&line)?;
        }
        let players = line.players.ok_or("not a record: it has no players")?;
        let ending = match line.result.as_deref() {
            Some("first") => WIN,
            Some("second") => LOSS,
            Some("draw") => DRAW,
            Some("void") | None => return Ok(()),
            Some(other) => return Err(format!("result `{other}` is unknown")),
        };
        let Only { rated, bots, variant, faultless } = &self.only;
        let is_of_bots = players.first.is_bot() && players.second.is_bot();
        let is_on_board = variant.is_none() || line.variant.as_deref() == variant.as_deref();
        let is_by_fault = matches!(line.reason.as_deref(), Some("time" | "illegal" | "left" | "bot_failed"));
        if *faultless && is_by_fault {
            return Ok(());
        }
        let is_voided = line.unrated_because.as_deref() == Some("voided");
        if is_voided || (*rated && !line.rated) || (*bots && !is_of_bots) || !is_on_board {
            return Ok(());
        }
        let (first, second) = (self.number(&players.first), self.number(&players.second));
        if first == second {
            return Err(format!("{} plays against itself", players.first.name));
        }
        let pair = line.pair.as_ref().map(|pair| (pair.id.as_ref(), pair.leg));
        self.ledger.book(Booking { first, second, ending, moves: &line.moves, pair });
        Ok(())
    }

    /// The player's number, a new one for whoever was not seen yet.
    fn number(&mut self, player: &FilePlayer<'_>) -> usize {
        let of_era = |text: &str| match player.era {
            0 => text.to_owned(),
            era => format!("{text}#{era}"),
        };
        let id = of_era(player.id.as_ref().unwrap_or(&player.name));
        if let Some(&number) = self.numbers.get(&id) {
            return number;
        }
        let number = self.ledger.add_player();
        self.names.push(of_era(&player.name));
        self.numbers.insert(id, number);
        number
    }

    /// Whether there is nothing to rate by.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The number of the player of this name.
    pub fn player(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// The ratings of all players. Games whose pair is unfinished, and repeated ones, count for nobody's rating.
    pub fn rate(&self, anchors: &[Anchor]) -> RatingTable {
        let (entries, meetings, anchors) = self.for_rating(anchors);
        RatingTable::rate(&entries, &meetings, &anchors)
    }

    /// The same with what is known of every two players.
    pub fn rate_with_matrix(&self, anchors: &[Anchor]) -> RatingTable {
        let (entries, meetings, anchors) = self.for_rating(anchors);
        RatingTable::rate_with_matrix(&entries, &meetings, &anchors)
    }

    fn for_rating(&self, anchors: &[Anchor]) -> (Vec<ReportEntry>, Vec<FitMeeting>, Vec<Anchor>) {
        let order: Vec<usize> = self.numbers.values().copied().collect();
        let place = |player: usize| order.iter().position(|&other| other == player);
        let anchors: Vec<Anchor> = anchors
            .iter()
            .filter_map(|anchor| Some(Anchor { player: place(anchor.player)?, elo: anchor.elo }))
            .collect();
        let entry = |&player: &usize| ReportEntry {
            name: self.names[player].clone(),
            score: self.ledger.score(player),
        };
        let entries: Vec<ReportEntry> = order.iter().map(entry).collect();
        (entries, self.ledger.meetings(&order), anchors)
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
        let meeting = games.ledger.meetings(&[0, 1])[0]; // b was seen first
        assert_eq!(meeting.pairs[WIN][DRAW], 1);
        assert_eq!(meeting.singles[0], [1, 0, 0]);
        let table = games.rate(&[Anchor { player: games.player("a").unwrap(), elo: 100.0 }]);
        assert_eq!((table.games, table.pairs), (3, 1));
        assert!(table.players.iter().any(|player| player.name == "a" && (player.elo - 100.0).abs() < 1e-9));
    }

    #[test]
    fn whoever_began_anew_is_another_player_from_then_on() {
        let with_era = |era: u32| {
            line("b", "a", "first", "").replace(r#""name":"b""#, &format!(r#""name":"b","era":{era}"#))
        };
        let (games, _) = read(&[line("b", "a", "first", ""), with_era(0), with_era(2)].join("\n")).unwrap();
        assert_eq!((games.names.len(), games.player("b#2").is_some()), (3, true));
    }

    #[test]
    fn only_those_that_are_wanted_count() {
        let game = |rated: bool, kind: &str, variant: &str| {
            format!(
                r#"{{"players":{{"first":{{"id":"a","name":"a","kind":"{kind}"}},"second":{{"name":"b","kind":"bot"}}}},"result":"first","rated":{rated},"variant":"{variant}","moves":"{}"}}"#,
                1 + u8::from(rated) + 2 * u8::from(kind == "bot")
            )
        };
        let all = [(true, "bot"), (true, "human"), (false, "bot")];
        let text = all.iter().flat_map(|(rated, kind)| ["7x6", "9x6"].map(|board| game(*rated, kind, board)));
        let text = text.collect::<Vec<_>>().join("\n");
        let count = |only: Only| {
            let mut games = Games::new(only, Trust::Checked);
            games.read(text.as_bytes()).unwrap();
            games.rate(&[]).games
        };
        assert_eq!(count(Only::default()), 6);
        assert_eq!(count(Only { rated: true, ..Only::default() }), 4);
        assert_eq!(count(Only { bots: true, ..Only::default() }), 4);
        assert_eq!(
            count(Only { rated: true, bots: true, variant: Some("7x6".into()), ..Only::default() }),
            1
        );
        assert_eq!(count(Only { variant: Some("4x4".into()), ..Only::default() }), 0);
    }

    /// Lines with their checksums.
    fn log(lines: &[String]) -> String {
        let (mut chain, mut out) = (Chain::default(), Vec::new());
        for line in lines {
            chain.write(line.as_bytes(), &mut out);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_held_against_their_checksums() {
        let games = [line("a", "b", "first", ""), line("b", "a", "first", ""), line("a", "b", "draw", "")];
        let text = log(&games);
        assert_eq!(read(&text).unwrap().0.rate(&[]).games, 3);
        assert_eq!(read(&(text.clone() + &text)).unwrap().0.rate(&[]).games, 3, "the same file twice is one");
        assert_eq!(read(&(text.clone() + &text)).unwrap().0.repeats(), 3);
        let turned = text.replacen("first\",\"crc", "draw\",\"crc", 1);
        assert!(turned != text && read(&turned).unwrap_err().starts_with("line 1: its checksum is wrong"));
        let missing: String = text.split_inclusive('\n').skip(1).collect();
        assert!(read(&missing).unwrap_err().contains("a line before it is missing"));
        let mut blind = Games::new(Only::default(), Trust::Blind);
        blind.read(missing.as_bytes()).unwrap();
        assert_eq!(blind.rate(&[]).games, 2);
    }

    #[test]
    fn results_are_held_against_the_moves() {
        let game = |moves: &str, result: &str, reason: &str| {
            line("a", "b", result, &format!(r#","moves":"{moves}","reason":"{reason}""#)) + "\n"
        };
        assert!(read(&game("1212121", "first", "four")).is_ok());
        assert!(read(&game("12", "second", "time")).is_ok());
        let turned = read(&game("1212121", "draw", "four")).unwrap_err();
        assert_eq!(turned, "line 1: result `draw`, but by the moves it is `first`");
        assert!(read(&game("12", "first", "four")).unwrap_err().contains("do not end the game"));
        assert!(read(&game("1111111", "first", "resign")).unwrap_err().starts_with("line 1: moves: "));
    }

    #[test]
    fn games_that_were_lost_by_a_fault_can_be_left_out() {
        let game =
            |reason: &str| line("a", "b", "first", &format!(r#","moves":"12","reason":"{reason}""#)) + "\n";
        let mut games = Games::new(Only { faultless: true, ..Only::default() }, Trust::Checked);
        games.read((game("time") + &game("bot_failed") + &game("resign")).as_bytes()).unwrap();
        assert_eq!(games.rate(&[]).games, 1);
    }

    #[test]
    fn the_matrix_says_of_every_two_who_is_stronger() {
        let lines = ["1", "2", "3"].map(|moves| line("a", "b", "first", &format!(r#","moves":"{moves}""#)));
        let table = read(&lines.join("\n")).unwrap().0.rate_with_matrix(&[]);
        let matrix = table.matrix.unwrap();
        assert!(matrix.los[0][1] > 0.5 && (matrix.los[0][1] + matrix.los[1][0] - 1.0).abs() < 1e-9);
        let [[own, one], [other, _]] = [0, 1].map(|row| [0, 1].map(|column| matrix.covariance[row][column]));
        assert!(own > 0.0 && (one - other).abs() < 1e-9, "{:?}", matrix.covariance);
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
