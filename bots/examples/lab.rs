#![allow(clippy::all, clippy::pedantic)]
mod labkit;
use fourfold_bots::ntuple::*;
use fourfold_bots::*;
use fourfold_engine::*;
use labkit::*;
use std::sync::Arc;
fn main() {
    let args: std::collections::HashMap<String, String> = std::env::args().skip(1).map(|a| { let (k, v) = a.split_once('=').unwrap(); (k.into(), v.into()) }).collect();
    let get = |k: &str, d: f64| args.get(k).map_or(d, |v| v.parse().unwrap());
    let t = cpu();
    let set = Set::load("/tmp/ntuple/sel.csv", 2500, 424242);
    eprintln!("set {} s", cpu() - t);
    if get("bots", 0.) > 0. {
        for d in [2, 4, 6, 8] {
            let mut b = registry::build(&format!("negamax:depth={d}").parse().unwrap(), Variant::STANDARD).unwrap();
            println!("d{d} {:?}", set.judge(&mut *b));
        }
    }
    let shape = Shape::draw(get("tuples", 70.) as usize, get("cells", 8.) as u32, get("seed", 1.) as u64);
    let net = Network::new(shape);
    println!("{:?} weights {}", args, net.weight_count());
    let method = Method { exploration: get("eps", 0.1) as f32, lambda: get("lambda", 0.7) as f32, tactics: get("tactics", 1.) > 0., logistic: get("logistic", 0.) > 0., bootstrap: get("bootstrap", 0.) > 0., restarts: get("restarts", 0.) as f32, ..Method::default() };
    let mut p = Player::new(&net, method, rng::seeded(get("seed", 1.) as u64));
    let n = get("games", 100000.) as u64;
    let (a0, a1) = (get("a0", 0.005), get("a1", 0.001));
    let ema = get("ema", 0.); let late = get("late", 1.); let tgt = get("target", 0.) > 0.;
    let avg = Network::new(net.shape().clone());
    let mut av: Vec<f32> = vec![0.; net.weight_count()];
    if tgt { p.target = Some(&avg); }
    let points = get("points", 4.) as u64;
    let six = get("six", 1.) > 0.;
    let mut train = 0.;
    for k in 0..points {
        let c = cpu();
        for g in k * n / points..(k + 1) * n / points { if g as f64 >= late * n as f64 { p.method.look_ahead = true; } if ema > 0. && g % 1000 == 0 { for (a, w) in av.iter_mut().zip(net.weights()) { *a += (w - *a) * ema as f32; } if tgt { avg.set_weights(av.iter().copied()); } } p.play((a0 * (a1 / a0 as f64).powf(g as f64 / n as f64)) as f32); }
        train += cpu() - c;
        avg.set_weights(av.iter().copied()); let w = Arc::new(Weights::round(if ema > 0. && get("play", 1.) > 0. { &avg } else { &net }));
        print!("{:8} games {:6.1} s ", (k + 1) * n / points, train);
        for (plies, tactics) in [(0, false), (0, true), (2, true), (4, true), (6, true)] {
            if plies == 6 && (!six || k + 1 < points) { continue; }
            let mut b = NTuple::new(w.clone(), plies, tactics);
            let (good, dec, _, us) = set.judge(&mut b);
            print!("| {}{} {:.1} ({:.1}) {:.0}us ", plies, if tactics { "t" } else { "" }, dec, good, us);
        }
        if k + 1 == points || get("perfectall", 0.) > 0. {
            if let Some(path) = args.get("save") { std::fs::write(path, w.to_bytes()).unwrap(); }
            if get("perfect", 0.) > 0. {
                let mut perfect = Perfect::new("/tmp/ntuple/perfect.txt");
                for plies in [0, 2, 4, 5, 6] {
                    let mut b = NTuple::new(w.clone(), plies, true);
                    let (score, us) = perfect.match_first(&mut b, 100, 5);
                    print!("| P{plies} {score:.0} {us:.0}us ");
                }
            }
        }
        println!();
    }
}
