//! `fourfold bench arena`: what the arena itself costs, beside the bots.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use fourfold_arena::course::Course;
use fourfold_arena::entrant::Entrant;
use fourfold_arena::format::Format;
use fourfold_arena::house::HouseEntrant;
use fourfold_arena::plan::Plan;
use fourfold_arena::report::{MatchReport, RatingTable, ReportEntry};
use fourfold_arena::runner::{self, Observer, Run};
use fourfold_arena::stats::elo::expected_score;
use fourfold_arena::stats::fit::{FitMeeting, LOSS, WIN};
use fourfold_arena::stop::Stop;
use fourfold_arena::suite::{Orientation, Suite};
use fourfold_arena::time::BotLimits;
use fourfold_arena::watchdog::Watchdog;
use fourfold_bots::Recipe;
use fourfold_engine::{Variant, rng};
use rand::RngExt;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use super::output;

/// The field of the rating bench.
const BOTS: u32 = 100;
const RATED_GAMES: u32 = 100_000;

/// Fits of which the median is shown: one alone may meet a busy moment.
const FITS: usize = 9;

/// Matches in this process through everything that matches do, and the joint rating of a large field.
///
/// Random bots play through rules, clock, record, log and statistics, one game at a time. The seconds are those of the
/// processor, so that other programs do not count.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench arena --games 200000 --json")]
pub(super) struct ArenaBench {
    /// How many games, an even number.
    #[arg(long, value_name = "N", default_value = "100000", value_parser = crate::app::laboratory::contest::parse_games)]
    games: u64,
    /// Equal seeds give equal counts and checksums on every machine.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Where the log of the match is written; it is deleted afterwards. By default the directory for temporary files.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What `--json` shows.
#[derive(Serialize)]
struct ArenaFigures {
    games: u64,
    seed: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    pentanomial: [u64; 5],
    distinct: u64,
    log_bytes: u64,
    cpu_seconds: f64,
    games_per_cpu_second: f64,
    rated_bots: u32,
    rated_games: u32,
    /// Of the strongest bot of the rated field: moves only if the fit does.
    rated_best: f64,
    rating_ms: f64,
}

impl ArenaBench {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let directory = self.directory.clone().unwrap_or_else(std::env::temp_dir);
        let log = directory.join(format!("fourfold-bench-{}.ndjson", std::process::id()));
        let before = cpu_time();
        let played = self.play(&log);
        let cpu_seconds = cpu_time().saturating_sub(before).as_secs_f64();
        let log_bytes = std::fs::metadata(&log).map_or(0, |file| file.len());
        std::fs::remove_file(&log).with_context(|| format!("cannot delete {}", log.display()))?;
        let report = MatchReport::new(&played?);
        let (rated_best, rating_ms) = rate();
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
        let figures = ArenaFigures {
            games: report.games,
            seed: self.seed,
            wins: report.wins,
            draws: report.draws,
            losses: report.losses,
            pentanomial: report.pentanomial,
            distinct: report.distinct,
            log_bytes,
            cpu_seconds,
            games_per_cpu_second: report.games as f64 / cpu_seconds,
            rated_bots: BOTS,
            rated_games: RATED_GAMES,
            rated_best,
            rating_ms,
        };
        if self.json { output::print_json(&figures) } else { Ok(print(&figures)?) }
    }

    fn play(&self, log: &Path) -> anyhow::Result<Course> {
        let suite = Suite::balanced(Variant::STANDARD).context("the standard board has openings")?;
        let watchdog = Watchdog::start()?;
        let names = ["random".to_owned(), "random #2".to_owned()];
        let recipe = Recipe::new("random".parse()?, Variant::STANDARD, None)?;
        let entrant = |name: &String| -> Box<dyn Entrant> {
            Box::new(HouseEntrant::new(name.clone(), recipe.clone(), &watchdog))
        };
        let entrants: Vec<Box<dyn Entrant>> = names.iter().map(entrant).collect();
        let plan = Plan {
            format: Format::Match,
            entrants: names.to_vec(),
            variant: Variant::STANDARD.to_string(),
            openings: suite.kind(),
            openings_crc: suite.checksum(),
            orientation: Orientation::Drawn,
            time: BotLimits::default(),
            margin_ms: 0,
            pairs: self.games / 2,
            seed: self.seed,
            faults_max: 0,
            sprt: None,
            shard: None,
        };
        let log = Some(runner::begin_log(log, &plan, None)?);
        let run = Run {
            course: Course::new(plan),
            entrants: &entrants,
            suite: &suite,
            log,
            ahead: Vec::new(),
            concurrency: NonZeroUsize::MIN,
            watchdog: &watchdog,
        };
        Ok(runner::run(run, &Stop::default(), &mut Nobody)?)
    }
}

/// Watches nothing.
struct Nobody;

impl Observer for Nobody {}

/// Processor time of the whole process so far.
pub(super) fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

/// Rates a made-up field; gives the best rating and the median time in milliseconds.
fn rate() -> (f64, f64) {
    let entries: Vec<ReportEntry> =
        (0..BOTS).map(|bot| ReportEntry { name: bot.to_string(), ..ReportEntry::default() }).collect();
    let meetings = field();
    let mut times = Vec::new();
    let mut best = 0.0;
    for _ in 0..FITS {
        let began = Instant::now();
        let table = RatingTable::rate(&entries, &meetings, &[]);
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        best = table.players.first().map_or(0.0, |player| player.elo);
    }
    times.sort_by(f64::total_cmp);
    (best, times[FITS / 2])
}

/// Everybody's results against everybody in pairs of games, strengths ten points apart.
fn field() -> Vec<FitMeeting> {
    let mut rng = rng::seeded(1);
    let pairings = BOTS * (BOTS - 1) / 2;
    let mut meetings = Vec::new();
    for a in 0..BOTS {
        for b in a + 1..BOTS {
            let mut meeting = FitMeeting { a: a as usize, b: b as usize, ..FitMeeting::default() };
            let apart = 10.0 * (f64::from(b) - f64::from(a));
            for _ in 0..=RATED_GAMES / 2 / pairings {
                let mut ending = |advantage: f64| {
                    if rng.random_bool(expected_score(advantage - apart)) { WIN } else { LOSS }
                };
                meeting.pairs[ending(50.0)][ending(-50.0)] += 1;
            }
            meetings.push(meeting);
        }
    }
    meetings
}

fn print(figures: &ArenaFigures) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:.0} games per CPU second", figures.games_per_cpu_second)?;
    writeln!(
        out,
        "{} games in {:.2} s of the processor, a log of {} bytes: {} won, {} drawn, {} lost, pairs {:?}, {} distinct",
        figures.games,
        figures.cpu_seconds,
        figures.log_bytes,
        figures.wins,
        figures.draws,
        figures.losses,
        figures.pentanomial,
        figures.distinct
    )?;
    writeln!(
        out,
        "{:.1} ms to rate {} bots by {} games; the best has {:+.1}",
        figures.rating_ms, figures.rated_bots, figures.rated_games, figures.rated_best
    )
}
