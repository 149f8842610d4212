// The moves of a study as buttons, with a mark on those of which something is said.

import { el } from "./dom.js";
import { discIcon } from "./drawing.js";
import { sideToMove } from "./rules.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/**
 * @typedef {object} StudyLine
 * @property {number[]} moves columns from 1, from the empty board
 * @property {number} start after how many of them the study begins
 * @property {number} ply after how many of them is the position on show
 * @property {(ply: number) => boolean} isSaid whether something is said of a position
 * @property {string} beginning how the position is called at which it begins
 */

/**
 * @param {Element} box
 * @param {StudyLine} line
 */
export function showMoves(box, line) {
  const hadFocus = box.contains(document.activeElement);
  const plies = Array.from({ length: line.moves.length - line.start + 1 }, (_, index) => line.start + index);
  box.replaceChildren(...plies.map((ply) => moveButton(line, ply)));
  const here = /** @type {HTMLElement | null} */ (box.querySelector("[aria-current]"));
  if (here) box.scrollTop += here.getBoundingClientRect().bottom - box.getBoundingClientRect().bottom + 40;
  if (hadFocus) here?.focus();
}

/**
 * @param {StudyLine} line
 * @param {number} at
 */
function moveButton({ moves, start, ply, isSaid, beginning }, at) {
  const attributes = { type: "button", class: isSaid(at) && "said", "data-ply": at, "aria-current": at === ply && "step" };
  if (at === start) return el("button", attributes, beginning);
  const side = sideToMove(at - 1);
  const column = moves[at - 1];
  const label = text("game.move_label", { ply: at, color: COLOR[side], column });
  const shown = el("span", { class: "shown", "aria-hidden": "true" }, `${at}.`, discIcon(side), String(column));
  return el("button", attributes, el("span", { class: "visually-hidden" }, label), shown);
}

/**
 * Buttons and keys that go through a line, as on the analysis board.
 * @param {(by: number) => void} step by so many plies
 * @param {(ply: number) => void} goTo
 */
export function steer(step, goTo) {
  const steps = { "#line-first": -Infinity, "#line-previous": -1, "#line-next": 1, "#line-last": Infinity };
  for (const [selector, by] of Object.entries(steps)) document.querySelector(selector)?.addEventListener("click", () => step(by));
  document.querySelector("#line")?.addEventListener("input", (event) => {
    goTo(Number(/** @type {HTMLInputElement} */ (event.target).value));
  });
  document.querySelector("#study-moves")?.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (button) goTo(Number(button.dataset.ply));
  });
  document.addEventListener("keydown", (event) => {
    const target = event.target instanceof HTMLElement ? event.target : null;
    const typing = target?.matches("input, select, textarea, dialog *") ?? false;
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "ArrowLeft") step(-1);
    else if (event.key === "ArrowRight") step(1);
    else if (event.key === "Home") step(-Infinity);
    else if (event.key === "End") step(Infinity);
    else return;
    event.preventDefault();
  });
}

/**
 * @param {{ start: number, ply: number, moves: number[] }} line
 */
export function showRange({ start, ply, moves }) {
  const range = /** @type {HTMLInputElement} */ (document.querySelector("#line"));
  range.min = String(start);
  range.max = String(moves.length);
  range.value = String(ply);
  range.setAttribute("aria-valuetext", text("game.move_of", { n: ply, all: moves.length }));
  for (const [selector, end] of /** @type {const} */ ([["#line-first", start], ["#line-previous", start], ["#line-next", moves.length], ["#line-last", moves.length]])) {
    document.querySelector(selector)?.setAttribute("aria-disabled", String(ply === end));
  }
}
