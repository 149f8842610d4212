// A rush: one puzzle after the other, each harder, for three minutes or until three are missed. What one plays is checked
// by the arena as in any puzzle; the best results are kept in the browser.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { el, find, setText } from "./dom.js";
import { discIcon } from "./drawing.js";
import { printMoves } from "./line.js";
import { landingRow, parseMoves, parseVariant, sideToMove, winningLine } from "./rules.js";
import "./shell.js";
import * as sound from "./sound.js";
import { text } from "./texts.js";
import { clockFace, COLOR } from "./words.js";

/** @typedef {"minutes" | "lives"} Mode */
/** @typedef {{ id: string, moves: string, goal: "win" | "draw" }} Puzzle */

/** How long the one kind lasts, in milliseconds; `lobby` says it in words. */
const RUSH_MS = 180_000;
/** Misses after which the other kind is over. */
const LIVES = 3;
/** How long a miss stays on the board, in milliseconds. */
const MISS_MS = 900;
/** How long after one's move the reply falls, in milliseconds: quicker than elsewhere, for the clock runs. */
const REPLY_MS = 350;
const KEY = "rush";

const variant = parseVariant("7x6");
const root = find("#rush");
const board = /** @type {BoardElement} */ (find("ff-board", root));
const ids = (root.dataset.puzzles ?? "").split(" ").filter(Boolean);

/** @type {Mode} */
let mode = "minutes";
let place = 0;
let solved = 0;
/** Addresses of those that were missed. @type {string[]} */
let missed = [];
/** When the time is up, by the clock of the page. */
let until = Infinity;
/** @type {Puzzle | null} */
let puzzle = null;
/** What was right in the puzzle so far, with the replies. @type {number[]} */
let line = [];
/** @type {"ready" | "open" | "busy" | "over"} */
let status = "ready";

/** @param {number[]} beyond */
function show(beyond = []) {
  const moves = [...parseMoves(puzzle?.moves ?? "-"), ...line, ...beyond];
  root.dataset.status = status;
  board.show({ variant, moves, line: winningLine(variant, moves), seated: status === "open", playable: status === "open", pending: null });
  return moves;
}

function showScore() {
  setText(find("#rush-score"), String(solved));
  const lives = "●".repeat(LIVES - missed.length) + "○".repeat(Math.min(LIVES, missed.length));
  setText(find("#rush-left"), mode === "lives" ? lives : clockFace(Math.max(0, Math.min(RUSH_MS, until - performance.now()))));
}

/** @returns {Record<string, number>} the most solved in each mode */
function best() {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof known === "object" && known !== null ? known : {};
  } catch {
    return {};
  }
}

function noteBest() {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...best(), [mode]: Math.max(solved, best()[mode] ?? 0) }));
  } catch {
    // It is not kept, then.
  }
}

/** @param {string} id @returns {Promise<Puzzle>} */
async function fetchPuzzle(id) {
  const response = await fetch(`/api/v1/puzzles/${id}`);
  if (!response.ok) throw new Error(`puzzle: ${response.status}`);
  return (await response.json()).puzzle;
}

/** The puzzle after the one on show, asked for while that is solved. @type {Promise<Puzzle> | null} */
let coming = null;

function prefetch() {
  coming = place < ids.length ? fetchPuzzle(ids[place]) : null;
  coming?.catch(() => {});
}

async function next() {
  if (isOver() || !coming) return end();
  try {
    puzzle = await coming;
  } catch {
    return end(text("puzzles.failed"));
  }
  if (isOver()) return end();
  place += 1;
  prefetch();
  [line, status] = [[], "open"];
  root.dataset.id = puzzle.id;
  const side = sideToMove(show().length);
  const question = text(puzzle.goal === "win" ? "puzzles.find_win" : "puzzles.find_draw", { color: COLOR[side] });
  find("#rush-said").replaceChildren(discIcon(side), question);
  announce(question);
  board.focusColumns();
}

const isOver = () => performance.now() >= until || (mode === "lives" && missed.length >= LIVES);

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {number} column */
async function play(column) {
  if (status !== "open" || !puzzle) return;
  if (isOver()) return end();
  status = "busy";
  const moves = show([column]);
  const side = sideToMove(moves.length - 1);
  sound.drop(side, landingRow(variant, moves.slice(0, -1), column), board.landsIn, { column, width: variant.width });
  const own = [...line.filter((_, index) => index % 2 === 0), column];
  /** @type {{ status: "goes_on" | "solved" | "wrong", line: string }} */
  let answer;
  try {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch(`/api/v1/puzzles/${puzzle.id}/attempts`, { method: "POST", headers, body: JSON.stringify({ moves: printMoves(own) }) });
    if (!response.ok) throw new Error(`attempt: ${response.status}`);
    answer = await response.json();
  } catch {
    return end(text("puzzles.failed"));
  }
  if (isCut()) return;
  if (answer.status !== "goes_on") return count(answer.status === "solved", column);
  await wait(REPLY_MS);
  if (isCut()) return;
  [line, status] = [parseMoves(answer.line), "open"];
  show();
  board.focusColumns();
}

/** Whether the time ran out while something was waited for. */
const isCut = () => status === "over";

/**
 * @param {boolean} right
 * @param {number} column
 */
async function count(right, column) {
  if (right) {
    solved += 1;
    sound.end("won");
  } else {
    missed = [...missed, puzzle?.id ?? ""];
    root.dataset.miss = "";
    announce(text("puzzles.wrong", { column }));
  }
  showScore();
  await wait(right ? REPLY_MS : MISS_MS);
  delete root.dataset.miss;
  if (!isCut()) await next();
}

/** @param {string} [why] if it could not go on */
function end(why = "") {
  if (status === "over") return;
  status = "over";
  clearInterval(timer);
  noteBest();
  show();
  showScore();
  const words = (root.dataset.result ?? "").replace("{n}", String(solved)).replace("{best}", String(best()[mode] ?? solved));
  setText(find("#rush-said"), `${why} ${words}`.trim());
  announce(words);
  find("#rush-end").hidden = false;
  find("#rush-missed").replaceChildren(
    ...missed.map((id, index) => el("li", {}, el("a", { href: `/puzzle/${id}` }, `${root.dataset.missed ?? ""} ${index + 1}`))),
  );
  find("#rush-again").focus();
}

let timer = 0;

/** @param {Mode} chosen */
function begin(chosen) {
  mode = chosen;
  until = mode === "minutes" ? performance.now() + RUSH_MS : Infinity;
  find("#rush-start").hidden = true;
  find("#rush-play").hidden = false;
  timer = window.setInterval(() => {
    showScore();
    if (isOver() && status !== "busy") end();
  }, 200);
  showScore();
  next();
}

prefetch();
root.addEventListener("column", (event) => play(/** @type {CustomEvent<number>} */ (event).detail));
for (const kind of /** @type {Mode[]} */ (["minutes", "lives"])) {
  find(`#rush-${kind}`).addEventListener("click", () => begin(kind));
  const most = best()[kind];
  if (most) setText(find(`#rush-${kind} .rush-best`), `★ ${most}`);
}
document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) board.choose(Number(event.key));
});
