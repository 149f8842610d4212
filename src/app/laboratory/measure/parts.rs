//! Parts of a measurement: what each bot did, as lines of JSON, from which the figures are computed when all parts are
//! there. So they are those of a measurement in one go, to the last digit.

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use fourfold_arena::measure::classes::PositionClass;
use fourfold_arena::measure::ladder;
use fourfold_arena::measure::traps::TrapGame;
use fourfold_arena::record::SideWord;
use fourfold_arena::shard::{self, PartsError, Shard};
use fourfold_arena::stats::pairs::PairCounts;
use fourfold_engine::review::{Decisions, Verdict};
use fourfold_engine::search::Score;
use fourfold_engine::{Column, Side, SideResult};
use serde::{Deserialize, Serialize};

use super::figures::{BotFigures, FigureSums, MeasureReport};
use super::seat::{ChoiceEffect, TaskResult};
use crate::app::terminal::exit::{Code, Exit};
use crate::app::terminal::input;

/// Changes when the meaning of a line does.
const SCHEMA: u32 = 2;

/// What a game counts by its result.
const POINTS: [(SideResult, f64); 3] =
    [(SideResult::Win, 1.0), (SideResult::Draw, 0.5), (SideResult::Loss, 0.0)];

/// What one bot did.
pub(super) struct MeasuredWork {
    pub(super) results: Vec<TaskResult>,
    /// Pairs against each opponent of the ladder, if it was played.
    pub(super) ladder: Option<LadderCounts>,
}

/// By opponent.
pub(super) type LadderCounts = [PairCounts; ladder::OPPONENTS.len()];

impl MeasuredWork {
    pub(super) fn figures(&self, bot: &str, seed: u64) -> BotFigures {
        let mut sums = FigureSums::default();
        for done in &self.results {
            sums.add(done);
        }
        let mut figures = BotFigures::new(bot, seed, &sums);
        if let Some(counts) = &self.ladder {
            let games = counts.iter().map(PairCounts::pairs).max().unwrap_or_default() * 2;
            figures.set_ladder(games, Some(counts.each_ref().map(PairCounts::mean)));
        }
        figures
    }
}

/// What is measured: the first line of each part. All but `shard` is the same in all parts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PartHead {
    pub(super) schema: u32,
    pub(super) version: String,
    pub(super) shard: Option<Shard>,
    pub(super) bots: Vec<String>,
    pub(super) seed: u64,
    pub(super) positions: u32,
    pub(super) classes: bool,
    pub(super) games: u32,
    pub(super) ladder_games: Option<u64>,
    pub(super) trap_games: Option<u64>,
    pub(super) move_ms: u64,
}

impl PartHead {
    pub(super) fn schema() -> u32 {
        SCHEMA
    }
}

/// A line of a part.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum PartLine {
    Measure(PartHead),
    /// A choice where the worth of all moves is known.
    Judged {
        bot: usize,
        ply: u32,
        column: u8,
        /// The score of the best columns, and of what was played.
        before: i32,
        after: i32,
        best: Vec<u8>,
        is_decision: bool,
    },
    /// A choice in a position of a class.
    Classified {
        bot: usize,
        class: String,
        is_mistake: bool,
    },
    /// A game against the perfect player.
    Played {
        bot: usize,
        side: SideWord,
        points: f64,
    },
    /// A game against an opponent that errs, and what that one had to decide.
    Trapped {
        bot: usize,
        opponent: usize,
        points: f64,
        stones: u32,
        faced: u64,
        failed: u64,
    },
    /// Pairs against the opponents of the ladder, by half points.
    Ladder {
        bot: usize,
        pentanomial: [[u64; 5]; ladder::OPPONENTS.len()],
    },
    /// The last line: nothing is missing.
    End {
        lines: u64,
    },
}

/// Writes a part.
pub(super) fn write(head: PartHead, works: &[MeasuredWork], out: &mut impl Write) -> io::Result<()> {
    let mut lines = 0;
    let mut line = |line: &PartLine| {
        lines += 1;
        writeln!(out, "{}", serde_json::to_string(line).expect("all keys of a line are text"))
    };
    line(&PartLine::Measure(head))?;
    for (bot, MeasuredWork { results, ladder }) in works.iter().enumerate() {
        for done in results {
            line(&line_of(bot, done))?;
        }
        if let Some(counts) = ladder {
            line(&PartLine::Ladder { bot, pentanomial: counts.map(|pairs| pairs.counts) })?;
        }
    }
    writeln!(out, "{}", serde_json::to_string(&PartLine::End { lines }).expect("all keys are text"))?;
    out.flush()
}

fn line_of(bot: usize, done: &TaskResult) -> PartLine {
    match done {
        TaskResult::Judged(verdict) => PartLine::Judged {
            bot,
            ply: verdict.ply,
            column: verdict.column.number(),
            before: verdict.before.value(),
            after: verdict.after.value(),
            best: verdict.best.iter().map(|column| column.number()).collect(),
            is_decision: verdict.is_decision,
        },
        TaskResult::Classified(class, choice) => PartLine::Classified {
            bot,
            class: class.to_string(),
            is_mistake: *choice == ChoiceEffect::Mistake,
        },
        TaskResult::Played { side, points } => {
            PartLine::Played { bot, side: SideWord::from(*side), points: *points }
        }
        TaskResult::Trapped { opponent, game: TrapGame { result, stones, faced } } => PartLine::Trapped {
            bot,
            opponent: *opponent,
            points: POINTS.into_iter().find(|(of, _)| of == result).map_or(0.0, |(_, points)| points),
            stones: *stones,
            faced: faced.faced,
            failed: faced.failed,
        },
    }
}

/// One part as it was read.
struct Part {
    head: PartHead,
    works: Vec<MeasuredWork>,
}

/// Reads all parts and computes the figures of the whole.
///
/// # Errors
///
/// A file cannot be read or a line makes no sense, or they are not all parts of one measurement.
pub(super) fn join(paths: &[PathBuf]) -> Result<MeasureReport, Exit> {
    let parts = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let data =
        |place: usize, why: String| Exit::new(Code::Data, format!("{}: {why}", paths[place].display()));
    let shards: Vec<Option<Shard>> = parts.iter().map(|part| part.head.shard).collect();
    shard::check_complete(&shards).map_err(|(place, problem): (Option<usize>, PartsError)| match place {
        Some(place) => data(place, problem.to_string()),
        None => Exit::new(Code::Data, problem.to_string()),
    })?;
    let whole = |head: &PartHead| PartHead { shard: None, ..head.clone() };
    let head = whole(&parts[0].head);
    if let Some(place) = parts.iter().position(|part| whole(&part.head) != head) {
        return Err(data(place, "it is part of another measurement".to_owned()));
    }
    let mut works: Vec<MeasuredWork> =
        head.bots.iter().map(|_| MeasuredWork { results: Vec::new(), ladder: None }).collect();
    for part in parts {
        for (work, more) in works.iter_mut().zip(part.works) {
            work.add(more);
        }
    }
    let figures = head.bots.iter().zip(&works).map(|(bot, work)| work.figures(bot, head.seed));
    Ok(MeasureReport::new(figures.collect()))
}

impl MeasuredWork {
    fn add(&mut self, more: Self) {
        self.results.extend(more.results);
        if let Some(counts) = more.ladder {
            let sums = self.ladder.get_or_insert_default();
            for (sum, more) in sums.iter_mut().zip(counts) {
                for (sum, more) in sum.counts.iter_mut().zip(more.counts) {
                    *sum = sum.saturating_add(more);
                }
            }
        }
    }
}

fn read(path: &Path) -> Result<Part, Exit> {
    let file = BufReader::new(input::open_file(path)?);
    let mut part: Option<Part> = None;
    let mut lines = 0;
    for (number, text) in (1_u64..).zip(file.lines()) {
        let text = text.map_err(|error| input::unreadable(path, &error))?;
        let wrong = |why: &str| Exit::new(Code::Data, format!("{}, line {number}: {why}", path.display()));
        let line: PartLine =
            serde_json::from_str(&text).map_err(|error| wrong(&format!("no line of a part: {error}")))?;
        match (line, &mut part) {
            (PartLine::Measure(head), None) if head.schema == SCHEMA => {
                let works = head.bots.iter().map(|_| MeasuredWork { results: Vec::new(), ladder: None });
                part = Some(Part { works: works.collect(), head });
            }
            (PartLine::Measure(_), _) => return Err(wrong("a second beginning, or that of another version")),
            (_, None) => return Err(wrong("the part does not begin with what is measured")),
            (PartLine::End { lines: said }, Some(_)) if said == lines => {
                return part.ok_or_else(|| wrong("nothing before the end"));
            }
            (PartLine::End { .. }, Some(_)) => return Err(wrong("lines are missing before the end")),
            (line, Some(part)) => part.add(line).ok_or_else(|| wrong("no such bot, column or class"))?,
        }
        lines = number;
    }
    Err(Exit::new(Code::Data, format!("{}: the end is missing", path.display())))
}

impl Part {
    /// Takes in what a bot did; `None` if it names what there is not.
    fn add(&mut self, line: PartLine) -> Option<()> {
        let (bot, done) = match line {
            PartLine::Judged { bot, ply, column, before, after, best, is_decision } => {
                let best = best.into_iter().map(Column::from_number).collect::<Option<Vec<_>>>()?;
                let (before, after) = (Score::new(before), Score::new(after));
                let (side, column) = (Side::to_move_at(ply), Column::from_number(column)?);
                (bot, TaskResult::Judged(Verdict { ply, side, column, before, after, best, is_decision }))
            }
            PartLine::Classified { bot, class, is_mistake } => {
                let class = PositionClass::ALL.into_iter().find(|known| known.name() == class)?;
                let choice = if is_mistake { ChoiceEffect::Mistake } else { ChoiceEffect::Good };
                (bot, TaskResult::Classified(class, choice))
            }
            PartLine::Played { bot, side, points } => {
                let side = match side {
                    SideWord::First => Side::First,
                    SideWord::Second => Side::Second,
                };
                (bot, TaskResult::Played { side, points })
            }
            PartLine::Trapped { bot, opponent, points, stones, faced, failed } => {
                let is_points = |(_, of): &(SideResult, f64)| (of - points).abs() < f64::EPSILON;
                let (result, _) = POINTS.into_iter().find(is_points)?;
                let is_known = opponent < ladder::OPPONENTS.len() && failed <= faced;
                let game = TrapGame { result, stones, faced: Decisions { faced, failed } };
                (bot, is_known.then_some(TaskResult::Trapped { opponent, game })?)
            }
            PartLine::Ladder { bot, pentanomial } => {
                let counts = pentanomial.map(|counts| PairCounts { counts, repeated: 0 });
                self.works.get_mut(bot)?.ladder = Some(counts);
                return Some(());
            }
            PartLine::Measure(_) | PartLine::End { .. } => return None,
        };
        self.works.get_mut(bot)?.results.push(done);
        Some(())
    }
}
