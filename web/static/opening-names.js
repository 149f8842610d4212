// What the opening of a line of moves is called: the name of the fullest position that has one. The server writes the
// table into the page, in its language; `src/model/opening_names.rs` says the same.

import { setText } from "./dom.js";

/** Boards whose first moves have names. */
const STANDARD = { width: 7, height: 6, connect: 4 };

/**
 * The same for positions that are the same or mirror images: who has the discs of each column, from below.
 * @param {number[]} moves columns from 1
 */
function keyOf(moves) {
  const columns = Array.from({ length: STANDARD.width }, () => "");
  moves.forEach((column, ply) => (columns[column - 1] += String(ply % 2)));
  const [seen, mirrored] = [columns.join("/"), columns.reverse().join("/")];
  return seen < mirrored ? seen : mirrored;
}

/**
 * Names by the keys of positions.
 * @param {[string, string][]} table moves and name of each
 */
export const namesOf = (table) => new Map(table.map(([moves, name]) => [keyOf([...moves].map(Number)), name]));

/**
 * @param {Map<string, string>} names
 * @param {number[]} moves
 */
export function deepestName(names, moves) {
  const longest = Math.max(0, ...[...names.keys()].map((key) => key.replaceAll("/", "").length));
  for (let ply = Math.min(longest, moves.length); ply > 0; ply -= 1) {
    const name = names.get(keyOf(moves.slice(0, ply)));
    if (name) return name;
  }
  return null;
}

export class OpeningName {
  /** @param {HTMLElement} root of a page that may have a line for the name */
  constructor(root) {
    this.line = /** @type {HTMLElement | null} */ (root.querySelector("#opening-name"));
    this.names = namesOf(JSON.parse(this.line?.dataset.openings ?? "[]"));
  }

  /**
   * @param {import("./rules.js").Variant} variant
   * @param {number[]} moves
   */
  show({ width, height, connect }, moves) {
    if (!this.line) return;
    const isStandard = width === STANDARD.width && height === STANDARD.height && connect === STANDARD.connect;
    const name = isStandard ? deepestName(this.names, moves) : null;
    // The last name stays in its place, unseen, so that nothing moves.
    if (name) setText(/** @type {HTMLElement} */ (this.line.querySelector("b")), name);
    this.line.toggleAttribute("data-unnamed", name === null);
  }
}
