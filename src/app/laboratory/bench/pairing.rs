//! `fourfold bench pairing`: what it costs to pair those who seek, when very many do.

use std::time::Instant;

use fourfold_engine::rng;
use serde::Serialize;

use super::solver::cpu_time;
use crate::app::terminal::output;
use crate::lobby::trial::{Crowd, PairingTrial};

/// Players who come in each second after the first, beside those who wait.
const ARRIVALS: u32 = 200;

/// What pairing costs, when very many seek.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench pairing --seekers 20000")]
pub(super) struct PairingBench {
    /// Players who come at once.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    seekers: u32,
    /// Seconds, of the arena's clock, after that.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=3_600))]
    seconds: u32,
    /// Equal seeds give equal players.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// What one crowd cost, in milliseconds of this thread on the processor.
#[derive(Serialize)]
struct CrowdFigures {
    crowd: &'static str,
    /// All of them come, and are paired as far as they fit.
    arrival: f64,
    /// Of the seconds after that, on average, with 200 more who come in each.
    second: f64,
    /// Of those, the worst.
    worst_second: f64,
    pairs: u32,
    waiting: usize,
}

impl PairingBench {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let figures: Vec<CrowdFigures> = Crowd::ALL.into_iter().map(|crowd| self.measure(crowd)).collect();
        if self.json {
            return output::print_json(&figures);
        }
        let ms = |time: f64| format!("{time:.2}");
        let rows: Vec<[String; 6]> = figures
            .iter()
            .map(|row| {
                let counts = [row.pairs.to_string(), row.waiting.to_string()];
                let [pairs, waiting] = counts;
                [row.crowd.to_owned(), ms(row.arrival), ms(row.second), ms(row.worst_second), pairs, waiting]
            })
            .collect();
        Ok(output::print_table(["Milliseconds", "arrival", "a second", "worst", "pairs", "waiting"], &rows)?)
    }

    fn measure(&self, crowd: Crowd) -> CrowdFigures {
        let (mut trial, mut rng) = (PairingTrial::new(Instant::now()), rng::seeded(self.seed));
        let arrival = timed(|| trial.come(crowd, self.seekers, &mut rng));
        let (mut sum, mut worst_second) = (0.0, 0.0_f64);
        for _ in 0..self.seconds {
            let second = timed(|| {
                trial.tick();
                trial.come(crowd, ARRIVALS, &mut rng);
            });
            sum += second;
            worst_second = worst_second.max(second);
        }
        CrowdFigures {
            crowd: crowd.word(),
            arrival,
            second: sum / f64::from(self.seconds),
            worst_second,
            pairs: trial.pairs,
            waiting: trial.waiting(),
        }
    }
}

/// Milliseconds of this thread on the processor.
fn timed(work: impl FnOnce()) -> f64 {
    let began = cpu_time();
    work();
    (cpu_time() - began) * 1e3
}
