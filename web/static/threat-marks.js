// Free places with which a side would have four, whether a disc can fall there yet or not: marked on the board, for
// lessons that are about them. Whoever does not see the board reads them in a list.

import { BoardElement } from "./board.js";
import { el, svg } from "./dom.js";
import { centerX, centerY } from "./drawing.js";
import { stonesOf } from "./rules.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {{ column: number, row: number, side: Side }} Place */

/** The standard board: lessons have no other. */
const VARIANT = { width: 7, height: 6, connect: 4 };
/** The directions of a line; the other four are these backwards. */
const DIRECTIONS = [[1, 0], [0, 1], [1, 1], [1, -1]];
/** How far a mark reaches from the middle of its hole. */
const REACH = { first: 19, second: 23 };

/**
 * The places that would give a side four, of both sides, by columns from below.
 * @param {number[]} moves columns from 1
 * @returns {Place[]}
 */
export function threats(moves) {
  const sides = new Map(stonesOf(moves).map(({ column, row, side }) => [`${column},${row}`, side]));
  /** @type {Map<string, Place>} */
  const found = new Map();
  for (let column = 1; column <= VARIANT.width; column += 1) {
    for (let row = 1; row <= VARIANT.height; row += 1) {
      for (const [dx, dy] of DIRECTIONS) {
        const line = Array.from({ length: VARIANT.connect }, (_, step) => [column + step * dx, row + step * dy]);
        const [lastColumn, lastRow] = line[line.length - 1];
        if (lastColumn > VARIANT.width || lastRow > VARIANT.height || lastRow < 1) continue;
        const free = line.filter((cell) => !sides.has(`${cell}`));
        const own = new Set(line.flatMap((cell) => sides.get(`${cell}`) ?? []));
        if (free.length !== 1 || own.size !== 1) continue;
        const [side] = own;
        found.set(`${free[0]} ${side}`, { column: free[0][0], row: free[0][1], side });
      }
    }
  }
  return [...found.values()].sort((a, b) => a.column - b.column || a.row - b.row);
}

/**
 * Marks them on a board, and lists them where they are read.
 * @param {BoardElement} board
 * @param {number[]} moves
 * @param {HTMLElement} list
 */
export function markThreats(board, moves, list) {
  const places = threats(moves);
  const mark = (/** @type {Place} */ { column, row, side }) => {
    const at = { class: `threat ${side}`, transform: `translate(${centerX(column)} ${centerY(VARIANT, row)})` };
    const reach = REACH[side];
    return side === "first"
      ? svg("circle", { ...at, r: reach })
      : svg("path", { ...at, d: `M0 ${-reach}L${reach} 0 0 ${reach} ${-reach} 0z` });
  };
  board.querySelector(".threats")?.remove();
  board.querySelector("svg")?.append(svg("g", { class: "threats" }, ...places.map(mark)));
  list.replaceChildren(
    ...places.map(({ column, row, side }) => el("li", {}, text("lessons.place_of", { color: COLOR[side], column, row }))),
  );
}
