// Draws boards and discs as SVG, in hundredths of a cell; the server's templates draw the same shapes. Coral has a ring,
// gold a star, and gold is far lighter, so that nobody needs the colours; with strong marks gold is a target.

import { svg } from "./dom.js";
import { parseMoves, parseVariant, stonesOf, winningLine } from "./rules.js";

/** @typedef {import("./rules.js").Variant} Variant */
/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").CellNumbers} CellNumbers */

export const CELL = 100;
/** Radius of a hole; a disc fills it but for a hair. */
const HOLE = 41;
/** How far the board reaches beyond its outer cells, and how round its corners are. */
const RIM = { margin: 13, radius: 34 };
/** How far the drawing reaches beyond the outer cells: the rim and its stroke. */
export const FRAME = 16;
/** Room above the board for the disc that is about to fall. */
export const GHOST_ROOM = 88;

/** @param {number} column from 1 */
export const centerX = (column) => (column - 0.5) * CELL;

/**
 * @param {Variant} variant
 * @param {number} row from 1 at the bottom
 */
export const centerY = (variant, row) => (variant.height - row + 0.5) * CELL;

/**
 * A disc around the origin.
 * @param {Side} side
 */
export function disc(side) {
  const shapes =
    side === "first"
      ? [svg("circle", { class: "body", r: 38 }), svg("circle", { class: "edge", r: 25 })]
      : [
          svg("circle", { class: "body", r: 38 }),
          svg("path", { class: "star", d: "M0-25 6.5-6.5 25 0 6.5 6.5 0 25-6.5 6.5-25 0-6.5-6.5z" }),
          svg("circle", { class: "strong", r: 20 }),
        ];
  return svg("g", { class: `stone ${side}` }, ...shapes);
}

/** @param {Side} side a small picture of the side's disc, to stand beside text */
export function discIcon(side) {
  const hole = svg("circle", { class: "hole", r: 50 });
  return svg("svg", { class: "disc", viewBox: "-50 -50 100 100", "aria-hidden": "true" }, hole, disc(side));
}

/** A notch in the rim above the column of the last move. @param {number} column */
export const notchPath = (column) => `M${centerX(column) - 11},-12h22l-11,12z`;

/** @param {Variant} variant the board's outline */
export function rimPath(variant) {
  const { margin, radius } = RIM;
  const [width, height] = [variant.width * CELL, variant.height * CELL];
  const [left, right, bottom] = [-margin, width + margin, height + margin];
  const top = -margin;
  return [
    `M${left + radius},${top}H${right - radius}a${radius},${radius} 0 0 1 ${radius},${radius}V${bottom - radius}`,
    `a${radius},${radius} 0 0 1 -${radius},${radius}H${left + radius}a${radius},${radius} 0 0 1 -${radius},-${radius}`,
    `V${top + radius}a${radius},${radius} 0 0 1 ${radius},-${radius}z`,
  ].join("");
}

/** @param {Variant} variant the outline with a hole for each cell */
export function frontPath(variant) {
  const parts = [rimPath(variant)];
  for (let column = 1; column <= variant.width; column += 1) {
    for (let row = 1; row <= variant.height; row += 1) {
      const [x, y] = [centerX(column) - HOLE, centerY(variant, row)];
      parts.push(`M${x},${y}a${HOLE},${HOLE} 0 1 0 ${2 * HOLE},0a${HOLE},${HOLE} 0 1 0 -${2 * HOLE},0z`);
    }
  }
  return parts.join("");
}

/**
 * Rings on the cells of a line.
 * @param {Variant} variant
 * @param {CellNumbers[]} line
 */
export function lineRings(variant, line) {
  return line.map(([column, row]) =>
    svg("circle", { class: "win-ring", cx: centerX(column), cy: centerY(variant, row), r: 44 }),
  );
}

/**
 * An arrow down to where the next stone of a column comes to rest.
 * @param {Variant} variant
 * @param {number} column
 * @param {number} row
 */
export function hintArrow(variant, column, row) {
  const [x, y] = [centerX(column), centerY(variant, row)];
  const from = Math.max(6, y - 112);
  return svg("path", { class: "hint", d: `M${x - 8},${from}h16V${y - 8}h18L${x},${y + 26}L${x - 26},${y - 8}h18z` });
}

/**
 * A small flat board for lists.
 * @param {string} variantText
 * @param {string} movesText
 */
export function miniBoard(variantText, movesText) {
  const variant = parseVariant(variantText);
  const moves = parseMoves(movesText);
  const size = { width: variant.width * CELL, height: variant.height * CELL };
  const picture = svg(
    "svg",
    { class: "mini", viewBox: `-10 -10 ${size.width + 20} ${size.height + 20}`, "aria-hidden": "true" },
    svg("rect", { class: "panel", x: -10, y: -10, width: size.width + 20, height: size.height + 20 }),
    svg("rect", { class: "holes", ...size }),
  );
  for (const stone of stonesOf(moves)) {
    const drawn = disc(stone.side);
    drawn.setAttribute("transform", `translate(${centerX(stone.column)} ${centerY(variant, stone.row)})`);
    picture.append(drawn);
  }
  picture.append(...lineRings(variant, winningLine(variant, moves) ?? []));
  return picture;
}
