//! Who beats whom: wide margins over seeded games, so that only a broken bot fails.

use crate::support::match_of;

#[test]
fn filling_columns_beats_random_mostly() {
    let record = match_of("stupid", "random", 100);
    assert!((130..=170).contains(&record.wins()), "{record:?}"); // published: 76 %
}

#[test]
fn montecarlo_beats_random_nearly_always() {
    let record = match_of("montecarlo:playouts=200", "random", 50);
    assert!(record.wins() >= 95, "{record:?}");
}

#[test]
fn more_playouts_beat_fewer() {
    let record = match_of("montecarlo:playouts=2000", "montecarlo:playouts=50", 30);
    assert!(record.wins() >= 45, "{record:?}");
}

#[test]
fn four_plies_beat_greedy_and_random() {
    let record = match_of("negamax:depth=4", "greedy", 1);
    assert_eq!(record.wins(), 2, "{record:?}");
    let record = match_of("negamax:depth=4", "random", 50);
    assert!(record.wins() >= 98, "{record:?}");
}

#[test]
fn greedy_beats_random_mostly() {
    let record = match_of("greedy", "random", 50);
    assert!(record.wins() >= 75, "{record:?}");
}

#[test]
fn cutoff_beats_two_plies_mostly() {
    let record = match_of("cutoff", "negamax:depth=2", 1);
    assert_eq!(record.losses, 0, "{record:?}");
    let record = match_of("cutoff", "random", 10);
    assert_eq!(record.wins(), 20, "{record:?}");
}

#[test]
fn the_69_lines_without_search_beat_one_ply_mostly() {
    let record = match_of("lines69", "random", 50);
    assert!(record.wins() >= 97, "{record:?}"); // published: 99.8 %
    let record = match_of("lines69", "negamax:depth=1", 50);
    assert!(record.wins() >= 70, "{record:?}");
}

#[test]
fn alphabeta_beats_the_classics() {
    for opponent in ["negamax:depth=4", "cutoff"] {
        let record = match_of("alphabeta", opponent, 1);
        assert_eq!(record.losses, 0, "{opponent}: {record:?}");
    }
}

#[test]
fn c4ai_beats_three_plies() {
    let record = match_of("c4ai", "negamax:depth=3", 1);
    assert_eq!(record.wins(), 2, "{record:?}");
}
