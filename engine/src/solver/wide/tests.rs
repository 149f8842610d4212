//! The bits of wide boards against plain counting, and their places in the table.

use std::collections::HashSet;

use rand::RngExt;

use super::*;
use crate::rng::{self, GameRng};
use crate::solver::geometry::Geometry;
use crate::solver::table::BoundsTable;

const VARIANTS: [&str; 12] =
    ["8x8", "9x7", "10x8", "11x8", "12x8", "12x8x8", "12x8x3", "8x12x6", "6x15", "6x15x8", "5x12x5", "7x6"];

/// A cell by column and row, both from 0.
type Place = [i32; 2];

/// The board as numbers.
#[derive(Clone, Copy)]
struct Grid {
    width: i32,
    height: i32,
    connect: i32,
}

impl Grid {
    fn of(variant: WideVariant) -> Self {
        let [width, height, connect] = [variant.width(), variant.height(), variant.connect()].map(i32::from);
        Self { width, height, connect }
    }

    fn places(self) -> impl Iterator<Item = Place> {
        (0..self.width).flat_map(move |column| (0..self.height).map(move |row| [column, row]))
    }

    fn has(self, [column, row]: Place) -> bool {
        (0..self.width).contains(&column) && (0..self.height).contains(&row)
    }

    /// All lines, each as its cells.
    fn lines(self) -> Vec<Vec<Place>> {
        let line = |[column, row]: Place, [right, up]: Place| {
            let cells = (0..self.connect).map(move |step| [column + right * step, row + up * step]);
            cells.collect::<Vec<_>>()
        };
        let steps = [[0, 1], [1, 0], [1, 1], [1, -1]];
        let all = self.places().flat_map(|place| steps.map(|step| line(place, step)));
        all.filter(|line| line.iter().all(|&place| self.has(place))).collect()
    }

    /// The bit of a cell: a column has its rows and a guard.
    fn bit(self, [column, row]: Place) -> u128 {
        1 << (column * (self.height + 1) + row)
    }

    fn bits(self, places: impl IntoIterator<Item = Place>) -> u128 {
        places.into_iter().fold(0, |bits, place| bits | self.bit(place))
    }
}

fn all_variants() -> impl Iterator<Item = WideVariant> {
    VARIANTS.into_iter().map(|text| text.parse().unwrap())
}

/// Stones as they lie after moves at random, whoever has a line.
fn random_stones(grid: Grid, rng: &mut GameRng) -> (u128, u128) {
    let heights: Vec<i32> = (0..grid.width).map(|_| rng.random_range(0..=grid.height)).collect();
    let mask = grid.places().filter(|&[column, row]| row < heights[usize::try_from(column).unwrap()]);
    let mask = grid.bits(mask);
    (mask & rng.random::<u128>(), mask)
}

#[test]
fn every_line_is_seen_and_nothing_else() {
    for variant in all_variants() {
        let (geometry, grid) = (variant.geometry(), Grid::of(variant));
        for line in grid.lines() {
            let bits = grid.bits(line.iter().copied());
            assert!(geometry.has_line(bits), "{variant} {line:?}");
            for &gap in &line {
                let rest = bits & !grid.bit(gap);
                assert!(!geometry.has_line(rest), "{variant} {line:?} without {gap:?}");
                assert!(
                    geometry.completing(rest) & grid.bit(gap) != 0 || is_topped(&line, gap),
                    "{line:?} {gap:?}"
                );
            }
        }
    }
}

/// Whether a cell lies below others of an upright line, which no stones do without it.
fn is_topped(line: &[Place], gap: Place) -> bool {
    line.iter().any(|&[column, row]| column == gap[0] && row > gap[1])
}

#[test]
fn random_stones_have_the_lines_that_counting_finds() {
    let mut rng = rng::seeded(71);
    for variant in all_variants() {
        let (geometry, grid) = (variant.geometry(), Grid::of(variant));
        let lines: Vec<u128> = grid.lines().into_iter().map(|line| grid.bits(line)).collect();
        assert_eq!(geometry.full(), grid.bits(grid.places()));
        for _ in 0..300 {
            let (mine, mask) = random_stones(grid, &mut rng);
            let empty = geometry.full() & !mask;
            assert_eq!(geometry.has_line(mine), lines.iter().any(|line| line & !mine == 0), "{mine:x}");
            let wins = lines.iter().map(|line| line & !mine).filter(|rest| rest.is_power_of_two());
            let wins = wins.fold(0, |all, cell| all | cell);
            assert_eq!(geometry.completing(mine) & empty, wins & empty, "{variant} {mine:x} {mask:x}");
            let is_landing = |&[column, row]: &Place| {
                grid.bit([column, row]) & empty != 0 && (row == 0 || grid.bit([column, row - 1]) & mask != 0)
            };
            assert_eq!(geometry.playable(mask), grid.bits(grid.places().filter(is_landing)));
            let mirrored = grid.places().filter(|&[c, row]| grid.bit([grid.width - 1 - c, row]) & mine != 0);
            assert_eq!(geometry.mirror(mine), grid.bits(mirrored));
            let above = |[column, row]: Place| (0..row).any(|below| grid.bit([column, below]) & mine != 0);
            assert_eq!(geometry.above(mine), grid.bits(grid.places().filter(|&place| above(place))));
            let even = grid.places().filter(|[_, row]| row % 2 == 1);
            assert_eq!(geometry.even_rows(), grid.bits(even), "{variant}: rows count from 1");
        }
        for place in grid.places() {
            let column = grid.places().filter(|other| other[0] == place[0]);
            assert_eq!(geometry.column_of(grid.bit(place)), grid.bits(column));
        }
    }
}

#[test]
fn no_two_positions_have_one_place() {
    let mut rng = rng::seeded(72);
    for variant in all_variants() {
        let (geometry, grid) = (variant.geometry(), Grid::of(variant));
        let table = BoundsTable::<u128>::new(TableSize::DEFAULT, geometry.key_bits());
        let place =
            |(mine, mask)| format!("{:?}", table.place(geometry.key(mine, mask), geometry.key_bits()));
        let (mut positions, mut places) = (HashSet::new(), HashSet::new());
        // The full board and the empty one, whoever has what, and others.
        let full = geometry.full();
        let extremes = [(0, 0), (0, full), (full, full), (geometry.even_rows(), full)];
        let all = extremes.into_iter().chain((0..3_000).map(|_| random_stones(grid, &mut rng)));
        for (mine, mask) in all {
            let image = (geometry.mirror(mine), geometry.mirror(mask));
            assert_eq!(place((mine, mask)), place(image), "{variant} {mine:x} {mask:x}");
            if positions.insert((mine, mask).min(image)) {
                assert!(places.insert(place((mine, mask))), "{variant} {mine:x} {mask:x}");
            }
        }
    }
}
