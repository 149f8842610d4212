//! Positions as pictures in pixels, for those who show no SVG: a PNG, drawn pixel by pixel.
//!
//! Everything is a shape with a signed distance to its edge; a pixel that the edge crosses is mixed.

use std::io::Write as _;

use flate2::Crc;
use flate2::write::ZlibEncoder;
use fourfold_engine::{Cell, Column, Game, Outcome, Side, Variant};

use super::picture;

/// What the large services show a link with.
const WIDTH: usize = 1_200;
const HEIGHT: usize = 630;
/// Around the plate, in pixels.
const MARGIN: f32 = 36.0;
/// The same around a board that is a picture by itself.
const BORDER: f32 = 8.0;
/// Side of a cell in the units in which the pages draw: 100, with a hole of 41 and a disc of 38.
const UNIT: f32 = 100.0;
/// From the outer cells to the edge of the plate, in those units.
const RIM: f32 = 14.0;

/// Red, green and blue.
pub(super) type Colour = [u8; 3];
/// Of the pages in daylight, which `web/static/style.css` has, like the next one.
pub(super) const PAPER: Colour = [0xf6, 0xf3, 0xec];
pub(super) const PLATE_EDGE: Colour = [0x1a, 0x32, 0x96];
pub(super) const PLATE: Colour = picture::FRAME.0;
pub(super) const HOLE: Colour = picture::HOLE.0;
pub(super) const CORAL: Colour = picture::FIRST.0.0;
pub(super) const CORAL_EDGE: Colour = picture::FIRST.1.0;
pub(super) const GOLD: Colour = picture::SECOND.0.0;
pub(super) const GOLD_EDGE: Colour = picture::SECOND.1.0;
pub(super) const MARK: Colour = picture::MARK.0;

/// A picture, three bytes a pixel, line by line from the top.
pub(super) struct Canvas {
    pub(super) pixels: Vec<u8>,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// A point of the picture, in pixels from the upper left corner.
type Point = (f32, f32);

impl Canvas {
    fn new((width, height): (usize, usize), colour: Colour) -> Self {
        Self { pixels: colour.repeat(width * height), width, height }
    }

    /// Fills the shape whose edge is so far from a point (below 0 inside). It lies within `reach` of `centre`.
    fn fill(&mut self, centre: Point, reach: Point, colour: Colour, distance: impl Fn(Point) -> f32) {
        let span = |middle: f32, reach: f32, end: usize| {
            let first = (middle - reach - 1.0).max(0.0);
            let last = (middle + reach + 1.0).clamp(0.0, pixels(end));
            whole(first)..whole(last)
        };
        let across = span(centre.0, reach.0, self.width);
        for y in span(centre.1, reach.1, self.height) {
            let mut x = across.start;
            while x < across.end {
                // No distance changes faster than the point moves: so far there is no edge, and nothing to compute.
                let share = 0.5 - distance((pixels(x) + 0.5, pixels(y) + 0.5));
                let next = (x + 1 + whole((share - 1.0).max(-share).max(0.0))).min(across.end);
                let at = y * self.width;
                if share >= 1.0 {
                    self.pixels[3 * (at + x)..3 * (at + next)].as_chunks_mut::<3>().0.fill(colour);
                } else if share > 0.0 {
                    self.mix(3 * (at + x), colour, share);
                }
                x = next;
            }
        }
    }

    fn mix(&mut self, at: usize, colour: Colour, share: f32) {
        for (channel, new) in self.pixels[at..at + 3].iter_mut().zip(colour) {
            let mixed = f32::from(*channel) * (1.0 - share) + f32::from(new) * share;
            *channel = u8::try_from(whole(mixed + 0.5)).unwrap_or(u8::MAX);
        }
    }

    fn disc(&mut self, centre: Point, radius: f32, colour: Colour) {
        self.fill(centre, (radius, radius), colour, |point| length(minus(point, centre)) - radius);
    }

    fn ring(&mut self, centre: Point, radius: f32, width: f32, colour: Colour) {
        let outer = radius + width / 2.0;
        self.fill(centre, (outer, outer), colour, |point| {
            (length(minus(point, centre)) - radius).abs() - width / 2.0
        });
    }

    /// A star with four points, the inner corners at a quarter of the way.
    fn star(&mut self, centre: Point, radius: f32, colour: Colour) {
        let inner = radius * 0.26;
        let (across, along) = (radius - inner, inner);
        let norm = length((across, along));
        self.fill(centre, (radius, radius), colour, |point| {
            let (x, y) = minus(point, centre);
            let (near, far) = (x.abs().min(y.abs()), x.abs().max(y.abs()));
            (across * near + along * (far - radius)) / norm
        });
    }

    fn plate(&mut self, centre: Point, half: Point, corner: f32, colour: Colour) {
        self.fill(centre, half, colour, |point| {
            let (x, y) = minus(point, centre);
            let (x, y) = (x.abs() - half.0 + corner, y.abs() - half.1 + corner);
            length((x.max(0.0), y.max(0.0))) + x.max(y).min(0.0) - corner
        });
    }

    fn stroke(&mut self, from: Point, to: Point, width: f32, colour: Colour) {
        let way = minus(to, from);
        let square = (way.0 * way.0 + way.1 * way.1).max(f32::MIN_POSITIVE);
        let centre = (f32::midpoint(from.0, to.0), f32::midpoint(from.1, to.1));
        let reach = (way.0.abs() / 2.0 + width, way.1.abs() / 2.0 + width);
        self.fill(centre, reach, colour, |point| {
            let (x, y) = minus(point, from);
            let share = ((x * way.0 + y * way.1) / square).clamp(0.0, 1.0);
            length((x - share * way.0, y - share * way.1)) - width / 2.0
        });
    }
}

fn minus(a: Point, b: Point) -> Point {
    (a.0 - b.0, a.1 - b.1)
}

fn length((x, y): Point) -> f32 {
    x.hypot(y)
}

#[expect(clippy::cast_precision_loss, reason = "pixels of a picture and cells of a board are few")]
fn pixels(count: usize) -> f32 {
    count as f32
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within the picture, and not below 0"
)]
fn whole(pixels: f32) -> usize {
    pixels as usize
}

/// Where the cells of a board are.
pub(super) struct Frame {
    columns: usize,
    rows: usize,
    /// Side of a cell, in pixels.
    cell: f32,
    /// Width and height of the picture.
    size: (usize, usize),
}

impl Frame {
    /// In a picture of the size that services show links with.
    fn of(game: &Game) -> Self {
        let (columns, rows) = cells_of(game.variant());
        let fits = |length: usize, cells: usize| {
            (pixels(length) - 2.0 * MARGIN) / (pixels(cells) + 2.0 * RIM / UNIT)
        };
        let cell = fits(WIDTH, columns).min(fits(HEIGHT, rows));
        Self { columns, rows, cell, size: (WIDTH, HEIGHT) }
    }

    /// In a picture that is no larger than the board, of which no side is longer than `longest` pixels.
    pub(super) fn around(variant: Variant, longest: usize) -> Self {
        let (columns, rows) = cells_of(variant);
        let cells = |count: usize| pixels(count) + 2.0 * RIM / UNIT;
        let cell = (pixels(longest) - 2.0 * BORDER) / cells(columns.max(rows));
        let length = |count: usize| whole(cells(count) * cell + 2.0 * BORDER + 0.5);
        Self { columns, rows, cell, size: (length(columns), length(rows)) }
    }

    /// As many pixels as so many units of the pages.
    fn scaled(&self, units: f32) -> f32 {
        units * self.cell / UNIT
    }

    fn middle(&self) -> Point {
        (pixels(self.size.0) / 2.0, pixels(self.size.1) / 2.0)
    }

    /// The middle of a cell; rows count from below.
    fn centre(&self, column: usize, row: usize) -> Point {
        let (x, y) = self.middle();
        let from_middle = |index: usize, count: usize| pixels(index) + 0.5 - pixels(count) / 2.0;
        (x + from_middle(column, self.columns) * self.cell, y - from_middle(row, self.rows) * self.cell)
    }

    fn of_cell(&self, cell: Cell) -> Point {
        self.centre(cell.column().index(), cell.row_index())
    }
}

fn cells_of(variant: Variant) -> (usize, usize) {
    (usize::from(variant.width()), usize::from(variant.height()))
}

/// The position after all moves of a game.
pub(super) fn board(game: &Game) -> Canvas {
    let frame = Frame::of(game);
    let mut canvas = plate(&frame, game.variant());
    for cell in cells(game.variant()) {
        if let Some(side) = game.position().stone_at(cell) {
            stone(&mut canvas, &frame, frame.of_cell(cell), side);
        }
    }
    marks(&mut canvas, &frame, game);
    canvas
}

fn cells(variant: Variant) -> impl Iterator<Item = Cell> {
    let rows = 0..usize::from(variant.height());
    variant.columns().flat_map(move |column| rows.clone().filter_map(move |row| Cell::new(column, row)))
}

/// The empty board.
pub(super) fn plate(frame: &Frame, variant: Variant) -> Canvas {
    let mut canvas = Canvas::new(frame.size, PAPER);
    let half = |cells: usize| (pixels(cells) / 2.0) * frame.cell + frame.scaled(RIM);
    let (width, height) = (half(frame.columns), half(frame.rows));
    let (corner, edge) = (frame.scaled(30.0), frame.scaled(5.0));
    canvas.plate(frame.middle(), (width, height), corner, PLATE_EDGE);
    canvas.plate(frame.middle(), (width - edge, height - edge), corner - edge, PLATE);
    for cell in cells(variant) {
        canvas.disc(frame.of_cell(cell), frame.scaled(41.0), HOLE);
    }
    canvas
}

/// Whether a stone is marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Border {
    Plain,
    /// As the last one.
    Marked,
}

/// A stone in its hole, whatever was drawn there before.
pub(super) fn place(canvas: &mut Canvas, frame: &Frame, (cell, side): (Cell, Side), border: Border) {
    let centre = frame.of_cell(cell);
    canvas.disc(centre, frame.scaled(45.0), PLATE);
    canvas.disc(centre, frame.scaled(41.0), HOLE);
    stone(canvas, frame, centre, side);
    if border == Border::Marked {
        canvas.ring(centre, frame.scaled(40.0), frame.scaled(6.0), MARK);
    }
}

/// The sides differ by shape as well as by colour, as on the pages: a ring in coral, a star in gold.
fn stone(canvas: &mut Canvas, frame: &Frame, centre: Point, side: Side) {
    let (body, edge) = match side {
        Side::First => (CORAL, CORAL_EDGE),
        Side::Second => (GOLD, GOLD_EDGE),
    };
    canvas.disc(centre, frame.scaled(38.0), edge);
    canvas.disc(centre, frame.scaled(34.0), body);
    match side {
        Side::First => canvas.ring(centre, frame.scaled(19.0), frame.scaled(7.0), edge),
        Side::Second => canvas.star(centre, frame.scaled(25.0), edge),
    }
}

/// A line that was won, else the last stone.
pub(super) fn marks(canvas: &mut Canvas, frame: &Frame, game: &Game) {
    if let Some(Outcome::Win { by: _, line }) = game.outcome() {
        let centres: Vec<Point> = line.cells().map(|cell| frame.of_cell(cell)).collect();
        for centre in &centres {
            canvas.ring(*centre, frame.scaled(40.0), frame.scaled(8.0), MARK);
        }
        if let (Some(from), Some(to)) = (centres.first(), centres.last()) {
            canvas.stroke(*from, *to, frame.scaled(8.0), MARK);
        }
        return;
    }
    let top_of = |column: Column| {
        let mut cells = (0..frame.rows).rev().filter_map(|row| Cell::new(column, row));
        cells.find(|cell| game.position().stone_at(*cell).is_some())
    };
    if let Some(cell) = game.moves().last().and_then(|column| top_of(*column)) {
        canvas.ring(frame.of_cell(cell), frame.scaled(40.0), frame.scaled(6.0), MARK);
    }
}

/// As the specification of PNG has it: header, all lines filtered and compressed, end.
pub(super) fn png(canvas: &Canvas) -> Vec<u8> {
    const SIGNATURE: [u8; 8] = [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
    /// Eight bits a channel, red, green and blue, the one compression and filter method, not interlaced.
    const FORM: [u8; 5] = [8, 2, 0, 0, 0];
    let size = |length: usize| u32::try_from(length).unwrap_or(0).to_be_bytes();
    let mut file = SIGNATURE.to_vec();
    chunk(&mut file, *b"IHDR", &[&size(canvas.width)[..], &size(canvas.height), &FORM].concat());
    chunk(&mut file, *b"IDAT", &compressed(canvas));
    chunk(&mut file, *b"IEND", &[]);
    file
}

/// Of each line what differs from the one above (the filter `Up`), which is nothing nearly everywhere: the fastest
/// level is then small enough, and takes a fifth of the time.
fn compressed(canvas: &Canvas) -> Vec<u8> {
    const UP: u8 = 2;
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut above: &[u8] = &vec![0; 3 * canvas.width];
    for line in canvas.pixels.chunks(3 * canvas.width) {
        let differences = line.iter().zip(above).map(|(byte, above)| byte.wrapping_sub(*above));
        let filtered: Vec<u8> = std::iter::once(UP).chain(differences).collect();
        // Writing into memory does not fail.
        let _ = encoder.write_all(&filtered);
        above = line;
    }
    encoder.finish().unwrap_or_default()
}

fn chunk(file: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(&kind);
    sum.update(data);
    file.extend(u32::try_from(data.len()).unwrap_or(0).to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn game(variant: &str, moves: &str) -> Game {
        Game::from_moves(variant.parse().unwrap(), moves).unwrap()
    }

    /// The colour at a place of a cell, in units of the pages from its middle.
    fn at(game: &Game, canvas: &Canvas, column: usize, row: usize, off: Point) -> Colour {
        let frame = Frame::of(game);
        let (x, y) = frame.centre(column, row);
        let (x, y) = (whole(x + frame.scaled(off.0)), whole(y + frame.scaled(off.1)));
        let place = 3 * (y * canvas.width + x);
        [canvas.pixels[place], canvas.pixels[place + 1], canvas.pixels[place + 2]]
    }

    #[test]
    fn sides_differ_by_colour_and_by_shape() {
        let game = game("7x6", "44");
        let canvas = board(&game);
        let look = |row, off| at(&game, &canvas, 3, row, off);
        assert_eq!([look(0, (0.0, 0.0)), look(0, (19.0, 0.0))], [CORAL, CORAL_EDGE], "a ring");
        assert_eq!([look(1, (0.0, 0.0)), look(1, (14.0, 14.0))], [GOLD_EDGE, GOLD], "a star");
        assert_eq!(look(1, (0.0, -20.0)), GOLD_EDGE, "one of its points");
        assert_eq!([look(2, (0.0, 0.0)), look(2, (48.0, 48.0))], [HOLE, PLATE]);
        assert_eq!(look(1, (40.0, 0.0)), MARK, "the last stone");
        assert_eq!(look(0, (40.0, 0.0)), HOLE, "which the first is not");
    }

    #[test]
    fn a_line_that_was_won_is_struck_through() {
        let game = game("7x6", "1212121");
        let canvas = board(&game);
        assert_eq!(at(&game, &canvas, 0, 1, (0.0, 50.0)), MARK, "between two of its stones");
        assert_eq!(at(&game, &canvas, 1, 0, (0.0, -50.0)), PLATE);
    }

    #[test]
    fn what_is_left_out_of_computing_is_as_if_computed() {
        type Distance = fn(Point) -> f32;
        let (centre, reach, colour) = ((37.3, 41.9), (30.0, 22.0), CORAL);
        let distances: [Distance; 3] = [
            |point: Point| length(minus(point, (37.3, 41.9))) - 20.2,
            |point: Point| (length(minus(point, (37.3, 41.9))) - 15.0).abs() - 3.4,
            |(x, y): Point| (x - 37.3).abs().max((y - 41.9).abs()) - 11.7,
        ];
        for distance in distances {
            let (mut quick, mut slow) = (Canvas::new((80, 70), PAPER), Canvas::new((80, 70), PAPER));
            quick.fill(centre, reach, colour, distance);
            for (x, y) in (0..70).flat_map(|y| (0..80).map(move |x| (x, y))) {
                let share = (0.5 - distance((pixels(x) + 0.5, pixels(y) + 0.5))).clamp(0.0, 1.0);
                slow.mix(3 * (y * 80 + x), colour, share);
            }
            assert!(quick.pixels == slow.pixels);
        }
    }

    #[test]
    fn every_size_has_its_plate_within_the_picture() {
        for variant in ["4x4x3", "12x4", "4x15", "9x6x5"] {
            let game = game(variant, "1");
            let frame = Frame::of(&game);
            let (left, top) = frame.centre(0, frame.rows - 1);
            assert!(left > frame.cell / 2.0 && top > frame.cell / 2.0, "{variant}");
            let canvas = board(&game);
            assert_eq!(at(&game, &canvas, 0, 0, (0.0, 0.0)), CORAL, "{variant}");
            assert_eq!(canvas.pixels[..3], PAPER, "{variant}");
        }
    }

    #[test]
    fn the_file_is_a_png_of_the_picture() {
        let canvas = board(&game("7x6", "4453"));
        let file = png(&canvas);
        assert!(file.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x04\xb0\0\0\x02\x76\x08\x02\0\0\0"));
        assert!(file.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"), "with the sum that every PNG ends with");
        let data = file.windows(4).position(|word| word == b"IDAT").unwrap() + 4;
        let mut lines = Vec::new();
        flate2::read::ZlibDecoder::new(&file[data..]).read_to_end(&mut lines).unwrap();
        let mut pixels: Vec<u8> = vec![0; 3 * WIDTH];
        for line in lines.chunks(3 * WIDTH + 1) {
            assert_eq!(line[0], 2, "each line is said as what differs from the one above");
            let above = pixels.len() - 3 * WIDTH;
            (0..3 * WIDTH).for_each(|at| pixels.push(pixels[above + at].wrapping_add(line[1 + at])));
        }
        pixels.drain(..3 * WIDTH);
        assert!(pixels == canvas.pixels);
        assert!(file.len() < 100_000, "{} bytes are much for messengers", file.len());
    }
}
