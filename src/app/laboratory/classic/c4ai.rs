//! The command line of the C4AI readme: long options after one hyphen.

use crate::system::bot_files;
use fourfold_bots::BotSpec;

use crate::app::terminal::exit::Exit;

/// Milliseconds a move if nothing is said.
const TIME_MS: u32 = 1000;

/// Where trained weights go if nothing is said.
const WEIGHTS_FILE: &str = "weights.csv";

/// Its own weights.
const DEFAULT_WEIGHTS: &str = "-d";

/// Who plays, and what of C4AI's follows its name.
enum C4aiPlayer {
    MonteCarlo,
    Stupid,
    Random,
    C4ai(C4aiWeights),
}

/// With which weights C4AI plays.
enum C4aiWeights {
    Own,
    File(String),
    /// Nothing follows its name: `-d` has to stand somewhere else.
    Unsaid,
}

impl C4aiPlayer {
    /// The bot; `default` says whether `-d` stood alone.
    fn spec(self, time_ms: u32, default: Option<DefaultWeights>) -> anyhow::Result<BotSpec> {
        let spec = match self {
            Self::Stupid => return Ok(BotSpec::new("stupid")),
            Self::Random => return Ok(BotSpec::new("random")),
            Self::MonteCarlo => BotSpec::new("montecarlo"),
            Self::C4ai(C4aiWeights::File(file)) => {
                bot_files::with_files_read(&BotSpec::new("c4ai").with("weights", file))?
            }
            Self::C4ai(C4aiWeights::Unsaid) if default.is_none() => {
                return Err(
                    Exit::usage("C4AI is followed by a weights file, or -d says: its own weights").into()
                );
            }
            Self::C4ai(C4aiWeights::Own | C4aiWeights::Unsaid) => BotSpec::new("c4ai"),
        };
        Ok(spec.with("ms", time_ms))
    }
}

/// `-d` was given, which may stand anywhere: all C4AIs without a file play with their own weights.
#[derive(Clone, Copy)]
struct DefaultWeights;

/// What is to be done.
enum C4aiTask {
    Play,
    Train { check_config: bool, file: String },
}

/// Arguments, taken one after the other.
struct Words<'a> {
    rest: std::slice::Iter<'a, String>,
}

impl<'a> Words<'a> {
    /// The value that an option needs.
    fn value(&mut self, option: &str, what: &str) -> Result<&'a str, Exit> {
        let value = self.rest.next().map(String::as_str);
        value.ok_or_else(|| Exit::usage(format!("{option} is followed by {what}")))
    }

    fn player(&mut self, option: &str) -> Result<C4aiPlayer, Exit> {
        match self.value(option, "a name")? {
            "MonteCarloAI" => Ok(C4aiPlayer::MonteCarlo),
            "StupidAI" => Ok(C4aiPlayer::Stupid),
            "RandomAI" => Ok(C4aiPlayer::Random),
            "C4AI" => Ok(C4aiPlayer::C4ai(self.weights())),
            other => {
                let message =
                    format!("{option}: nobody is called `{other}`: MonteCarloAI, StupidAI, RandomAI, C4AI");
                Err(Exit::usage(message))
            }
        }
    }

    /// What follows the name C4AI; another option belongs to itself.
    fn weights(&mut self) -> C4aiWeights {
        let weights = match self.rest.as_slice().first().map(String::as_str) {
            Some(DEFAULT_WEIGHTS) => C4aiWeights::Own,
            Some(file) if !file.starts_with('-') => C4aiWeights::File(file.to_owned()),
            Some(_) | None => return C4aiWeights::Unsaid,
        };
        self.rest.next();
        weights
    }

    fn time(&mut self) -> Result<u32, Exit> {
        let text = self.value("-t", "milliseconds")?;
        let time = text.parse().ok().filter(|&time| time > 0);
        time.ok_or_else(|| Exit::usage(format!("-t: `{text}` is no number of milliseconds")))
    }

    /// The file after -train, if there is one.
    fn file(&mut self) -> String {
        let file = self.rest.as_slice().first().filter(|word| !word.starts_with('-'));
        if file.is_some() {
            self.rest.next();
        }
        file.map_or_else(|| WEIGHTS_FILE.to_owned(), Clone::clone)
    }
}

pub(super) fn translate(arguments: &[String]) -> anyhow::Result<Vec<String>> {
    let mut words = Words { rest: arguments.iter() };
    let (mut first, mut second, mut time_ms, mut task) = (None, None, TIME_MS, C4aiTask::Play);
    let mut default = None;
    while let Some(option) = words.rest.next() {
        match option.as_str() {
            "-p1" => first = Some(words.player("-p1")?),
            "-p2" => second = Some(words.player("-p2")?),
            DEFAULT_WEIGHTS => default = Some(DefaultWeights),
            "-t" => time_ms = words.time()?,
            "-train" => task = C4aiTask::Train { check_config: false, file: words.file() },
            "-train-test" => task = C4aiTask::Train { check_config: true, file: words.file() },
            other => {
                let message = format!("`{other}` is no option: -p1, -p2, -d, -t, -train and -train-test are");
                return Err(Exit::usage(message).into());
            }
        }
    }
    match task {
        C4aiTask::Play => {
            let mut command = vec!["play".to_owned()];
            for (flag, player) in [("--first", first), ("--second", second)] {
                if let Some(player) = player {
                    command.extend([flag.to_owned(), player.spec(time_ms, default)?.to_string()]);
                }
            }
            Ok(command)
        }
        C4aiTask::Train { check_config, file } => {
            if first.is_some() || second.is_some() {
                return Err(Exit::usage("-train plays its games alone: leave out -p1 and -p2").into());
            }
            let mut command: Vec<String> = ["train", "c4ai", "--out"].map(str::to_owned).to_vec();
            command.push(file);
            command.extend(check_config.then(|| "--check-config".to_owned()));
            Ok(command)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(translate(&words(line)).unwrap(), words(expected));
    }

    #[test]
    fn players_and_their_time() {
        check("", "play");
        check("-p2 StupidAI", "play --second stupid");
        check("-p1 C4AI -d -p2 MonteCarloAI -t 100", "play --first c4ai:ms=100 --second montecarlo:ms=100");
        check("-p1 RandomAI -p2 C4AI -d", "play --first random --second c4ai:ms=1000");
        for own_weights_said_elsewhere in
            ["-p1 C4AI -p2 StupidAI -d", "-d -p1 C4AI -p2 StupidAI", "-p1 C4AI -t 1000 -d -p2 StupidAI"]
        {
            check(own_weights_said_elsewhere, "play --first c4ai:ms=1000 --second stupid");
        }
    }

    #[test]
    fn a_weights_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("w.csv");
        std::fs::write(&path, "1,2,3,4,5,6\n").unwrap();
        check(&format!("-p1 C4AI {}", path.display()), "play --first c4ai:weights=1,2,3,4,5,6,ms=1000");
        std::fs::write(&path, "1,2,x\n").unwrap();
        let error = translate(&words(&format!("-p1 C4AI {}", path.display()))).unwrap_err().to_string();
        assert!(error.contains("w.csv: `1,2,x` is not 6 whole numbers"), "{error}");
    }

    #[test]
    fn training_has_a_file() {
        check("-train", "train c4ai --out weights.csv");
        check("-train-test my.csv", "train c4ai --out my.csv --check-config");
    }

    #[test]
    fn wrong_use_is_explained() {
        let message = |line: &str| translate(&words(line)).unwrap_err().to_string();
        assert_eq!(message("-p1"), "-p1 is followed by a name");
        let no_weights = "C4AI is followed by a weights file, or -d says: its own weights";
        assert_eq!(message("-p1 C4AI"), no_weights);
        assert_eq!(message("-p1 C4AI -p2 StupidAI"), no_weights);
        assert!(message("-p1 DeepBlue").starts_with("-p1: nobody is called `DeepBlue`"));
        assert_eq!(message("-t soon"), "-t: `soon` is no number of milliseconds");
        assert_eq!(message("-t 0"), "-t: `0` is no number of milliseconds");
        assert!(message("--first random").starts_with("`--first` is no option"));
        assert!(message("-train -p1 StupidAI").starts_with("-train plays its games alone"));
        assert!(message("-p1 C4AI gone.csv").contains("cannot read gone.csv"));
    }
}
