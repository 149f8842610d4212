// A rush: one puzzle after the other, each harder, for three minutes or until three are missed. The arena hands them out,
// judges what one plays and stops the clock; this page shows it, and keeps one's best in the browser.

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
/** @typedef {{ number: number, moves: string, goal: "win" | "draw" }} Puzzle */
/** @typedef {{ id: string | null, status: "goes_on" | "solved" | "wrong", line: string }} Answered */
/**
 * @typedef {{ run: string, kind: Mode, solved: number, missed: string[], left_ms: number | null, over: boolean,
 *   puzzle: Puzzle | null, answered: Answered | null, rank_today: number | null }} Run
 */

/** Misses after which the kind without a clock is over. */
const LIVES = 3;
/** How long a miss stays on the board, in milliseconds. */
const MISS_MS = 900;
/** How long after one's move the reply falls, in milliseconds: quicker than elsewhere, for the clock runs. */
const REPLY_MS = 350;
/** How long after the time is up the arena still waits for what is on its way, in milliseconds, and a little. */
const SETTLED_MS = 1000;
const KEY = "rush";

const variant = parseVariant("7x6");
const root = find("#rush");
const board = /** @type {BoardElement} */ (find("ff-board", root));

/** As the arena said it last. @type {Run | null} */
let run = null;
/** When the time is up, by the clock of the page. */
let until = Infinity;
/** What is on the board; the run may be a puzzle ahead. @type {Puzzle | null} */
let puzzle = null;
/** What was right in the puzzle so far, with the replies. @type {number[]} */
let line = [];
/** @type {"ready" | "open" | "busy" | "over"} */
let status = "ready";

/** @param {number[]} beyond */
function show(beyond = []) {
  const moves = [...parseMoves(puzzle?.moves || "-"), ...line, ...beyond];
  root.dataset.status = status;
  root.dataset.shown = printMoves(moves);
  board.show({ variant, moves, line: winningLine(variant, moves), seated: status === "open", playable: status === "open", pending: null });
  return moves;
}

function showScore() {
  setText(find("#rush-score"), String(run?.solved ?? 0));
  const missed = Math.min(LIVES, run?.missed.length ?? 0);
  const lives = "●".repeat(LIVES - missed) + "○".repeat(missed);
  setText(find("#rush-left"), run?.kind === "lives" ? lives : clockFace(Math.max(0, until - performance.now())));
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

/** @param {Mode} mode @param {number} solved */
function noteBest(mode, solved) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...best(), [mode]: Math.max(solved, best()[mode] ?? 0) }));
  } catch {
    // It is not kept, then.
  }
}

/**
 * @param {string} path below the runs
 * @param {object} [body] of what changes something
 * @returns {Promise<Run | null>} null if the run is gone
 */
async function ask(path, body) {
  const headers = { "Content-Type": "application/json" };
  const said = body ? { method: "POST", headers, body: JSON.stringify(body) } : {};
  const response = await fetch(`/api/v1/puzzles/runs${path}`, said);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(`run: ${response.status}`);
  /** @type {Run} */
  const now = await response.json();
  if (now.left_ms !== null) until = performance.now() + now.left_ms;
  return now;
}

const timeIsUp = () => performance.now() >= until;

function next() {
  if (!run?.puzzle || timeIsUp()) return end();
  [puzzle, line, status] = [run.puzzle, [], "open"];
  root.dataset.number = String(puzzle.number);
  const side = sideToMove(show().length);
  const question = text(puzzle.goal === "win" ? "puzzles.find_win" : "puzzles.find_draw", { color: COLOR[side] });
  find("#rush-said").replaceChildren(discIcon(side), question);
  announce(question);
  board.focusColumns();
}

/** @param {number} ms */
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @param {number} column */
async function play(column) {
  if (status !== "open" || !puzzle || !run) return;
  if (timeIsUp()) return end();
  status = "busy";
  const moves = show([column]);
  const side = sideToMove(moves.length - 1);
  sound.drop(side, landingRow(variant, moves.slice(0, -1), column), board.landsIn, { column, width: variant.width });
  const own = [...line.filter((_, index) => index % 2 === 0), column];
  /** @type {Run | null} */
  let now;
  try {
    now = await ask(`/${run.run}/moves`, { number: puzzle.number, moves: printMoves(own) });
  } catch {
    return end(text("puzzles.failed"));
  }
  if (isCut()) return;
  if (!now) return end(root.dataset.ended);
  run = now;
  if (now.answered?.status === "goes_on") {
    await wait(REPLY_MS);
    if (isCut()) return;
    [line, status] = [parseMoves(now.answered.line), "open"];
    show();
    return board.focusColumns();
  }
  if (now.answered) await judged(now.answered.status === "solved", column);
  if (!isCut()) next();
}

/** Whether the time ran out while something was waited for. */
const isCut = () => status === "over";

/**
 * @param {boolean} right
 * @param {number} column
 */
async function judged(right, column) {
  if (right) {
    sound.end("won");
  } else {
    root.dataset.miss = "";
    announce(text("puzzles.wrong", { column }));
  }
  showScore();
  await wait(right ? REPLY_MS : MISS_MS);
  delete root.dataset.miss;
}

/** @param {string} [why] if it could not go on */
function end(why = "") {
  if (status === "over" || !run) return;
  status = "over";
  clearInterval(timer);
  noteBest(run.kind, run.solved);
  show();
  showEnd(why, run);
  find("#rush-end").hidden = false;
  find("#rush-again").focus();
  if (!run.over) settle(why, run.run);
}

/** @param {string} why @param {Run} ended */
function showEnd(why, ended) {
  showScore();
  const words = [why, (root.dataset.result ?? "").replace("{n}", String(ended.solved)).replace("{best}", String(best()[ended.kind] ?? ended.solved))];
  if (ended.rank_today !== null) words.push((root.dataset.rank ?? "").replace("{n}", String(ended.rank_today)));
  setText(find("#rush-said"), words.join(" ").trim());
  announce(words.join(" "));
  find("#rush-missed").replaceChildren(
    ...ended.missed.map((id, index) => el("li", {}, el("a", { href: `/puzzle/${id}` }, `${root.dataset.missed ?? ""} ${index + 1}`))),
  );
  /** @type {HTMLAnchorElement} */ (find("#rush-places")).href = `/puzzles/rush/board?kind=${ended.kind}&period=day`;
}

/** Asks what the arena has counted, once it waits for nothing more. @param {string} why @param {string} id */
async function settle(why, id) {
  await wait(SETTLED_MS);
  const settled = await ask(`/${id}`).catch(() => null);
  if (!settled?.over) return;
  run = settled;
  noteBest(settled.kind, settled.solved);
  showEnd(why, settled);
}

let timer = 0;

/** @param {Mode} kind */
async function begin(kind) {
  if (run) return;
  const buttons = /** @type {HTMLButtonElement[]} */ ([find("#rush-minutes"), find("#rush-lives")]);
  for (const button of buttons) button.disabled = true;
  try {
    run = await ask("", { kind });
  } catch {
    run = null;
  }
  find("#rush-failed").hidden = run !== null;
  for (const button of buttons) button.disabled = false;
  if (!run) return;
  find("#rush-start").hidden = true;
  find("#rush-play").hidden = false;
  timer = window.setInterval(() => {
    showScore();
    if (timeIsUp() && status !== "busy") end();
  }, 200);
  showScore();
  next();
}

root.addEventListener("column", (event) => play(/** @type {CustomEvent<number>} */ (event).detail));
for (const kind of /** @type {Mode[]} */ (["minutes", "lives"])) {
  find(`#rush-${kind}`).addEventListener("click", () => begin(kind));
  const most = best()[kind];
  if (most) setText(find(`#rush-${kind} .rush-best`), `★ ${most}`);
}
document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) board.choose(Number(event.key));
});
