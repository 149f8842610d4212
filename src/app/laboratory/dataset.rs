//! `fourfold dataset`: positions with their exact values, to learn from and to measure with.

mod draw;
mod label;
mod quota;
mod sheet;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::ValueEnum;
use fourfold_arena::measure::classes::PositionClass;
use fourfold_engine::review::Judge;
use fourfold_engine::solver::{SearchLimits, Solver};

use self::draw::{Candidate, Draw, PlyRange};
use self::label::{Label, LabelFormat};
use self::quota::{Balance, Quotas};
use self::sheet::Counts;
use crate::app::laboratory::crew;
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::interrupt::Interrupt;
use crate::app::terminal::progress::ProgressLine;

/// Candidates solved in one go at most, so that all threads have enough to do. Fewer if fewer are missing.
const BATCH: usize = 512;

/// Candidates for each position at most. Where quotas want what hardly ever comes up, waiting for it has no end.
const CANDIDATES_EACH_MAX: u64 = 200;

/// Candidates that are tried whatever the number of positions.
const CANDIDATES_MIN: u64 = 20_000;

/// Positions at most: some hours on one machine, and 2 GB of text.
const POSITIONS_MAX: u32 = 10_000_000;

/// Draw positions and label them with their exact value, the score of each column and the best columns.
///
/// The positions are of games on 7x6, half of them at random and half of a bot that looks three plies ahead and errs in
/// a quarter of its moves. No two are alike, nor in the mirror. Equal seeds and settings give equal files, on every
/// machine and with any number of threads. With --sheet a data sheet says what is in the file and how it came about.
///
/// Fields: `moves` from the empty board; `ply`, the stones on it; `board`, 42 characters row by row from the bottom
/// left, 1 for a stone of the side to move, 2 for one of its opponent, 0 for none; `value`, 1, 0 or -1 for the side to
/// move; `score` as `fourfold solve` prints it; `best`, the columns that reach it; the `columns`' own scores, none for
/// a full one; the `class` of the position; `source`, random or played.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fourfold dataset --positions 10000 --out train.ndjson --sheet train.md
  fourfold dataset --positions 3000 --balance value --plies 12-30 --format csv > positions.csv
  fourfold dataset --positions 2000 --seed 2 --class begin-hard --exclude train.ndjson --out test.ndjson")]
pub(in crate::app) struct DatasetCommand {
    /// How many positions.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=i64::from(POSITIONS_MAX)))]
    positions: u32,
    /// Which ones: equal seeds give equal positions.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Stones on the board, at least and at most. From 9 to 12 stones a position takes the solver the longest.
    #[arg(long, value_name = "A-B", default_value_t = PlyRange::DEFAULT)]
    plies: PlyRange,
    /// Only positions of these classes, separated by commas: begin-easy, begin-medium, begin-hard, middle-easy,
    /// middle-medium, end-easy.
    #[arg(long, value_name = "CLASS", value_delimiter = ',', value_parser = parse_class)]
    class: Vec<PositionClass>,
    /// As many positions of each value (won, drawn, lost), class or ply as of any other; without, as they come.
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Balance::None)]
    balance: Balance,
    /// Leave out positions of these files, also in the mirror: lines that begin with moves, or datasets in either
    /// format. May be given several times.
    #[arg(long, value_name = "FILE")]
    exclude: Vec<PathBuf>,
    /// One JSON object a line, or a table.
    #[arg(long, value_enum, default_value_t = LabelFormat::Ndjson)]
    format: LabelFormat,
    /// Write to this file, which must not be there, instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write a data sheet to this file, which must not be there, in Markdown.
    #[arg(long, value_name = "FILE", requires = "out")]
    sheet: Option<PathBuf>,
    /// Positions solved at the same time; by default as many as there are processors.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
}

fn parse_class(text: &str) -> Result<PositionClass, String> {
    let class = PositionClass::ALL.into_iter().find(|class| class.name() == text);
    class.ok_or_else(|| PositionClass::ALL.map(PositionClass::name).join(", "))
}

/// What came of it.
struct Drawn {
    counts: Counts,
    candidates: u64,
    took: Duration,
}

impl DatasetCommand {
    pub(in crate::app) fn run(&self) -> anyhow::Result<()> {
        self.check_classes()?;
        // Both, before the hours that the positions may take.
        new_file("--sheet", self.sheet.as_deref())?;
        new_file("--out", self.out.as_deref())?;
        let drawn = match &self.out {
            Some(path) => {
                let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
                self.draw(BufWriter::new(file))?
            }
            None => self.draw(BufWriter::new(io::stdout().lock()))?,
        };
        if let (Some(sheet), Some(data)) = (&self.sheet, &self.out) {
            let text = self.sheet_text(&drawn, data)?;
            std::fs::write(sheet, text).with_context(|| format!("cannot write {}", sheet.display()))?;
        }
        Ok(())
    }

    /// Classes whose numbers of stones are all out of the range would be waited for in vain.
    fn check_classes(&self) -> Result<(), Exit> {
        match self.class.iter().find(|class| !self.plies.reaches(**class)) {
            Some(class) => {
                Err(Exit::usage(format!("--class {class}: no position of it has {} stones", self.plies)))
            }
            None => Ok(()),
        }
    }

    fn draw(&self, mut out: impl Write) -> anyhow::Result<Drawn> {
        let interrupt = Interrupt::listen()?;
        let began = Instant::now();
        let mut draw = Draw::new(self.seed, self.plies, self.balance == Balance::Ply);
        for path in &self.exclude {
            draw.exclude(path)?;
        }
        let mut quotas = Quotas::new(self.balance, self.positions, self.plies, &self.class);
        let mut progress = ProgressLine::new(self.positions.into(), "positions");
        let mut counts = Counts::default();
        let mut judges: Vec<Judge> = (0..self.threads()).map(|_| Judge::new(Solver::new())).collect();
        out.write_all(self.format.heading().as_bytes())?;
        let mut candidates = 0;
        while !quotas.are_full() {
            if candidates >= CANDIDATES_MIN.max(CANDIDATES_EACH_MAX * u64::from(self.positions)) {
                out.flush()?;
                return Err(self.too_few(&counts, candidates, &quotas).into());
            }
            let batch: Vec<Candidate> =
                draw.by_ref().filter(|it| quotas.may_want(it)).take(self.batch(&counts)).collect();
            candidates = draw.tried();
            if batch.is_empty() {
                continue;
            }
            for label in Self::solve(&mut judges, &batch, &interrupt)? {
                if quotas.take(&label) {
                    out.write_all(self.format.line(&label).as_bytes())?;
                    counts.add(&label);
                    progress.advance(1);
                }
            }
            if interrupt.is_told() {
                out.flush()?;
                interrupt.check(|| format!("{} positions are written", counts.positions()))?;
            }
        }
        out.flush()?;
        Ok(Drawn { counts, candidates, took: began.elapsed() })
    }

    fn too_few(&self, counts: &Counts, candidates: u64, quotas: &Quotas) -> Exit {
        let message = format!(
            "of {candidates} candidates only {} were wanted; {} are missing of {}: widen --plies or --class, or ask for \
             fewer positions",
            counts.positions(),
            u64::from(self.positions).saturating_sub(counts.positions()),
            quotas.missing()
        );
        Exit::new(Code::Failure, message)
    }

    fn threads(&self) -> u16 {
        self.threads.unwrap_or_else(processors)
    }

    /// How many candidates to solve next: what is solved and not wanted was solved for nothing.
    fn batch(&self, counts: &Counts) -> usize {
        let missing = u64::from(self.positions).saturating_sub(counts.positions());
        usize::try_from(missing).map_or(BATCH, |missing| missing.clamp(1, BATCH))
    }

    /// Labels of all candidates, in their order; of fewer if it was told to stop. What the judges have found out stays
    /// with them: scores are exact, so it saves time and changes nothing.
    fn solve(judges: &mut [Judge], batch: &[Candidate], interrupt: &Interrupt) -> anyhow::Result<Vec<Label>> {
        let limits = SearchLimits { nodes: None, stop: interrupt.stop().flag() };
        let tasks: Vec<(usize, &Candidate)> = batch.iter().enumerate().collect();
        let mut labels: Vec<Option<Label>> = batch.iter().map(|_| None).collect();
        crew::share_with(
            judges,
            &tasks,
            |judge, (place, candidate)| -> anyhow::Result<_> {
                // Without a limit by nodes, only who is told to stop has no scores.
                let solved = judge.column_scores(candidate.game.position(), limits).ok();
                Ok(solved.map(|solved| (*place, Label::new(candidate, solved.value))))
            },
            |(place, label)| labels[place] = Some(label),
        )?;
        // Behind a gap nothing is kept: a file that ends early is the beginning of the whole one.
        Ok(labels.into_iter().map_while(|label| label).collect())
    }
}

/// A file of positions may have taken hours: none is written over.
fn new_file(option: &str, path: Option<&Path>) -> Result<(), Exit> {
    match path {
        Some(path) if path.is_file() => {
            let message = format!("{option}: {} is there already, name a new file", path.display());
            Err(Exit::usage(message))
        }
        Some(_) | None => Ok(()),
    }
}

fn processors() -> u16 {
    std::thread::available_parallelism().ok().and_then(|cores| u16::try_from(cores.get()).ok()).unwrap_or(1)
}

impl ValueEnum for LabelFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Ndjson, Self::Csv]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.word()))
    }
}
