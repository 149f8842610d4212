// Patterns of learners as small boards, as `src/http/pages/pattern.rs` draws them; the page has the empty board.

import { svg } from "./dom.js";
import { CELL, centerX, centerY } from "./drawing.js";
import { text } from "./texts.js";

/** The only board that bots learn on. */
const BOARD = { width: 7, height: 6, connect: 4 };
const KINDS = [
  { word: "own", shape: "pattern-own", r: 38, says: (/** @type {string} */ cells) => text("learning.cells_own", { cells }) },
  { word: "enemy", shape: "pattern-enemy", r: 27, says: (/** @type {string} */ cells) => text("learning.cells_enemy", { cells }) },
  { word: "open", shape: "pattern-open", r: 33, says: (/** @type {string} */ cells) => text("learning.cells_open", { cells }) },
];

/** @param {string} name such as `own c1 d1 . .` or `own c1 enemy d1 open d2` */
export function patternBoard(name) {
  /** @type {string[][]} */
  const cells = KINDS.map(() => []);
  let kind = 0;
  for (const word of name.split(" ")) {
    const next = KINDS.findIndex((known) => known.word === word);
    if (next >= 0) kind = next;
    else if (/^[a-g][1-6]$/.test(word)) cells[kind]?.push(word);
  }
  const marks = KINDS.flatMap(({ shape, r }, index) => (cells[index] ?? []).map((cell) => mark(cell, shape, r)));
  const said = KINDS.map(({ says }, index) => (cells[index]?.length ? says(cells[index].join(" ")) : ""));
  // Of the network, one whose cells are all out of reach, is an empty board.
  const label = said.filter(Boolean).join(", ") || text("learning.cells_none");
  const [width, height] = [BOARD.width * CELL + 12, BOARD.height * CELL + 12];
  const ground = svg("use", { href: "#pattern-cells", x: -6, y: -6, width, height });
  return svg(
    "svg",
    { class: "pattern", viewBox: `-6 -6 ${width} ${height}`, role: "img", "aria-label": label },
    ground,
    ...marks,
  );
}

/**
 * @param {string} cell
 * @param {string} shape
 * @param {number} r
 */
function mark(cell, shape, r) {
  const column = cell.charCodeAt(0) - "a".charCodeAt(0) + 1;
  return svg("circle", { class: shape, cx: centerX(column), cy: centerY(BOARD, Number(cell.slice(1))), r });
}
