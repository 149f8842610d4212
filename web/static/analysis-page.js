// The analysis board: both sides are moved by whoever looks. Events only: line.js says what they mean, analysis-view.js
// shows it, positions.js asks for what each position is worth.

import { AnalysisView } from "./analysis-view.js";
import { announce } from "./announce.js";
import { grow, mirrored, noMoves, throughout, treeOf } from "./branches.js";
import { find } from "./dom.js";
import { address, goTo, isOver, lineOf, mirror, play, printMoves, shownMoves } from "./line.js";
import { outlook, outlookWords } from "./outlook.js";
import { countAt, fetchPosition, keep, known, prefetch } from "./positions.js";
import { landingRow, parseVariant, sideToMove } from "./rules.js";
import "./shell.js";
import * as sound from "./sound.js";
import { copy, playBot } from "./start.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("./line.js").Line} Line */
/** @typedef {import("./analysis-view.js").AnalysisState} AnalysisState */

/** Where the browser keeps whether values are shown, whose games are counted, and which bot was played last. */
const HINTS_KEY = "analysis-hints";
const LEVEL_KEY = "analysis-level";
const OPPONENT_KEY = "analysis-opponent";

const root = find("#analysis");
const view = new AnalysisView(root);
const hints = /** @type {HTMLInputElement} */ (find("#hints"));
const level = /** @type {HTMLSelectElement} */ (find("#level"));
const opponent = /** @type {HTMLSelectElement} */ (find("#opponent"));

/** @type {AnalysisState} */
let state = {
  line: lineOf(root.dataset.variant ?? "7x6", root.dataset.moves ?? ""),
  // What was tried here before the page was loaded anew.
  tree: treeOf(history.state) ?? noMoves(),
  position: null,
  waits: null,
  hints: localStorage.getItem(HINTS_KEY) !== "off",
  swapped: false,
  // What the address says, or what was chosen last.
  level: root.dataset.level || (localStorage.getItem(LEVEL_KEY) ?? ""),
};
/** Ends the questions about a position that is not on the board any more. */
let asked = new AbortController();

/** @param {Line} line */
function go(line) {
  const before = state.line;
  const moves = printMoves(shownMoves(line));
  const tree = grow(state.tree, line.moves);
  state = { ...state, line, tree, position: known(line.variant, moves), waits: null };
  history.replaceState(tree, "", address(line, state.level));
  view.show(state);
  if (line.ply === before.ply + 1) {
    const column = line.moves[line.ply - 1];
    const side = sideToMove(before.ply);
    const variant = parseVariant(line.variant);
    sound.drop(side, landingRow(variant, shownMoves(before), column), view.board.landsIn, { column, width: variant.width });
    announce(text("game.played", { color: COLOR[side], column }));
  }
  ask(line, moves);
}

/**
 * Asks for the values of the position on the board, and then for those that one move leads to.
 * @param {Line} line
 * @param {string} moves
 */
async function ask(line, moves) {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  try {
    const position = await fetchPosition(line.variant, moves, signal, (waits) => {
      state = { ...state, waits };
      view.show(state);
    });
    if (signal.aborted) return;
    state = { ...state, position, waits: null };
    view.show(state);
    if (state.hints && position.score !== null) {
      announce(outlookWords(outlook(parseVariant(line.variant), line.ply, position.score)));
    }
    const byValue = [...position.legal].sort((a, b) => (position.columns?.[b - 1] ?? 0) - (position.columns?.[a - 1] ?? 0));
    await prefetch(line.variant, byValue.map((column) => moves + column.toString(36)), signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** @param {number} column */
const drop = (column) => go(play(state.line, column));
/** @param {number} by */
const step = (by) => go(goTo(state.line, state.line.ply + by));

/** @param {boolean} shown */
function setHints(shown) {
  localStorage.setItem(HINTS_KEY, shown ? "on" : "off");
  hints.checked = shown;
  state = { ...state, hints: shown };
  view.show(state);
}

root.addEventListener("column", (event) => drop(/** @type {CustomEvent<number>} */ (event).detail));
root.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[data-column]") : null;
  if (!(link instanceof HTMLElement) || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  drop(Number(link.dataset.column));
});
const steps = { "#line-first": -Infinity, "#line-previous": -1, "#line-next": 1, "#line-last": Infinity };
for (const [selector, by] of Object.entries(steps)) {
  find(selector).addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    step(by);
  });
}
view.range.addEventListener("input", () => go(goTo(state.line, Number(view.range.value))));
/** @param {string} chosen */
function setLevel(chosen) {
  if (chosen) localStorage.setItem(LEVEL_KEY, chosen);
  else localStorage.removeItem(LEVEL_KEY);
  state = { ...state, level: chosen };
  countAt(chosen);
  go(state.line);
}

level.addEventListener("change", () => setLevel(level.value));
hints.addEventListener("change", () => setHints(hints.checked));
find("#branches").addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (!button) return;
  const moves = (button.dataset.moves ?? "").split(" ").map(Number);
  const isHere = moves.every((move, index) => state.line.moves[index] === move);
  go(goTo(isHere ? state.line : { ...state.line, moves: throughout(state.tree, moves) }, moves.length));
});
/** @param {Line} line @param {import("./branches.js").Branch} tree */
const goAnew = (line, tree) => {
  state = { ...state, tree };
  go(line);
};
find("#mirror").addEventListener("click", () => goAnew(mirror(state.line), mirrored(state.tree, parseVariant(state.line.variant).width)));
find("#swap-colors").addEventListener("click", () => {
  state = { ...state, swapped: !state.swapped };
  view.show(state);
});
find("#empty").addEventListener("click", () => goAnew({ ...state.line, moves: [], ply: 0 }, noMoves()));
find("#copy-link").addEventListener("click", () => copy(find("#copy-link"), location.href));
find("#play-on").addEventListener("submit", (event) => {
  event.preventDefault();
  if (isOver(state.line)) return;
  localStorage.setItem(OPPONENT_KEY, opponent.value);
  const side = /** @type {HTMLInputElement} */ (find('#play-on input[name="side"]:checked')).value;
  const from = { variant: state.line.variant, moves: printMoves(shownMoves(state.line)) };
  playBot(opponent.value, side === "first" ? "first" : "second", undefined, from);
});
document.addEventListener("keydown", (event) => {
  const target = event.target instanceof HTMLElement ? event.target : null;
  const typing = target?.matches("input, select, textarea, dialog *") ?? false;
  if (typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (/^[1-9]$/.test(event.key)) view.board.choose(Number(event.key));
  else if (event.key === "ArrowLeft") step(-1);
  else if (event.key === "ArrowRight") step(1);
  else if (event.key === "Home") step(-Infinity);
  else if (event.key === "End") step(Infinity);
  else if (event.key === "h") setHints(!state.hints);
  else return;
  event.preventDefault();
});

if (root.dataset.position) keep(JSON.parse(root.dataset.position));
hints.checked = state.hints;
if (![...level.options].some((option) => option.value === state.level)) state = { ...state, level: "" };
level.value = state.level;
const last = localStorage.getItem(OPPONENT_KEY) ?? "perfect";
if ([...opponent.options].some((option) => option.value === last)) opponent.value = last;
setLevel(state.level);
