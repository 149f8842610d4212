//! The data sheet: what is in a dataset, and how it came about.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

use anyhow::Context;

use super::label::Label;
use super::{DatasetCommand, Drawn};
use crate::app::terminal::{command_line, machine};
use crate::system::sha256;

/// How many positions there are of what.
#[derive(Clone, Default, Debug)]
pub(super) struct Counts {
    positions: u64,
    values: BTreeMap<String, u64>,
    classes: BTreeMap<String, u64>,
    sources: BTreeMap<String, u64>,
    plies: BTreeMap<u32, u64>,
}

impl Counts {
    pub(super) fn add(&mut self, label: &Label) {
        self.positions += 1;
        *self.values.entry(label.value.to_string()).or_default() += 1;
        *self.classes.entry(label.class.to_string()).or_default() += 1;
        *self.sources.entry(label.source.word().to_owned()).or_default() += 1;
        *self.plies.entry(label.ply).or_default() += 1;
    }

    pub(super) fn positions(&self) -> u64 {
        self.positions
    }
}

fn rows<K: std::fmt::Display>(head: &str, counts: &BTreeMap<K, u64>) -> String {
    let mut text = format!("\n| {head} | positions |\n|---|---|\n");
    for (kind, count) in counts {
        let _ = writeln!(text, "| {kind} | {count} |"); // a string takes everything
    }
    text
}

impl DatasetCommand {
    /// The sheet of what was drawn into a file.
    pub(super) fn sheet_text(&self, drawn: &Drawn, data: &Path) -> anyhow::Result<String> {
        let read = || -> std::io::Result<(String, u64)> {
            let mut file = File::open(data)?;
            let bytes = file.metadata()?.len();
            Ok((sha256::of_next(&mut file, bytes, || ())?, bytes))
        };
        let (sum, bytes) = read().with_context(|| format!("cannot read {}", data.display()))?;
        let Drawn { counts, candidates, took } = drawn;
        let name = data.file_name().unwrap_or_default().to_string_lossy();
        let excluded: Vec<String> = self.exclude.iter().map(|path| format!("`{}`", path.display())).collect();
        let excluded = if excluded.is_empty() { "nothing".to_owned() } else { excluded.join(", ") };
        let mut text = format!(
            "# Data sheet of {name}\n\n\
             {} positions of Connect Four on 7x6 with exact values, by perfect play of both sides.\n\n\
             | | |\n|---|---|\n\
             | made by | `{}` |\n\
             | version | fourfold {} |\n\
             | machine | {}, {:.1} s |\n\
             | seed | {} |\n\
             | stones | {} |\n\
             | left out | {excluded}; positions of this file again or in the mirror |\n\
             | candidates | {candidates} |\n\
             | file | {bytes} bytes, SHA-256 `{sum}` |\n",
            counts.positions,
            command_line(),
            env!("CARGO_PKG_VERSION"),
            machine(),
            took.as_secs_f64(),
            self.seed,
            self.plies,
        );
        text += HOW_AND_WHAT;
        text += &rows("value for the side to move", &counts.values);
        text += &rows("class", &counts.classes);
        text += &rows("source", &counts.sources);
        text += &rows("stones", &counts.plies);
        Ok(text)
    }
}

/// What is the same in every sheet.
const HOW_AND_WHAT: &str = "
## How positions are drawn

A number of stones is drawn from the range, each as likely (with `--balance ply` in turn), and a game is played so far: in
half of them every move is drawn among the legal ones, in the others a bot plays that looks three plies ahead by open
lines, and a quarter of its moves are drawn. Games that end before are dropped. So the positions are not those of strong
players, and one that many games lead to comes first: what is in a small file is likelier in play than what only a large
one has.

## Labels

Every label is proven by the solver, none is an estimate; `fourfold solve --columns MOVES` gives it again.

| field | meaning |
|---|---|
| `moves` | columns from 1 to 7, from the empty board |
| `ply` | stones on the board; the first side is to move if it is even |
| `board` | 42 characters, row by row from the bottom left: 1 the side to move, 2 its opponent, 0 empty |
| `value` | 1 the side to move wins, 0 a draw, -1 it loses |
| `score` | 0 a draw, +n a win with the n-th stone counted from one's last, -n a loss to such a win |
| `best` | the columns that reach the score |
| `columns`, `c1` to `c7` | the score of each column, none where it is full |
| `class` | by stones (begin to 14, middle to 28, end) and plies to the end (easy under 14, medium under 28, hard) |
| `source` | random, or played |

## Use

Mirror images are one position: a file that is extended by them must be split before. Parts for training and tests that share
nothing are made with two seeds and `--exclude`. Nobody is described by the data; they may be used for anything.

## What is in it
";
