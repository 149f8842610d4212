//! Numbers of 7x6 positions by ply, as published (OEIS A212693) and as in our sources.

use std::collections::HashSet;

use fourfold_engine::openings::{self, Opening};
use fourfold_engine::{Bitboard, Position, Variant};

const VARIANT: Variant = Variant::STANDARD;

#[test]
fn distinct_positions_by_ply() {
    let mut positions = HashSet::from([Position::new(VARIANT)]);
    let mut counts = vec![1];
    for _ in 0..8 {
        let children = |position: &Position| {
            let position = *position;
            position.legal_columns().map(move |column| position.play_unchecked(column))
        };
        positions = positions.iter().flat_map(children).collect();
        counts.push(positions.len());
        let keys: HashSet<u64> = positions.iter().map(Position::key).collect();
        assert_eq!(keys.len(), positions.len(), "a key belongs to one position");
    }
    assert_eq!(counts, [1, 7, 49, 238, 1_120, 4_263, 16_422, 54_859, 184_275]);
}

/// Positions that nobody has won: all, one of each mirrored pair, of those the ones in which the side to move
/// cannot win at once, and of those the ones in which it has nothing to parry either.
#[track_caller]
fn check(ply: u32, expected: [usize; 4]) {
    let position = |opening: &Opening| *opening.game(VARIANT).unwrap().position();
    let reduced: Vec<Position> = openings::enumerate(VARIANT, ply).iter().map(position).collect();
    let all: HashSet<u64> =
        reduced.iter().flat_map(|position| [position.key(), position.mirror().key()]).collect();
    let calm: Vec<&Position> = reduced.iter().filter(|p| p.winning_columns().next().is_none()).collect();
    let quiet = calm.iter().filter(|position| !is_threatened(position)).count();
    assert_eq!([all.len(), reduced.len(), calm.len(), quiet], expected);
}

/// Whether the side that moved last could win at once if it were to move.
fn is_threatened(position: &Position) -> bool {
    let with = |cell| position.theirs() | Bitboard::cell(cell, VARIANT);
    position.playable().cells(VARIANT).any(|cell| with(cell).has_line(VARIANT))
}

#[test]
fn opening_suites_by_ply() {
    check(2, [49, 25, 25, 25]);
    check(4, [1_120, 568, 568, 568]);
    check(5, [4_263, 2_144, 2_144, 1_922]);
    check(6, [16_422, 8_231, 7_638, 7_120]);
    check(7, [54_131, 27_109, 25_718, 20_820]);
    check(8, [182_383, 91_295, 77_715, 67_557]);
}
