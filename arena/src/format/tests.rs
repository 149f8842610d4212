use super::*;
use crate::testing::plan;

/// Plays waves to the end; `score` gives the half points of `a`. Returns all pairs, and the waves' sizes.
fn run(plan: &Plan, score: impl Fn(usize, usize, u64) -> u8) -> (Vec<PairResult>, Vec<usize>) {
    let active = vec![true; plan.entrants.len()];
    let (mut pairs, mut waves) = (Vec::new(), Vec::new());
    for number in 0.. {
        let history =
            History { pairs: &pairs, waves: number, active: &active, missed: &vec![0; active.len()] };
        let wave = next_wave(plan, &history);
        if wave.is_empty() {
            break;
        }
        waves.push(wave.len());
        for Pairing { a, b, opening } in wave {
            pairs.push(PairResult { a, b, half_points: score(a, b, opening) });
        }
    }
    (pairs, waves)
}

/// Whoever entered earlier wins.
fn earlier(a: usize, b: usize, _: u64) -> u8 {
    if a < b { 4 } else { 0 }
}

fn meetings_of(pairs: &[PairResult], a: usize, b: usize) -> usize {
    pairs.iter().filter(|pair| (pair.a.min(pair.b), pair.a.max(pair.b)) == (a, b)).count()
}

#[test]
fn a_round_robin_is_fair() {
    let (pairs, waves) = run(&plan(Format::RoundRobin, 5, 3), earlier);
    assert_eq!(waves, [30]);
    for a in 0..5 {
        for b in a + 1..5 {
            assert_eq!(meetings_of(&pairs, a, b), 3);
        }
    }
}

#[test]
fn a_gauntlet_spares_the_others() {
    let (pairs, _) = run(&plan(Format::Gauntlet { seeds: 2 }, 5, 1), earlier);
    let met: Vec<(usize, usize)> = pairs.iter().map(|pair| (pair.a, pair.b)).collect();
    assert_eq!(met, [(0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4)]);
}

#[test]
fn swiss_rounds_pair_equals_and_never_twice() {
    let (pairs, waves) = run(&plan(Format::Swiss { rounds: 4 }, 7, 2), earlier);
    assert_eq!(waves, [6, 6, 6, 6], "three of seven entrants play three others, two pairs each");
    for a in 0..7 {
        for b in a + 1..7 {
            assert!([0, 2].contains(&meetings_of(&pairs, a, b)), "{a} {b}");
        }
        let rounds: usize = (0..7).filter(|&b| b != a).map(|b| meetings_of(&pairs, a.min(b), a.max(b))).sum();
        assert!([6, 8].contains(&rounds), "{a} rested more than once");
    }
    // Round 2: the three winners of round 1 and the one who rested are among themselves.
    let second: Vec<(usize, usize)> = pairs[6..9].iter().map(|pair| (pair.a, pair.b)).collect();
    assert_eq!(second[0], (0, 2));
}

#[test]
fn more_swiss_rounds_than_opponents_repeat_meetings() {
    let (pairs, _) = run(&plan(Format::Swiss { rounds: 5 }, 4, 1), earlier);
    assert_eq!(pairs.len(), 10);
}

#[test]
fn a_knockout_keeps_the_first_apart_until_the_end() {
    let plan = plan(Format::Knockout, 6, 2);
    let (pairs, waves) = run(&plan, earlier);
    assert_eq!(waves, [4, 4, 2], "two byes in the first round");
    let last = pairs.last().unwrap();
    assert_eq!((last.a, last.b), (0, 1));
    let history = History { pairs: &pairs, waves: 3, active: &[true; 6], missed: &[0; 6] };
    assert_eq!(stages(&plan, &history), [3, 2, 1, 1, 0, 0]);
}

#[test]
fn equal_meetings_are_decided_by_further_pairs() {
    let (pairs, waves) = run(&plan(Format::Knockout, 2, 1), |_, _, opening| if opening < 3 { 2 } else { 0 });
    assert_eq!((pairs.len(), waves.len()), (4, 4));
    let endless = run(&plan(Format::Knockout, 2, 1), |_, _, _| 2).0;
    assert_eq!(endless.len(), 17, "the one who entered earlier goes on in the end");
}

#[test]
fn who_is_out_of_a_knockout_lets_the_other_pass() {
    let plan = plan(Format::Knockout, 4, 1);
    let active = [false, true, true, true];
    let wave = next_wave(&plan, &History { pairs: &[], waves: 0, active: &active, missed: &[0; 4] });
    assert_eq!(wave, [Pairing { a: 1, b: 2, opening: 0 }]);
}

#[test]
fn the_ladder_asks_where_it_learns_most() {
    let plan = plan(Format::Ladder, 5, 200);
    let strength = [0, 0, 4, 4, 2];
    let score = |a: usize, b: usize, opening: u64| match strength[a] - strength[b] {
        0 => {
            if opening.is_multiple_of(2) {
                1
            } else {
                3
            }
        }
        difference if difference > 0 => 4,
        _ => 0,
    };
    let (pairs, _) = run(&plan, score);
    assert_eq!(pairs.len(), 200);
    let near = meetings_of(&pairs, 0, 1) + meetings_of(&pairs, 2, 3);
    let far = meetings_of(&pairs, 0, 2) + meetings_of(&pairs, 1, 3);
    assert!(near > 3 * far, "{near} {far}");
    for entrant in 0..5 {
        assert!(pairs[..4].iter().any(|pair| pair.half_points_of(entrant).is_some()), "new {entrant} waits");
    }
}
