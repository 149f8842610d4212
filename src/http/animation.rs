//! A whole game as a picture that moves, for messengers that play nothing else: a GIF, as its specification of 1989 has
//! it. Of each move only what has changed is stored.

use std::collections::HashMap;

use fourfold_engine::{Cell, Game, Side};

use super::raster::{
    Border, CORAL, CORAL_EDGE, Canvas, Colour, Frame, GOLD, GOLD_EDGE, HOLE, MARK, PAPER, PLATE, PLATE_EDGE,
    marks, place, plate,
};

/// Pixels of the longer side: as wide as a phone shows it, and small enough to be passed on.
const LONGEST: usize = 480;

/// How long each move stands, and the first position, in hundredths of a second.
const MOVE_TIME: u16 = 60;
/// How long the last position stands before the game begins again.
const END_TIME: u16 = 400;

/// Bits of a place in the palette.
const BITS: u8 = 6;
/// The place that means: as it was.
const UNCHANGED: u8 = (1 << BITS) - 1;

/// Neighbours on the board, whose edges are mixed.
const NEIGHBOURS: [(Colour, Colour); 13] = [
    (PAPER, PLATE_EDGE),
    (PLATE_EDGE, PLATE),
    (PLATE, HOLE),
    (HOLE, CORAL_EDGE),
    (CORAL_EDGE, CORAL),
    (HOLE, GOLD_EDGE),
    (GOLD_EDGE, GOLD),
    (MARK, HOLE),
    (MARK, PLATE),
    (MARK, CORAL),
    (MARK, CORAL_EDGE),
    (MARK, GOLD),
    (MARK, GOLD_EDGE),
];

/// All moves of a game, one after the other, for ever.
pub(super) fn gif(game: &Game) -> Vec<u8> {
    let frame = Frame::around(game.variant(), LONGEST);
    let mut canvas = plate(&frame, game.variant());
    let mut animation = Animation::begin(&canvas);
    let stones = stones_of(game);
    for (ply, stone) in stones.iter().enumerate() {
        if let Some(before) = ply.checked_sub(1).and_then(|before| stones.get(before)) {
            place(&mut canvas, &frame, *before, Border::Plain);
        }
        let is_end = ply + 1 == stones.len();
        place(&mut canvas, &frame, *stone, if is_end { Border::Plain } else { Border::Marked });
        if is_end {
            marks(&mut canvas, &frame, game);
        }
        animation.add(&canvas, if is_end { END_TIME } else { MOVE_TIME });
    }
    animation.end()
}

/// The stones in the order in which they fell.
fn stones_of(game: &Game) -> Vec<(Cell, Side)> {
    let mut heights = HashMap::new();
    let mut side = Side::Second;
    let stone = |column: &fourfold_engine::Column| {
        side = side.opponent();
        let height: &mut usize = heights.entry(*column).or_default();
        *height += 1;
        Some((Cell::new(*column, *height - 1)?, side))
    };
    game.moves().iter().filter_map(stone).collect()
}

/// A file that grows picture by picture.
struct Animation {
    file: Vec<u8>,
    palette: Palette,
    width: usize,
    /// The last picture, by places in the palette.
    shown: Vec<u8>,
}

/// A part of a picture, from a corner on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Area {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Animation {
    /// With the first picture.
    fn begin(canvas: &Canvas) -> Self {
        let mut palette = Palette::new();
        let shown = palette.places(canvas);
        let mut file = b"GIF89a".to_vec();
        file.extend(size(canvas.width));
        file.extend(size(canvas.height));
        // A palette for all pictures, of 2^BITS colours; no background of its own, square pixels.
        file.extend([0b1111_0000 | (BITS - 1), 0, 0]);
        file.extend(palette.colours.iter().flatten());
        file.resize(file.len() + 3 * ((1 << BITS) - palette.colours.len()), 0);
        file.extend(b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0"); // for ever
        let mut animation = Self { file, palette, width: canvas.width, shown: shown.clone() };
        let whole = Area { left: 0, top: 0, width: canvas.width, height: canvas.height };
        animation.push(whole, &shown, MOVE_TIME);
        animation
    }

    /// Adds what has changed since the last picture.
    fn add(&mut self, canvas: &Canvas, time: u16) {
        let places = self.palette.places(canvas);
        let area = changed(&self.shown, &places, self.width);
        let mut pixels = Vec::with_capacity(area.width * area.height);
        for y in area.top..area.top + area.height {
            let line = y * self.width + area.left..y * self.width + area.left + area.width;
            let pairs = self.shown[line.clone()].iter().zip(&places[line]);
            pixels.extend(pairs.map(|(before, now)| if before == now { UNCHANGED } else { *now }));
        }
        self.push(area, &pixels, time);
        self.shown = places;
    }

    fn push(&mut self, area: Area, pixels: &[u8], time: u16) {
        // It stays when the next one comes, and lets what is below it be seen where it is UNCHANGED.
        self.file.extend([0x21, 0xf9, 4, 0b0000_0101]);
        self.file.extend(time.to_le_bytes());
        self.file.extend([UNCHANGED, 0, 0x2c]);
        for length in [area.left, area.top, area.width, area.height] {
            self.file.extend(size(length));
        }
        self.file.extend([0, BITS]);
        for block in compressed(pixels).chunks(255) {
            self.file.push(u8::try_from(block.len()).unwrap_or(u8::MAX));
            self.file.extend(block);
        }
        self.file.push(0);
    }

    fn end(mut self) -> Vec<u8> {
        self.file.push(0x3b);
        self.file
    }
}

fn size(length: usize) -> [u8; 2] {
    u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes()
}

/// The smallest area outside of which nothing has changed; one pixel if nothing has.
fn changed(before: &[u8], now: &[u8], width: usize) -> Area {
    let places = || before.iter().zip(now).enumerate().filter(|(_, (a, b))| a != b).map(|(place, _)| place);
    let (left, right) = (places().map(|at| at % width).min(), places().map(|at| at % width).max());
    let (top, bottom) = (places().map(|at| at / width).min(), places().map(|at| at / width).max());
    match (left, right, top, bottom) {
        (Some(left), Some(right), Some(top), Some(bottom)) => {
            Area { left, top, width: right - left + 1, height: bottom - top + 1 }
        }
        _ => Area { left: 0, top: 0, width: 1, height: 1 },
    }
}

/// The colours of all pictures: those of the board, and three steps between neighbours.
struct Palette {
    colours: Vec<Colour>,
    /// Of the colours that were met: the nearest place.
    nearest: HashMap<Colour, u8>,
}

impl Palette {
    fn new() -> Self {
        let mut colours = vec![PAPER, PLATE_EDGE, PLATE, HOLE, CORAL, CORAL_EDGE, GOLD, GOLD_EDGE, MARK];
        for (one, other) in NEIGHBOURS {
            colours.extend([1, 2, 3].map(|quarters| mixed(one, other, quarters)));
        }
        Self { colours, nearest: HashMap::new() }
    }

    fn places(&mut self, canvas: &Canvas) -> Vec<u8> {
        let (colours, nearest) = (&self.colours, &mut self.nearest);
        // Most pixels have the colour of the one before.
        let mut last = None;
        let mut place_of = |pixel: &Colour| match last {
            Some((colour, place)) if colour == *pixel => place,
            _ => {
                let place = *nearest.entry(*pixel).or_insert_with(|| nearest_of(colours, *pixel));
                last = Some((*pixel, place));
                place
            }
        };
        canvas.pixels.as_chunks::<3>().0.iter().map(&mut place_of).collect()
    }
}

fn mixed(one: Colour, other: Colour, quarters: u16) -> Colour {
    let mix = |(a, b): (u8, u8)| {
        u8::try_from((u16::from(a) * (4 - quarters) + u16::from(b) * quarters) / 4).unwrap_or(u8::MAX)
    };
    [(one[0], other[0]), (one[1], other[1]), (one[2], other[2])].map(mix)
}

fn nearest_of(colours: &[Colour], pixel: Colour) -> u8 {
    let distance = |colour: &Colour| -> u32 {
        colour.iter().zip(pixel).map(|(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    let place = (0_u8..).zip(colours).min_by_key(|(_, colour)| distance(colour));
    place.map_or(0, |(place, _)| place)
}

/// The widest code of the format.
const WIDTH_MAX: u32 = 12;

/// Places of the palette as the format compresses them, by Lempel, Ziv and Welch: codes that grow with the table.
fn compressed(pixels: &[u8]) -> Vec<u8> {
    const CLEAR: u16 = 1 << BITS;
    const END: u16 = CLEAR + 1;
    let mut bits = BitWriter::default();
    // Of each code and the next place the code for both, 0 where there is none yet: no hash is computed for a pixel.
    let mut table = vec![0_u16; 1 << (WIDTH_MAX + u32::from(BITS))];
    let of = |prefix: u16, pixel: u8| usize::from(prefix) << BITS | usize::from(pixel);
    let (mut next, mut width) = (END + 1, u32::from(BITS) + 1);
    bits.push(CLEAR, width);
    let mut pixels = pixels.iter().copied();
    let Some(first) = pixels.next() else { return bits.end() };
    let mut prefix = u16::from(first);
    for pixel in pixels {
        let known = table[of(prefix, pixel)];
        if known != 0 {
            prefix = known;
            continue;
        }
        bits.push(prefix, width);
        if next < 1 << WIDTH_MAX {
            width += u32::from(next == 1 << width && width < WIDTH_MAX);
            table[of(prefix, pixel)] = next;
            next += 1;
        } else {
            bits.push(CLEAR, width);
            table.fill(0);
            (next, width) = (END + 1, u32::from(BITS) + 1);
        }
        prefix = pixel.into();
    }
    bits.push(prefix, width);
    width += u32::from(next == 1 << width && width < WIDTH_MAX);
    bits.push(END, width);
    bits.end()
}

/// Codes one after the other, the lowest bits first.
#[derive(Default)]
struct BitWriter {
    bytes: Vec<u8>,
    held: u32,
    count: u32,
}

impl BitWriter {
    fn push(&mut self, code: u16, width: u32) {
        self.held |= u32::from(code) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.held.to_le_bytes()[0]);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    fn end(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.held.to_le_bytes()[0]);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use fourfold_engine::rng;
    use rand::RngExt;

    use super::*;

    /// What is compressed, read as the specification says: an implementation of its own.
    fn read(bytes: &[u8]) -> Vec<u8> {
        let (clear, end) = (1_usize << BITS, (1 << BITS) + 1);
        let fresh = || (0..=end).map(|code| vec![u8::try_from(code % 256).unwrap()]).collect::<Vec<_>>();
        let (mut table, mut width, mut at) = (fresh(), usize::from(BITS) + 1, 0);
        let (mut pixels, mut last) = (Vec::new(), None::<Vec<u8>>);
        loop {
            let bit = |place: usize| usize::from(bytes[place / 8] >> (place % 8) & 1);
            let code = (0..width).map(|place| bit(at + place) << place).sum::<usize>();
            at += width;
            if code == clear {
                (table, width, last) = (fresh(), usize::from(BITS) + 1, None);
                continue;
            }
            if code == end {
                return pixels;
            }
            if let Some(mut grown) = last.take() {
                let first = table.get(code).map_or(grown[0], |known| known[0]);
                grown.push(first);
                if table.len() < 4_096 {
                    table.push(grown);
                }
            }
            width = if table.len() >= 1 << width && width < 12 { width + 1 } else { width };
            pixels.extend(&table[code]);
            last = Some(table[code].clone());
        }
    }

    #[test]
    fn what_is_compressed_reads_back() {
        let mut rng = rng::seeded(5);
        for length in [1, 2, 100, 20_000, 200_000] {
            let noise: Vec<u8> = (0..length).map(|_| rng.random_range(0..=UNCHANGED)).collect();
            let calm: Vec<u8> = (0..length).map(|_| u8::from(rng.random_range(0..50) == 0)).collect();
            for pixels in [noise, calm, vec![7; length]] {
                assert!(read(&compressed(&pixels)) == pixels, "{length}");
            }
        }
    }

    #[test]
    fn a_long_game_is_small_enough_to_be_passed_on() {
        let longest = "656173566152215676422337377473141445425321";
        let game = Game::from_moves(fourfold_engine::Variant::STANDARD, longest).unwrap();
        let file = gif(&game);
        assert!(file.starts_with(b"GIF89a\xe0\x01") && file.ends_with(&[0x3b]));
        assert!(file.len() < 300_000, "{} bytes", file.len());
        let pictures = file.windows(4).filter(|part| *part == [0x21, 0xf9, 4, 5]).count();
        assert_eq!(pictures, 43, "the empty board, and each move");
    }

    #[test]
    fn only_what_has_changed_is_stored() {
        let (before, mut now) = (vec![0; 50], vec![0; 50]);
        assert_eq!(changed(&before, &now, 10), Area { left: 0, top: 0, width: 1, height: 1 });
        (now[12], now[38]) = (1, 1);
        assert_eq!(changed(&before, &now, 10), Area { left: 2, top: 1, width: 7, height: 3 });
    }

    #[test]
    fn every_colour_of_the_board_is_in_the_palette() {
        let mut palette = Palette::new();
        assert!(palette.colours.len() < usize::from(UNCHANGED), "there is a place for what is unchanged");
        for variant in ["7x6", "4x15", "12x4", "9x6x5"] {
            let game = Game::from_moves(variant.parse().unwrap(), "1").unwrap();
            let canvas = plate(&Frame::around(game.variant(), LONGEST), game.variant());
            assert!(canvas.width.max(canvas.height) <= LONGEST, "{variant}");
            palette.places(&canvas);
            assert_eq!(
                palette.nearest.get(&HOLE).map(|place| palette.colours[usize::from(*place)]),
                Some(HOLE)
            );
        }
    }
}
