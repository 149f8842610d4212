#![allow(dead_code, clippy::all, clippy::pedantic)]
use fourfold_bots::{registry, Bot, MoveBudget};
use fourfold_engine::search::{winning_cells, Tactics};
use fourfold_engine::*;
use rand::RngExt;
use std::sync::atomic::AtomicBool;

pub fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = s.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}
pub struct Solver { tt: Vec<(u64, i8, i8)> }
impl Solver {
    pub fn new(bits: u32) -> Self { Self { tt: vec![(u64::MAX, 0, 0); 1 << bits] } }
    // value vs alpha: result > alpha? returns bound as score (full score scale)
    pub fn search(&mut self, p: &Position, mut alpha: i32, mut beta: i32) -> i32 {
        let v = Variant::STANDARD;
        if p.is_full() { return 0; }
        let n = p.ply() as i32;
        let cells = match Tactics::of(p) {
            Tactics::Win(_) => return 22 - (n + 2) / 2,
            Tactics::Lost(_) => return -(22 - (n + 3) / 2),
            Tactics::Safe(c) => c,
        };
        if n >= 40 { return 0; }
        let max = 22 - (n + 4) / 2; if beta > max { beta = max; if alpha >= beta { return beta; } }
        let min = -(22 - (n + 5) / 2); if alpha < min { alpha = min; if alpha >= beta { return alpha; } }
        let key = p.canonical_key();
        let i = (key.wrapping_mul(0x9E3779B97F4A7C15) >> (64 - self.tt.len().trailing_zeros())) as usize;
        let e = self.tt[i];
        if e.0 == key {
            if e.1 as i32 > alpha { alpha = e.1 as i32; if alpha >= beta { return alpha; } }
            if (e.2 as i32) < beta { beta = e.2 as i32; if alpha >= beta { return beta; } }
        }
        let mut moves: [(i32, u8); 7] = [(0, 0); 7]; let mut m = 0;
        for (k, c) in [3u8, 2, 4, 1, 5, 0, 6].iter().enumerate() {
            let col = Column::from_index(*c as usize).unwrap();
            let s = cells & Bitboard::column(col, v);
            if s.is_empty() { continue; }
            let t = winning_cells(p.mine() | s, p.mask() | s, v).count() as i32;
            moves[m] = (t * 8 - k as i32, *c); m += 1;
        }
        moves[..m].sort_by(|a, b| b.cmp(a));
        let a0 = alpha; let mut best = -100;
        for k in 0..m {
            let c = Column::from_index(moves[k].1 as usize).unwrap();
            let x = -self.search(&p.play_unchecked(c), -beta, -alpha);
            if x > best { best = x; }
            if x > alpha { alpha = x; }
            if alpha >= beta { break; }
        }
        let (mut lo, mut hi) = if self.tt[i].0 == key { (self.tt[i].1, self.tt[i].2) } else { (-100, 100) };
        if best > a0 { lo = lo.max(best as i8); }
        if best < beta { hi = hi.min(best as i8); }
        self.tt[i] = (key, lo, hi);
        best
    }
    pub fn sign(&mut self, p: &Position) -> i32 {
        if p.has_line_of_last_mover() { return -1; }
        self.search(p, -1, 1).signum()
    }
    pub fn score(&mut self, p: &Position) -> i32 {
        if p.has_line_of_last_mover() { return -(22 - (p.ply() as i32 + 1) / 2); }
        let (mut lo, mut hi) = (-21i32, 21i32);
        while lo < hi {
            let mut m = (lo + hi).div_euclid(2);
            if m <= 0 && lo / 2 < m { m = lo / 2 } else if m >= 0 && hi / 2 > m { m = hi / 2 }
            let r = self.search(p, m, m + 1);
            if r <= m { hi = r } else { lo = r }
        }
        lo
    }
}
/// Positions as the reference: half random, half noisy depth 3; ply 10 to 27; no immediate win.
pub fn draw(n: usize, seed: u64) -> Vec<String> {
    let mut rng = rng::seeded(seed);
    let mut d3 = registry::build(&"negamax:depth=3".parse().unwrap(), Variant::STANDARD).unwrap();
    let mut out = std::collections::BTreeMap::new();
    while out.len() < n {
        let target = rng.random_range(10..=27u32);
        let noisy = out.len() % 2 == 1;
        let mut g = Game::new(Variant::STANDARD);
        while g.ply() < target && g.outcome().is_none() {
            let legal: Vec<Column> = g.position().legal_columns().collect();
            let c = if noisy && rng.random::<f32>() > 0.25 {
                d3.choose(g.position(), MoveBudget::default(), &AtomicBool::new(false)).unwrap().column
            } else { legal[rng.random_range(0..legal.len())] };
            g.play(c).unwrap();
        }
        let p = g.position();
        if g.outcome().is_some() || p.winning_columns().next().is_some() { continue; }
        out.insert(p.canonical_key(), g.notation());
    }
    out.into_values().collect()
}
pub struct Set { pub rows: Vec<(Position, [i8; 7])> }
impl Set {
    pub fn load(path: &str, n: usize, seed: u64) -> Self {
        if !std::path::Path::new(path).exists() {
            let mut s = Solver::new(24);
            let mut text = String::new();
            for m in draw(n, seed) {
                let g = Game::from_moves(Variant::STANDARD, &m).unwrap();
                let mut line = m.clone();
                for c in 0..7 {
                    let col = Column::from_index(c).unwrap();
                    line += &if g.position().is_legal(col) { format!(",{}", -s.sign(&g.position().play_unchecked(col))) } else { ",9".into() };
                }
                text += &(line + "\n");
            }
            std::fs::write(path, text).unwrap();
        }
        let rows = std::fs::read_to_string(path).unwrap().lines().map(|l| {
            let mut f = l.split(',');
            let g = Game::from_moves(Variant::STANDARD, f.next().unwrap()).unwrap();
            let mut v = [9i8; 7];
            for x in &mut v { *x = f.next().unwrap().parse().unwrap(); }
            (*g.position(), v)
        }).collect();
        Self { rows }
    }
    /// (good, decision, decision positions, cpu us a move)
    pub fn judge(&self, bot: &mut dyn Bot) -> (f64, f64, usize, f64) {
        let (mut good, mut dec, mut dn) = (0, 0, 0);
        let t = cpu();
        for (p, v) in &self.rows {
            let best = v.iter().filter(|x| **x != 9).max().unwrap();
            let is_dec = v.iter().any(|x| x < best);
            let c = bot.choose(p, MoveBudget::default(), &AtomicBool::new(false)).unwrap().column;
            let ok = v[c.index()] == *best;
            good += ok as usize; dn += is_dec as usize; dec += (ok && is_dec) as usize;
        }
        (100. * good as f64 / self.rows.len() as f64, 100. * dec as f64 / dn as f64, dn, (cpu() - t) * 1e6 / self.rows.len() as f64)
    }
}
pub struct Perfect { solver: fourfold_engine::solver::Solver, cache: std::collections::HashMap<u64, Vec<usize>>, path: String, new: usize }
impl Perfect {
    pub fn new(path: &str) -> Self {
        let mut cache = std::collections::HashMap::new();
        for l in std::fs::read_to_string(path).unwrap_or_default().lines() {
            let mut f = l.split(' ');
            let k: u64 = f.next().unwrap().parse().unwrap();
            cache.insert(k, f.map(|x| x.parse().unwrap()).collect());
        }
        Self { solver: fourfold_engine::solver::Solver::with_table(fourfold_engine::solver::TableSize::from_mib(256)), cache, path: path.into(), new: 0 }
    }
    pub fn best(&mut self, p: &Position) -> Vec<usize> {
        if let Some(b) = self.cache.get(&p.key()) { return b.clone(); }
        let never = AtomicBool::new(false);
        let t = cpu();
        let s = self.solver.column_scores(p, fourfold_engine::search::Limits { nodes: None, stop: &never }).unwrap().value;
        if cpu() - t > 2. { eprintln!("ply {} took {:.1}", p.ply(), cpu() - t); }
        let b: Vec<usize> = s.best_columns().map(|c| c.index()).collect();
        self.cache.insert(p.key(), b.clone()); self.new += 1;
        b
    }
    pub fn save(&mut self) {
        if self.new == 0 { return; }
        // keep early ones only: they cost
        let t: String = self.cache.iter().map(|(k, b)| format!("{k}{}\n", b.iter().map(|x| format!(" {x}")).collect::<String>())).collect();
        std::fs::write(&self.path, t).unwrap(); self.new = 0;
    }
    /// points moving first, in percent, over random ties; also us per bot move
    pub fn match_first(&mut self, bot: &mut dyn Bot, games: usize, seed: u64) -> (f64, f64) {
        let mut rng = rng::seeded(seed);
        let mut known: std::collections::HashMap<u64, Column> = Default::default();
        let (mut points, mut t, mut n) = (0., 0., 0);
        for _ in 0..games {
            let mut g = Game::new(Variant::STANDARD);
            while g.outcome().is_none() {
                let c = if g.ply() % 2 == 0 {
                    *known.entry(g.position().key()).or_insert_with(|| {
                        let c = cpu();
                        let m = bot.choose(g.position(), MoveBudget::default(), &AtomicBool::new(false)).unwrap().column;
                        t += cpu() - c; n += 1;
                        m
                    })
                } else {
                    let b = self.best(g.position());
                    Column::from_index(b[rng.random_range(0..b.len())]).unwrap()
                };
                g.play(c).unwrap();
            }
            points += match g.outcome().unwrap().winner() { Some(Side::First) => 1., None => 0.5, _ => 0. };
        }
        self.save();
        (100. * points / games as f64, t * 1e6 / n as f64)
    }
}
