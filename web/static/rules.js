// The rules of the board as far as the page needs them: to draw positions and to preview a move. The server decides.
// Pure: no DOM, no clock.

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").CellNumbers} CellNumbers */
/** @typedef {{ width: number, height: number, connect: number }} Variant */
/** @typedef {{ column: number, row: number, side: Side }} Stone Column and row from 1, row 1 at the bottom. */

/** The directions of a line; the other four are these backwards. */
const DIRECTIONS = [[1, 0], [0, 1], [1, 1], [1, -1]];

/**
 * Reads `WxH` or `WxHxK`.
 * @param {string} text
 * @returns {Variant}
 */
export function parseVariant(text) {
  const [width = 7, height = 6, connect = 4] = text.split("x").map(Number);
  return { width, height, connect };
}

/** `WxH`, or `WxHxK` where it takes another number than four. @param {Variant} variant */
export function formatVariant({ width, height, connect }) {
  return `${width}x${height}${connect === 4 ? "" : `x${connect}`}`;
}

/**
 * Reads a move string: one base-36 digit a move.
 * @param {string} text
 * @returns {number[]} columns from 1
 */
export function parseMoves(text) {
  return text === "-" ? [] : [...text].map((digit) => Number.parseInt(digit, 36));
}

/** @param {number} ply stones on the board @returns {Side} */
export function sideToMove(ply) {
  return ply % 2 === 0 ? "first" : "second";
}

/** @param {Side} side @returns {Side} */
export function other(side) {
  return side === "first" ? "second" : "first";
}

/**
 * The stones in the order in which they fell.
 * @param {number[]} moves columns from 1
 * @returns {Stone[]}
 */
export function stonesOf(moves) {
  /** @type {Map<number, number>} */
  const heights = new Map();
  return moves.map((column, ply) => {
    const row = (heights.get(column) ?? 0) + 1;
    heights.set(column, row);
    return { column, row, side: sideToMove(ply) };
  });
}

/**
 * The row on which the next stone in `column` comes to rest, or 0 if the column is full.
 * @param {Variant} variant
 * @param {number[]} moves
 * @param {number} column from 1
 */
export function landingRow(variant, moves, column) {
  const row = moves.filter((move) => move === column).length + 1;
  return row <= variant.height ? row : 0;
}

/**
 * The line that the last stone completed, longest if there are several; null if none.
 * @param {Variant} variant
 * @param {number[]} moves
 * @returns {CellNumbers[] | null}
 */
export function winningLine(variant, moves) {
  const stones = stonesOf(moves);
  const last = stones.at(-1);
  return last ? lineThrough(variant, stones, last) : null;
}

/**
 * Whether a side could complete a line if it were to move.
 * @param {Variant} variant
 * @param {number[]} moves
 * @param {Side} side
 */
export function threatens(variant, moves, side) {
  const stones = stonesOf(moves);
  return Array.from({ length: variant.width }, (_, index) => index + 1).some((column) => {
    const row = landingRow(variant, moves, column);
    return row > 0 && lineThrough(variant, stones, { column, row, side }) !== null;
  });
}

/**
 * The longest line through a stone of those that are long enough; null if none is.
 * @param {Variant} variant
 * @param {Stone[]} stones
 * @param {Stone} through one of them, or one that may come
 * @returns {CellNumbers[] | null}
 */
function lineThrough(variant, stones, through) {
  const own = new Set(stones.filter((s) => s.side === through.side).map((s) => `${s.column},${s.row}`));
  /** @type {CellNumbers[] | null} */
  let best = null;
  for (const [dx, dy] of DIRECTIONS) {
    /** @type {CellNumbers[]} */
    const cells = [[through.column, through.row]];
    for (const sign of [1, -1]) {
      let [column, row] = [through.column + sign * dx, through.row + sign * dy];
      while (own.has(`${column},${row}`)) {
        cells.push([column, row]);
        [column, row] = [column + sign * dx, row + sign * dy];
      }
    }
    if (cells.length >= variant.connect && cells.length > (best?.length ?? 0)) best = cells;
  }
  return best && best.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}
