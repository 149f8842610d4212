use fourfold_engine::rng;
use rand::RngExt;

use super::super::elo::expected_score;
use super::*;

fn single(a: usize, b: usize, losses: u64, draws: u64, wins: u64) -> FitMeeting {
    // As many games begun by either, so that the advantage is nothing.
    let row = [losses, draws, wins];
    FitMeeting { a, b, singles: [row, row], ..FitMeeting::default() }
}

#[track_caller]
fn check(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

#[test]
fn two_players_can_be_worked_by_hand() {
    // 300 of 400 points: 190.85 points apart but for the prior, an error of c / sqrt(400 * 3/4 * 1/4).
    let fit = Fit::new(2, &[single(0, 1, 50, 0, 150)], &[Anchor { player: 1, elo: 0.0 }]);
    check(fit.elo[0], 190.85, 0.5);
    check(fit.elo[1], 0.0, 0.0);
    check(fit.error(0), 20.06, 0.1);
    check(fit.error(1), 0.0, 1e-6);
    check(fit.error_between(0, 1), fit.error(0), 1e-9);
    check(fit.first_move_advantage, 0.0, 1e-6);
    check(fit.los(0, 1), 1.0, 1e-6);
}

#[test]
fn the_first_moves_advantage_is_told_from_strength() {
    // Equal players; whoever begins scores 3/4.
    let meeting = FitMeeting { a: 0, b: 1, singles: [[100, 0, 300], [300, 0, 100]], ..FitMeeting::default() };
    let fit = Fit::new(2, &[meeting], &[]);
    check(fit.first_move_advantage, 190.85, 1.0);
    check(fit.elo[0], 0.0, 1e-6);
}

#[test]
fn points_won_are_points_expected() {
    // What Ordo solves for: everybody's expected points at the fitted ratings are those that were made.
    let meetings = [single(0, 1, 30, 10, 60), single(1, 2, 20, 40, 40), single(0, 2, 10, 20, 70)];
    let fit = Fit::new(3, &meetings, &[]);
    let points = [2.0 * (65.0 + 80.0), 2.0 * (35.0 + 60.0), 2.0 * (40.0 + 20.0)];
    for (player, points) in points.into_iter().enumerate() {
        let expected: f64 = (0..3)
            .filter(|&other| other != player)
            .map(|other| 200.0 * expected_score(fit.elo[player] - fit.elo[other]))
            .sum();
        check(expected, points, 0.2);
    }
    check(fit.elo.iter().sum(), 0.0, 1e-6);
}

#[test]
fn perfect_scores_are_finite_and_uncertain() {
    let fit = Fit::new(3, &[single(0, 1, 0, 0, 10)], &[Anchor { player: 1, elo: 1_000.0 }]);
    assert!(fit.elo[0] > 1_400.0 && fit.elo[0] < 2_500.0, "{:?}", fit.elo);
    assert!(fit.pm95(0) > 250.0 && fit.pm95(0) < 1_500.0, "{}", fit.pm95(0));
    assert!(fit.elo[2].is_finite() && fit.error(2).is_finite());
    assert!(fit.error(2) > 700.0, "who never played is known by the prior alone: {}", fit.error(2));
}

#[test]
fn several_anchors_keep_their_ratings() {
    let meetings = [single(0, 1, 40, 0, 60), single(1, 2, 40, 0, 60)];
    let anchors = [Anchor { player: 0, elo: 300.0 }, Anchor { player: 2, elo: 100.0 }];
    let fit = Fit::new(3, &meetings, &anchors);
    check(fit.elo[0], 300.0, 1e-9);
    check(fit.elo[2], 100.0, 1e-9);
    check(fit.elo[1], 200.0, 1.0);
    check(fit.error(0), 0.0, 1e-9);
    assert!(fit.error(1) > 10.0);
}

#[test]
fn a_field_warns_of_what_it_cannot_know() {
    let meetings = [single(0, 1, 0, 0, 3), single(2, 3, 1, 1, 1)];
    assert_eq!(
        warnings(5, &meetings),
        [
            Warning::Disconnected(vec![vec![0, 1], vec![2, 3], vec![4]]),
            Warning::OnlyWins(vec![0]),
            Warning::OnlyLosses(vec![1]),
        ]
    );
    assert_eq!(warnings(2, &[single(0, 1, 1, 0, 1)]), []);
}

/// A field of players with openings that favour one side or the other: both games of a pair feel it.
fn simulate(truth: &[f64], advantage: f64, openings: f64, pairs: u64, seed: u64) -> Vec<FitMeeting> {
    let mut rng = rng::seeded(seed);
    let mut meetings = Vec::new();
    for a in 0..truth.len() {
        for b in a + 1..truth.len() {
            let mut meeting = FitMeeting { a, b, ..FitMeeting::default() };
            for _ in 0..pairs {
                let favour = advantage + openings * (rng.random::<f64>() - 0.5);
                let mut ending = |expected: f64| if rng.random_bool(expected) { WIN } else { LOSS };
                let own = ending(expected_score(truth[a] - truth[b] + favour));
                let other = ending(expected_score(truth[a] - truth[b] - favour));
                meeting.pairs[own][other] += 1;
            }
            meetings.push(meeting);
        }
    }
    meetings
}

/// How many of the true differences lie in the intervals of 95 %. What is true is what endless games would give:
/// openings that decide much draw the ratings together.
fn coverage(openings: f64) -> f64 {
    let strengths = [-220.0, -90.0, 0.0, 60.0, 250.0];
    let truth = Fit::new(5, &simulate(&strengths, 40.0, openings, 200_000, 400), &[]).elo;
    let (mut inside, mut all) = (0, 0);
    for seed in 0..400 {
        let fit = Fit::new(5, &simulate(&strengths, 40.0, openings, 25, seed), &[]);
        for a in 0..5 {
            for b in a + 1..5 {
                let off = (fit.elo[a] - fit.elo[b]) - (truth[a] - truth[b]);
                inside += u32::from(off.abs() <= normal::Z95 * fit.error_between(a, b));
                all += 1;
            }
        }
    }
    f64::from(inside) / f64::from(all)
}

#[test]
fn intervals_hold_what_they_promise() {
    for openings in [0.0, 600.0] {
        let share = coverage(openings);
        assert!((0.93..=0.97).contains(&share), "openings worth {openings}: {share}");
    }
}

#[test]
fn ratings_find_the_truth_of_a_simulated_field() {
    let truth = [-300.0, -100.0, 0.0, 150.0, 250.0];
    let fit = Fit::new(5, &simulate(&truth, 60.0, 0.0, 2_000, 9), &[]);
    for (player, elo) in truth.iter().enumerate() {
        check(fit.elo[player], *elo, 4.0 * fit.error(player));
        assert!(fit.error(player) < 6.0);
    }
    check(fit.first_move_advantage, 60.0, 8.0);
}
