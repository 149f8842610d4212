// Draws the lines that were tried on the analysis board: the first one through, and each other one where it left that.

import { el } from "./dom.js";
import { discIcon } from "./drawing.js";
import { other, sideToMove } from "./rules.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("./branches.js").Branch} Branch */
/** @typedef {import("./line.js").Line} Line */

/**
 * @param {Branch} tree
 * @param {Line} line what is on the board
 * @param {boolean} swapped whether each side has the other's colour
 */
export function branchList(tree, line, swapped) {
  return list(tree, [], { line, swapped });
}

/**
 * The moves after `branch`, to the end of its first line.
 * @param {Branch} branch
 * @param {number[]} before
 * @param {{ line: Line, swapped: boolean }} shown
 * @param {Branch} [first] the one to begin with, where it is not the first
 * @returns {HTMLOListElement}
 */
function list(branch, before, shown, first) {
  const items = [];
  let [here, moves, chosen] = [branch, before, first ?? branch.next[0]];
  while (chosen) {
    const asides = chosen === here.next[0] ? here.next.slice(1) : [];
    items.push(el("li", {}, moveButton([...moves, chosen.column], shown)));
    for (const aside of asides) items.push(el("li", { class: "aside" }, list(here, moves, shown, aside)));
    moves = [...moves, chosen.column];
    [here, chosen] = [chosen, chosen.next[0]];
  }
  return el("ol", { class: "branch" }, ...items);
}

/**
 * @param {number[]} moves the last of which the button is for
 * @param {{ line: Line, swapped: boolean }} shown
 */
function moveButton(moves, { line, swapped }) {
  const ply = moves.length;
  const column = moves[ply - 1];
  const side = sideToMove(ply - 1);
  const seen = swapped ? other(side) : side;
  const inLine = ply <= line.moves.length && moves.every((move, index) => line.moves[index] === move);
  const label = text("game.move_label", { ply, color: COLOR[seen], column });
  return el(
    "button",
    { type: "button", class: inLine && "in-line", "aria-current": inLine && ply === line.ply && "true", "data-moves": moves.join(" ") },
    el("span", { class: "visually-hidden" }, label),
    el("span", { class: "shown", "aria-hidden": "true" }, `${ply}.`, discIcon(seen), String(column)),
  );
}
