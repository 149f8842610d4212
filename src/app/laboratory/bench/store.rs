//! `fourfold bench store`: how many moves a second become durable, by how many share a commit.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use fourfold_engine::{BySide, Column, Game, Outcome, Variant, rng};
use rand::seq::IndexedRandom;
use serde::Serialize;

use super::arena::cpu_time;
use crate::app::terminal::storage_url::StorageUrl;
use crate::app::terminal::{output, runtime};
use crate::model::clock::TimeControl;
use crate::model::durability::Durability;
use crate::model::ids::{GameId, PlayerId};
use crate::model::player::PlayerKind;
use crate::model::portrait::Portrait;
use crate::model::result::{EndReason, GameResult};
use crate::model::time::UnixMillis;
use crate::model::world::chance;
use crate::storage::engine::Engine;
use crate::storage::record::{
    BotProfile, Ending, EventKind, GameSpec, OpeningSource, StoredEvent, StoredMove, StoredPlayer,
};
use crate::storage::store::{GameQuery, Store, Write};

/// Moves that share a commit: one alone, and what the writer gathers in quiet, busy and full moments.
const BATCHES: [usize; 4] = [1, 10, 100, 1_000];

/// How many moves a second become durable.
///
/// Each move is the next one of another game; games that are full end, and others begin. Without a URL a file of its
/// own is made and removed. A database of a server must be empty, and what was written stays in it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  fourfold bench store --seconds 5")]
pub(super) struct StoreBench {
    #[command(flatten)]
    storage_url: StorageUrl,
    /// Where a file is made. By default the directory for temporary files, which may be in memory.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Seconds for each size of a commit.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Commits of one size.
#[derive(Serialize)]
struct StoreFigures {
    /// Moves in each commit.
    batch: usize,
    commits: u64,
    moves_per_second: f64,
    /// Of this process on the processor, for a move, in microseconds. A server's is not in it.
    cpu_us_per_move: f64,
    /// How long a commit took, in milliseconds.
    p50_ms: f64,
    p99_ms: f64,
}

impl StoreBench {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let figures = runtime()?.block_on(self.measure())?;
        if self.json {
            return output::print_json(&figures);
        }
        let rows: Vec<[String; 6]> = figures
            .iter()
            .map(|row| {
                [
                    row.batch.to_string(),
                    row.commits.to_string(),
                    format!("{:.0}", row.moves_per_second),
                    format!("{:.1}", row.cpu_us_per_move),
                    format!("{:.2}", row.p50_ms),
                    format!("{:.2}", row.p99_ms),
                ]
            })
            .collect();
        let head = ["Moves a commit", "commits", "moves/s", "CPU us/move", "p50 ms", "p99 ms"];
        Ok(output::print_table(head, &rows)?)
    }

    async fn measure(&self) -> anyhow::Result<Vec<StoreFigures>> {
        let name = format!("fourfold-bench-{}", std::process::id());
        let directory = self.directory.clone().unwrap_or_else(std::env::temp_dir).join(name);
        let url = self.storage_url.get();
        if url.is_none() {
            std::fs::create_dir(&directory)
                .with_context(|| format!("cannot create {}", directory.display()))?;
        }
        let measured = self.measure_in(url, &directory.join("fourfold.db")).await;
        if url.is_none() {
            std::fs::remove_dir_all(&directory)?;
        }
        measured
    }

    async fn measure_in(&self, url: Option<&str>, file: &Path) -> anyhow::Result<Vec<StoreFigures>> {
        let engine = Engine::open(url, file, Durability::Strict).await?;
        let measured = self.measure_store(engine.store().as_ref()).await;
        engine.close().await?;
        measured
    }

    async fn measure_store(&self, store: &dyn Store) -> anyhow::Result<Vec<StoreFigures>> {
        let one = GameQuery { limit: 1, ..GameQuery::default() };
        let is_empty = store.finished_games(&one).await?.is_empty() && store.live_games().await?.is_empty();
        ensure!(is_empty, "there are games in the database: give an empty one");
        let players = add_players(store).await?;
        let mut games = Games::new(players);
        let mut figures = Vec::with_capacity(BATCHES.len());
        for batch in BATCHES {
            figures.push(self.measure_batch(store, &mut games, batch).await?);
        }
        Ok(figures)
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
    async fn measure_batch(
        &self,
        store: &dyn Store,
        games: &mut Games,
        batch: usize,
    ) -> anyhow::Result<StoreFigures> {
        games.seat(store, batch).await?;
        let (began, cpu) = (Instant::now(), cpu_time());
        let mut times = Vec::new();
        while began.elapsed() < Duration::from_secs(self.seconds) {
            let writes = games.next_moves(batch);
            let committed = Instant::now();
            for answer in store.commit(&writes).await? {
                answer?;
            }
            times.push(committed.elapsed().as_secs_f64() * 1_000.0);
        }
        let (seconds, cpu) = (began.elapsed().as_secs_f64(), cpu_time().saturating_sub(cpu).as_secs_f64());
        times.sort_by(f64::total_cmp);
        let moves = (times.len() * batch) as f64;
        let quantile = |hundredths: usize| times.get(times.len() * hundredths / 100).copied().unwrap_or(0.0);
        Ok(StoreFigures {
            batch,
            commits: times.len() as u64,
            moves_per_second: moves / seconds,
            cpu_us_per_move: cpu / moves * 1e6,
            p50_ms: quantile(50),
            p99_ms: quantile(99),
        })
    }
}

async fn add_players(store: &dyn Store) -> anyhow::Result<BySide<PlayerId>> {
    let ids = ["bench-first", "bench-second"].map(|name| (PlayerId::random(&mut chance()), name));
    for (id, name) in &ids {
        let player = StoredPlayer {
            id: id.clone(),
            name: name.parse()?,
            kind: PlayerKind::Human,
            house: false,
            owner: None,
            profile: BotProfile::default(),
            portrait: Portrait::default(),
            created_at: UnixMillis::now(),
            ban: None,
            mute: None,
            start: None,
        };
        let add = Write::AddPlayer { player, password: None };
        for answer in store.commit(&[add]).await? {
            answer?;
        }
    }
    let [(first, _), (second, _)] = ids;
    Ok(BySide { first, second })
}

/// Games that go on, each with the number of its stones; the one that has waited longest is next.
struct Games {
    players: BySide<PlayerId>,
    line: Vec<Column>,
    open: VecDeque<(GameId, usize)>,
}

impl Games {
    fn new(players: BySide<PlayerId>) -> Self {
        Self { players, line: drawn_game(), open: VecDeque::new() }
    }

    /// Begins games until there are so many.
    async fn seat(&mut self, store: &dyn Store, count: usize) -> anyhow::Result<()> {
        while self.open.len() < count {
            let begin = self.begin();
            for answer in store.commit(&[begin]).await? {
                answer?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Write {
        let id = GameId::random(&mut chance());
        self.open.push_back((id.clone(), 0));
        Write::StartGame(GameSpec {
            id,
            players: self.players.clone(),
            variant: Variant::STANDARD,
            time: TimeControl { bank_ms: Some(60_000), increment_ms: 500, move_ms: None },
            rated: false,
            unrated_because: None,
            footing: None,
            versions: BySide::default(),
            opening: OpeningSource::default(),
            pair: None,
            started_at: UnixMillis::now(),
        })
    }

    /// A move in each of so many games. A full board ends its game with the move, and another game begins.
    fn next_moves(&mut self, count: usize) -> Vec<Write> {
        let mut writes = Vec::with_capacity(count);
        for _ in 0..count {
            let Some((game, stones)) = self.open.pop_front() else { break };
            let Some(&column) = self.line.get(stones) else { break };
            let played = StoredMove { column, spent_ms: 1_234, credited_ms: 17, info: None };
            let mut events = vec![event(stones + 1, EventKind::Move(played))];
            if stones + 1 < self.line.len() {
                self.open.push_back((game.clone(), stones + 1));
                writes.push(Write::Append { game, events });
                continue;
            }
            let ending = Ending { result: GameResult::Draw, reason: EndReason::Full, by: None };
            events.push(event(stones + 2, EventKind::Finished(ending)));
            writes.push(Write::Finish { game, events });
            let begin = self.begin();
            writes.push(begin);
        }
        writes
    }
}

fn event(seq: usize, kind: EventKind) -> StoredEvent {
    let seq = u32::try_from(seq).unwrap_or(u32::MAX);
    let clock_ms = BySide { first: 58_766, second: 59_999 };
    StoredEvent { seq, kind, clock_ms, at: UnixMillis::now() }
}

/// A game that fills the board, found by playing at random.
fn drawn_game() -> Vec<Column> {
    let mut rng = rng::seeded(1);
    loop {
        let mut game = Game::new(Variant::STANDARD);
        loop {
            let legal: Vec<Column> = game.position().legal_columns().collect();
            let Some(&column) = legal.choose(&mut rng) else { break };
            match game.play(column) {
                Ok(None) => {}
                Ok(Some(Outcome::Draw)) => return game.moves().to_vec(),
                Ok(Some(_)) | Err(_) => break,
            }
        }
    }
}
