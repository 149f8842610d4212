//! Games that are no records of an arena yet: logs of matches and tournaments, and lines of column digits.
//!
//! Each line of the file becomes a line of what is imported, a record or an empty one, so that whatever is wrong with
//! it is told with the number of the line in the file.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::str::FromStr;

use fourfold_arena::log::Log;
use fourfold_arena::record::Winner;
use fourfold_engine::{Game, Outcome, Side, Variant};
use serde_json::{Value, json};

use crate::app::laboratory::log_cmd;
use crate::app::terminal::exit::{Code, Exit};
use crate::model::ids::PlayerName;
use crate::model::time::UnixMillis;
use crate::system::sha256;

/// How an imported game was timed about which nobody knows: a day a move, the longest that an arena has.
const UNTIMED_MS: u32 = 86_400_000;

/// The shortest time that an arena has; matches may have less.
const TIME_MS_MIN: u64 = 10;

/// Letters of a player's name at most, and what takes the place of those that no name has.
const NAME_LETTERS: usize = 20;
const STAND_IN: char = '-';

/// What is read.
const READ: &str = "import reads records as `games export --format ndjson` writes them, logs of `match --save` and \
                    `tournament --save`, and lines of column digits";

/// Digits of the checksum that a game without an id is called by.
const ID_DIGITS: usize = 20;

/// What is said of games whose file does not say it.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ForeignArgs {
    /// Who moved first in games of column digits that name nobody.
    #[arg(long, value_name = "NAME", default_value = "imported-first")]
    first: PlayerName,
    /// Who moved second in them.
    #[arg(long, value_name = "NAME", default_value = "imported-second")]
    second: PlayerName,
    /// Board size and line length of games of column digits, such as 7x6 or 9x6x5.
    #[arg(long, value_name = "V", default_value_t)]
    variant: Variant,
    /// Bring an entrant of a match in under this name; without, letters that no player's name has become `-`. May be
    /// given several times.
    #[arg(long = "player", value_name = "ENTRANT=NAME")]
    players: Vec<RenamedEntrant>,
}

/// An entrant of a match and its name in the arena.
#[derive(Clone, Debug)]
struct RenamedEntrant {
    entrant: String,
    name: PlayerName,
}

impl FromStr for RenamedEntrant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Names of bots have `=` in them, those of players have none.
        let (entrant, name) =
            text.rsplit_once('=').ok_or("an entrant and a name, such as negamax:depth=6=Six")?;
        Ok(Self { entrant: entrant.to_owned(), name: name.parse().map_err(|error| format!("{error}"))? })
    }
}

/// What a file that has no records comes to.
pub(super) struct Foreign {
    pub(super) records: String,
    /// Who comes in under another name, a line each.
    pub(super) names: String,
}

/// The records of a file that has none; `None` if it has some, to be read as they are.
///
/// # Errors
///
/// The file cannot be read, or a line makes no sense.
pub(super) fn records(file: &Path, arguments: &ForeignArgs) -> anyhow::Result<Option<Foreign>> {
    let cannot =
        |error: io::Error| Exit::new(Code::NoInput, format!("cannot read {}: {error}", file.display()));
    let kind = FileKind::of(&begin(file).map_err(cannot)?);
    let mut translator =
        Translator { arguments, names: HashMap::new(), seen: HashMap::new(), now: UnixMillis::now() };
    match kind {
        FileKind::Records => {
            translator.check_renamed().map_err(Exit::usage)?;
            return Ok(None);
        }
        FileKind::Unread(format) => {
            let message = format!("{}: {format}: {READ}", file.display());
            return Err(Exit::new(Code::Data, message).into());
        }
        // Every checksum before anything else.
        FileKind::Log => drop(Log::read(file).map_err(log_cmd::unreadable)?),
        FileKind::Digits => {}
    }
    let text = String::from_utf8_lossy(&fs::read(file).map_err(cannot)?).into_owned();
    let mut records = String::with_capacity(text.len());
    for (number, line) in (1..).zip(text.lines()) {
        let record = match kind {
            FileKind::Log => translator.log_line(line.trim()),
            FileKind::Digits | FileKind::Records | FileKind::Unread(_) => translator.digits_line(line.trim()),
        };
        let record = record.map_err(|reason| {
            Exit::new(Code::Data, format!("{}: line {number}: {reason}", file.display()))
        })?;
        records += &record.unwrap_or_default();
        records.push('\n');
    }
    translator.check_renamed().map_err(Exit::usage)?;
    Ok(Some(Foreign { records, names: translator.changed_names() }))
}

/// As much of a file as tells what it is.
fn begin(file: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut begin = Vec::new();
    fs::File::open(file)?.take(4096).read_to_end(&mut begin)?;
    Ok(begin)
}

/// What a file has in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FileKind {
    Records,
    Log,
    Digits,
    /// What `games export` writes for other programs, and in which format.
    Unread(&'static str),
}

impl FileKind {
    fn of(begin: &[u8]) -> Self {
        let begin = begin.trim_ascii_start();
        if begin.starts_with(br#"{"event":"start""#) {
            Self::Log
        } else if is_compact(begin) {
            Self::Unread(
                "this is the compact format, which has neither clocks nor accounts nor what is private",
            )
        } else if begin.starts_with(b"[Event ") {
            Self::Unread("this is portable game notation (pgn)")
        } else if begin.starts_with(b"id,") {
            Self::Unread("this is a table (csv)")
        } else if begin.is_empty() || begin.starts_with(b"{") {
            Self::Records
        } else {
            Self::Digits
        }
    }
}

/// Whether the first line is a game in the short form of `games export`.
fn is_compact(begin: &[u8]) -> bool {
    let line = begin.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_short = |game: &Value| game["first"].is_string() && game.get("players").is_none();
    serde_json::from_slice(line).is_ok_and(|game: Value| is_short(&game))
}

/// Makes records of lines.
struct Translator<'a> {
    arguments: &'a ForeignArgs,
    /// What entrants are called here.
    names: HashMap<String, String>,
    /// How often a game without an id was there.
    seen: HashMap<String, u32>,
    now: UnixMillis,
}

impl Translator<'_> {
    /// A line of a log, whose games are records but for names and clocks.
    fn log_line(&mut self, line: &str) -> Result<Option<String>, String> {
        if line.is_empty() {
            return Ok(None);
        }
        let mut game: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if game.get("event").is_some() {
            return Ok(None);
        }
        for side in ["first", "second"] {
            let entrant = game["players"][side]["name"].as_str().ok_or("the game has no players")?.to_owned();
            let name = self.name_of(&entrant)?;
            game["players"][side] = json!({"id": name, "name": name, "kind": "bot"});
        }
        let time = &mut game["time"];
        if time["bank_ms"].is_null() && time["move_ms"].is_null() {
            time["move_ms"] = UNTIMED_MS.into();
        }
        for limit in ["bank_ms", "move_ms"] {
            if let Some(ms) = time[limit].as_u64() {
                time[limit] = ms.max(TIME_MS_MIN).into();
            }
        }
        Ok(Some(game.to_string()))
    }

    /// `MOVES [RESULT [FIRST SECOND]]`, with blanks, tabs, commas or semicolons between.
    fn digits_line(&mut self, line: &str) -> Result<Option<String>, String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        let is_between = |letter: char| letter.is_whitespace() || letter == ',' || letter == ';';
        let words: Vec<&str> = line.split(is_between).filter(|word| !word.is_empty()).collect();
        let (moves, said, players) = match words[..] {
            [moves] => (moves, None, None),
            [moves, result] => (moves, Some(result), None),
            [moves, result, first, second] => (moves, Some(result), Some((first, second))),
            _ => return Err(format!("{} words: moves, a result and two names are expected", words.len())),
        };
        let variant = self.arguments.variant;
        let game = Game::from_moves(variant, moves).map_err(|error| error.to_string())?;
        let ending = ending(&game, said.map(read_result).transpose()?)?;
        let [first, second] = match players {
            Some((first, second)) => [first, second]
                .map(|name| name.parse::<PlayerName>().map_err(|error| format!("player `{name}`: {error}"))),
            None => [Ok(self.arguments.first.clone()), Ok(self.arguments.second.clone())],
        };
        Ok(Some(self.record(&game, &ending, [first?, second?])))
    }

    /// A record of a game that has neither a name nor a clock.
    fn record(&mut self, game: &Game, ending: &Value, [first, second]: [PlayerName; 2]) -> String {
        let (variant, notation) = (game.variant(), game.notation());
        let key = format!("{variant} {notation} {ending} {first} {second}");
        let place = self.seen.entry(key.clone()).or_default();
        *place += 1;
        let id = format!("i{}", &sha256::of(format!("{key} {place}").as_bytes())[..ID_DIGITS]);
        let player =
            |name: &PlayerName| json!({"id": name.to_string(), "name": name.to_string(), "kind": "bot"});
        let mut record = json!({
            "id": id,
            "variant": variant.to_string(),
            "rated": false,
            "players": {"first": player(&first), "second": player(&second)},
            "time": {"bank_ms": null, "increment_ms": 0, "move_ms": UNTIMED_MS},
            "opening": {"kind": "none", "moves": ""},
            "moves": notation,
            "clocks": vec![[UNTIMED_MS, UNTIMED_MS]; game.moves().len()],
            "status": "over",
            "ratings": null,
            "started_at": self.now.to_string(),
            "ended_at": self.now.to_string(),
        });
        for (field, value) in ending.as_object().into_iter().flatten() {
            record[field] = value.clone();
        }
        record.to_string()
    }

    /// What an entrant is called here: nobody else in this file is called so.
    fn name_of(&mut self, entrant: &str) -> Result<String, String> {
        if let Some(name) = self.names.get(entrant) {
            return Ok(name.clone());
        }
        let renamed = self.arguments.players.iter().find(|renamed| renamed.entrant == entrant);
        let wanted = renamed.map_or_else(|| plain_name(entrant), |renamed| renamed.name.to_string());
        let is_taken = |name: &String| self.names.values().any(|taken| taken.eq_ignore_ascii_case(name));
        let numbered = (2..=9).map(|number| {
            let kept: String = wanted.chars().take(NAME_LETTERS - 2).collect();
            format!("{kept}{STAND_IN}{number}")
        });
        let name = std::iter::once(wanted.clone()).chain(numbered).find(|name| !is_taken(name));
        let name =
            name.ok_or_else(|| format!("too many entrants would be called {wanted}: name them by --player"))?;
        self.names.insert(entrant.to_owned(), name.clone());
        Ok(name)
    }

    /// Whoever is given a name by --player must be there.
    fn check_renamed(&self) -> Result<(), String> {
        let is_there = |renamed: &&RenamedEntrant| self.names.contains_key(&renamed.entrant);
        let Some(missing) = self.arguments.players.iter().find(|renamed| !is_there(renamed)) else {
            return Ok(());
        };
        let mut there: Vec<&str> = self.names.keys().map(String::as_str).collect();
        there.sort_unstable();
        let there = match there.as_slice() {
            [] => "the file is no log of a match or a tournament, its players keep their names".to_owned(),
            entrants => format!("the file has {}", entrants.join(", ")),
        };
        Err(format!("--player: there is no entrant `{}`; {there}", missing.entrant))
    }

    /// Who comes in under another name, a line each.
    fn changed_names(&self) -> String {
        let mut changed: Vec<_> = self.names.iter().filter(|(entrant, name)| entrant != name).collect();
        changed.sort();
        let mut text = String::new();
        for (entrant, name) in changed {
            let _ = writeln!(text, "{entrant} comes in as {name}"); // a string takes everything
        }
        text
    }
}

/// The nearest text that is a name.
fn plain_name(entrant: &str) -> String {
    let plain =
        |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { STAND_IN };
    let name: String = entrant.chars().map(plain).take(NAME_LETTERS).collect();
    let name = name.trim_matches(STAND_IN);
    if name.len() < 2 {
        format!("bot{STAND_IN}{name}").trim_end_matches(STAND_IN).to_owned()
    } else {
        name.to_owned()
    }
}

/// Who won, as people write it.
fn read_result(text: &str) -> Result<Winner, String> {
    match text.to_ascii_lowercase().as_str() {
        "1-0" | "first" | "x" => Ok(Winner::First),
        "0-1" | "second" | "o" => Ok(Winner::Second),
        "1/2-1/2" | "draw" | "=" => Ok(Winner::Draw),
        _ => Err(format!("result `{text}`: 1-0, 0-1, 1/2-1/2, first, second, draw, X, O or = are")),
    }
}

fn word(winner: Option<Side>) -> &'static str {
    match winner {
        Some(Side::First) => "first",
        Some(Side::Second) => "second",
        None => "draw",
    }
}

/// The fields that say how a game ended; `said` is what stands behind its moves.
fn ending(game: &Game, said: Option<Winner>) -> Result<Value, String> {
    let on_board = game.outcome().map(|outcome| match outcome {
        Outcome::Win { by, .. } => (Some(by), "four"),
        Outcome::Draw => (None, "full"),
    });
    let said = said.map(Winner::side);
    match (on_board, said) {
        (Some((winner, _)), Some(said)) if winner != said => {
            Err(format!("the result is `{}`, but by the moves it is `{}`", word(said), word(winner)))
        }
        (Some((winner, reason)), _) => Ok(json!({"result": word(winner), "reason": reason})),
        (None, Some(Some(winner))) => {
            let by = word(Some(winner.opponent()));
            Ok(json!({"result": word(Some(winner)), "reason": "resign", "by": by}))
        }
        (None, Some(None)) => Err("the moves do not fill the board, and nothing else is a draw".to_owned()),
        (None, None) => Err("the moves do not end the game, and no result follows them".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(players: &[&str]) -> ForeignArgs {
        ForeignArgs {
            first: "ada".parse().unwrap(),
            second: "bob".parse().unwrap(),
            variant: Variant::STANDARD,
            players: players.iter().map(|text| text.parse().unwrap()).collect(),
        }
    }

    fn translate(text: &str, players: &[&str]) -> Result<Vec<Option<Value>>, String> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("games");
        fs::write(&file, text).unwrap();
        let found = records(&file, &arguments(players)).map_err(|error| error.to_string())?;
        let Some(Foreign { records, .. }) = found else { return Ok(Vec::new()) };
        Ok(records.lines().map(|line| serde_json::from_str(line).ok()).collect())
    }

    #[test]
    fn lines_of_digits_become_records() {
        let games = translate("# mine\n1212121\n44 1-0\n4411, O, eve, max\n1212121\n", &[]).unwrap();
        let of = |place: usize, field: &str| games[place].as_ref().unwrap()[field].clone();
        assert!(games[0].is_none() && games.len() == 5);
        assert_eq!((of(1, "result"), of(1, "reason")), ("first".into(), "four".into()));
        assert_eq!((of(2, "reason"), of(2, "by")), ("resign".into(), "second".into()));
        assert_eq!(
            (of(3, "result"), of(3, "players")["first"]["name"].clone()),
            ("second".into(), "eve".into())
        );
        assert_ne!(of(1, "id"), of(4, "id"), "the same game twice is two games");
        assert_eq!(of(1, "id"), translate("1212121\n", &[]).unwrap()[0].as_ref().unwrap()["id"]);
    }

    #[test]
    fn lines_that_make_no_sense_are_named() {
        for (text, message) in [
            ("44 1-0\n48 1-0\n", "line 2: move 2 is illegal: column 8 is not on a board of 7 columns"),
            ("44\n", "line 1: the moves do not end the game, and no result follows them"),
            ("44 draw\n", "line 1: the moves do not fill the board"),
            ("1212121 0-1\n", "line 1: the result is `second`, but by the moves it is `first`"),
            ("44 2-0\n", "line 1: result `2-0`: 1-0, 0-1"),
            ("44 1-0 ada\n", "line 1: 3 words"),
            ("44 1-0 a bob\n", "line 1: player `a`: "),
        ] {
            let error = translate(text, &[]).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn formats_for_other_programs_are_named() {
        let compact = r#"{"id":"g1","variant":"7x6","first":"Ada","second":"deep","opening":2,"moves":"44"}"#;
        for (text, format) in [
            (compact, "this is the compact format"),
            ("[Event \"Rated game\"]\n[Site \"g1\"]\n", "this is portable game notation (pgn)"),
            ("id,variant,rated\ng1,7x6,true\n", "this is a table (csv)"),
        ] {
            let error = translate(text, &[]).unwrap_err();
            assert!(error.contains(format) && error.contains("`games export --format ndjson`"), "{error}");
        }
    }

    #[test]
    fn an_entrant_who_is_not_there_gets_no_name() {
        let line = |first: &str| {
            let players = json!({"first": {"name": first}, "second": {"name": "b"}});
            json!({"players": players, "time": {"move_ms": 50}}).to_string()
        };
        let arguments = arguments(&["nosuch=foo"]);
        let (names, seen) = (HashMap::new(), HashMap::new());
        let mut translator = Translator { arguments: &arguments, names, seen, now: UnixMillis::now() };
        translator.log_line(&line("mcts:ms=5")).unwrap();
        let error = translator.check_renamed().unwrap_err();
        assert_eq!(error, "--player: there is no entrant `nosuch`; the file has b, mcts:ms=5");
        translator.log_line(&line("nosuch")).unwrap();
        assert_eq!(translator.check_renamed(), Ok(()));
        let error = translate("1212121\n", &["nosuch=foo"]).unwrap_err();
        assert!(error.contains("there is no entrant `nosuch`; the file is no log"), "{error}");
        let record = translate("{}\n", &["nosuch=foo"]).unwrap_err();
        assert!(record.contains("there is no entrant `nosuch`"), "{record}");
    }

    #[test]
    fn entrants_get_names_of_players() {
        assert_eq!(plain_name("negamax:depth=6"), "negamax-depth-6");
        assert_eq!(plain_name("cmd:./x"), "cmd---x");
        assert_eq!(
            (plain_name("é"), plain_name("a"), plain_name("")),
            ("bot".into(), "bot-a".into(), "bot".into())
        );
        assert!(
            ["é", "a", "", "cmd:./a/very/long/path/to/a/bot"]
                .iter()
                .all(|text| plain_name(text).parse::<PlayerName>().is_ok())
        );
        let arguments = arguments(&["mcts:ms=50=Monte"]);
        let (names, seen) = (HashMap::new(), HashMap::new());
        let mut translator = Translator { arguments: &arguments, names, seen, now: UnixMillis::now() };
        let mut name = |entrant: &str| translator.name_of(entrant).unwrap();
        assert_eq!((name("a b"), name("a:b"), name("a b")), ("a-b".into(), "a-b-2".into(), "a-b".into()));
        assert_eq!(name("mcts:ms=50"), "Monte");
    }
}
