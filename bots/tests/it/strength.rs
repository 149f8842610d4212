//! Who beats whom: wide margins over seeded games, so that only a broken bot fails.

use crate::support::match_of;

#[test]
fn filling_columns_beats_random_mostly() {
    let score = match_of("stupid", "random", 100).sum();
    assert!((130..=170).contains(&score.wins), "{score:?}"); // published: 76 %
}

#[test]
fn montecarlo_beats_random_nearly_always() {
    let score = match_of("montecarlo:playouts=200", "random", 50).sum();
    assert!(score.wins >= 95, "{score:?}");
}

#[test]
fn more_playouts_beat_fewer() {
    let score = match_of("montecarlo:playouts=2000", "montecarlo:playouts=50", 30).sum();
    assert!(score.wins >= 45, "{score:?}");
}

#[test]
fn four_plies_beat_greedy_and_random() {
    let score = match_of("negamax:depth=4", "greedy", 1).sum();
    assert_eq!(score.wins, 2, "{score:?}");
    let score = match_of("negamax:depth=4", "random", 50).sum();
    assert!(score.wins >= 98, "{score:?}");
}

#[test]
fn greedy_beats_random_mostly() {
    let score = match_of("greedy", "random", 50).sum();
    assert!(score.wins >= 75, "{score:?}");
}

#[test]
fn cutoff_beats_two_plies_mostly() {
    let score = match_of("cutoff", "negamax:depth=2", 1).sum();
    assert_eq!(score.losses, 0, "{score:?}");
    let score = match_of("cutoff", "random", 10).sum();
    assert_eq!(score.wins, 20, "{score:?}");
}

#[test]
fn the_69_lines_without_search_beat_one_ply_mostly() {
    let score = match_of("lines69", "random", 50).sum();
    assert!(score.wins >= 97, "{score:?}"); // published: 99.8 %
    let score = match_of("lines69", "negamax:depth=1", 50).sum();
    assert!(score.wins >= 70, "{score:?}");
}

#[test]
fn alphabeta_beats_the_classics() {
    for opponent in ["negamax:depth=4", "cutoff"] {
        let score = match_of("alphabeta", opponent, 1).sum();
        assert_eq!(score.losses, 0, "{opponent}: {score:?}");
    }
}

#[test]
fn c4ai_beats_three_plies() {
    let score = match_of("c4ai", "negamax:depth=3", 1).sum();
    assert_eq!(score.wins, 2, "{score:?}");
}
