#![allow(clippy::all, clippy::pedantic)]
mod labkit;
use fourfold_bots::ntuple::*;
use fourfold_bots::training::Course;
use fourfold_bots::*;
use fourfold_engine::*;
use labkit::*;
use rand::RngExt;
use std::sync::Arc;
fn report(set: &Set, w: &Arc<Weights>, perfect: Option<&mut Perfect>, six: bool) {
    for (plies, tactics) in [(0, false), (0, true), (2, true), (4, true), (6, true)] {
        if plies == 6 && !six { continue; }
        let mut b = NTuple::new(w.clone(), Look { plies, tactics });
        let (good, dec, _, us) = set.judge(&mut b);
        print!("| {}{} {:.1} ({:.1}) {:.0}us ", plies, if tactics { "t" } else { "" }, dec, good, us);
    }
    if let Some(perfect) = perfect {
        for plies in [0, 2, 4, 6] {
            let mut b = NTuple::new(w.clone(), Look { plies, tactics: true });
            let (score, us) = perfect.match_first(&mut b, 100, 5);
            print!("| P{plies} {score:.0} {us:.0}us ");
        }
    }
    println!();
}
/// Games of mixed players with 0 to 30 % random moves.
fn pool(n: usize, seed: u64) -> Vec<Game> {
    let path = format!("/tmp/ntuple/pool-{n}-{seed}.txt");
    if !std::path::Path::new(&path).exists() {
        let mut rng = rng::seeded(seed);
        let mut bots: Vec<Box<dyn Bot>> = (1..=4).map(|d| registry::build(&format!("negamax:depth={d}").parse().unwrap(), Variant::STANDARD).unwrap()).collect();
        let mut text = String::new();
        for _ in 0..n {
            let mut g = Game::new(Variant::STANDARD);
            let who = [rng.random_range(0..4usize), rng.random_range(0..4usize)];
            let noise = [rng.random_range(0.0..0.3f32), rng.random_range(0.0..0.3f32)];
            while g.outcome().is_none() {
                let s = (g.ply() % 2) as usize;
                let legal: Vec<Column> = g.position().legal_columns().collect();
                let c = if rng.random::<f32>() < noise[s] { legal[rng.random_range(0..legal.len())] } else {
                    bots[who[s]].choose(g.position(), MoveBudget::default(), &Default::default()).unwrap().column };
                g.play(c).unwrap();
            }
            text += &(g.notation() + "\n");
        }
        std::fs::write(&path, text).unwrap();
    }
    std::fs::read_to_string(path).unwrap().lines().map(|l| Game::from_moves(Variant::STANDARD, l).unwrap()).collect()
}
fn versus(w: &Arc<Weights>, depth: u32, n: u32) -> f64 {
    let probe = training::probe::Probe { opponent: &format!("negamax:depth={depth}").parse().unwrap(), games: n, seed: 77 };
    let t = probe.play(|_| Box::new(NTuple::new(w.clone(), Look { plies: 0, tactics: true })) as Box<dyn Bot>).unwrap();
    100. * (t.wins as f64 + t.draws as f64 / 2.) / n as f64
}
fn main() {
    let args: std::collections::HashMap<String, String> = std::env::args().skip(1).map(|a| { let (k, v) = a.split_once('=').unwrap(); (k.into(), v.into()) }).collect();
    let get = |k: &str, d: f64| args.get(k).map_or(d, |v| v.parse().unwrap());
    let set = Set::load("/tmp/ntuple/sel.csv", 2500, 424242);
    let seed = get("seed", 1.) as u64;
    let mut perfect = Perfect::new("/tmp/ntuple/perfect.txt");
    if let Some(path) = args.get("load") {
        let w = Arc::new(Weights::from_bytes(&std::fs::read(path).unwrap()).unwrap());
        return report(&set, &w, Some(&mut perfect), true);
    }
    if get("records", 0.) > 0. {
        let games = pool(get("records", 0.) as usize, get("pool", 11.) as u64);
        let mut l = Learner::new(Shape::draw(get("tuples", 70.) as usize, get("cells", 8.) as u32, seed));
        let d = Lessons::DEFAULT;
        l.set_lessons(Lessons { step: get("step", d.step as f64) as f32, lambda: get("lambda", d.lambda as f64) as f32, margin: get("margin", d.margin as f64) as f32, depth: get("depth", d.depth as f64) as u32 });
        let t = cpu();
        for g in &games { l.study(g); }
        let t = cpu() - t;
        let w = l.weights();
        print!("{} records {:.1} s v d2 {:.0} d4 {:.0} ", games.len(), t, versus(&w, 2, 200), versus(&w, 4, 200));
        return report(&set, &w, None, false);
    }
    let n = get("games", 300000.) as u64;
    let plan = Plan { tuples: get("tuples", 100.) as usize, cells: get("cells", 8.) as u32, games: n, seed };
    let mut t = Trainer::begin(plan, std::num::NonZero::new(get("threads", 1.) as usize).unwrap(), Look::DEFAULT);
    let points = get("points", 1.) as u64;
    let mut train = 0.;
    for k in 0..points {
        let c = cpu();
        while t.games() < (k + 1) * n / points { t.step(); }
        train += cpu() - c;
        print!("{:8} games {:6.1} s ", t.games(), train);
        if let Some(path) = args.get("save") { std::fs::write(path, t.product()).unwrap(); }
        let last = k + 1 == points;
        report(&set, t.weights(), (last && get("perfect", 1.) > 0.).then_some(&mut perfect), last);
    }
    println!("{} bytes", t.product().len());
}
