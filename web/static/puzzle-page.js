// One puzzle: what one plays is sent to the arena, which answers with the reply, the end, or why it was wrong. The
// solution is not in the page.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { find, setText } from "./dom.js";
import { landingRow, parseMoves, parseVariant, sideToMove, winningLine } from "./rules.js";
import "./shell.js";
import { copy } from "./start.js";
import * as sound from "./sound.js";
import { count, text } from "./texts.js";
import { COLOR } from "./words.js";

/**
 * @typedef {object} Attempt what the arena says of a move
 * @property {"goes_on" | "solved" | "wrong"} status
 * @property {string} line
 * @property {"win" | "draw" | "loss" | null} value
 * @property {{ streak: number, level: number } | null} you
 */

/** How long after a stone the next one falls by itself, in milliseconds. */
const STEP_MS = 650;

const variant = parseVariant("7x6");
const root = find("#puzzle");
const board = /** @type {BoardElement} */ (find("ff-board", root));
const id = root.dataset.id ?? "";
const start = parseMoves(root.dataset.moves ?? "");
const question = find("#puzzle-status").textContent ?? "";
const task = find("#puzzle-detail").textContent ?? "";

/** What was right so far, with the replies: one's own moves are every other one. @type {number[]} */
let line = [];
/** Stones on show after that: a move that is being checked, a refutation. @type {number[]} */
let beyond = [];
/** @type {"open" | "busy" | "solved" | "wrong" | "shown"} */
let status = "open";
/** What came of each move so far, as it is shared: nobody learns the solution from it. @type {string[]} */
let marks = [];
/** Grows whenever what is on show changes, so that stones that were to fall do not fall into something else. */
let scene = 0;

function show() {
  const moves = [...start, ...line, ...beyond];
  const playable = status === "open";
  const over = status === "solved" || status === "shown";
  board.show({ variant, moves, line: winningLine(variant, moves), seated: !over, playable, pending: null });
  root.dataset.status = status;
  root.dataset.ply = String(moves.length);
  find("#puzzle-again").hidden = status !== "wrong";
  find("#puzzle-hint").hidden = !playable;
  find("#puzzle-solution").hidden = status !== "wrong" && !playable;
  find("#puzzle-next").classList.toggle("primary", over);
  // They would give the solution away.
  for (const told of ["puzzle-themes", "puzzle-game", ...(status === "solved" ? ["puzzle-share"] : [])]) {
    const shown = document.getElementById(told);
    if (shown && over) shown.hidden = false;
  }
}

/**
 * @param {string} words
 * @param {string} detail
 */
function say(words, detail) {
  setText(find("#puzzle-status"), words);
  setText(find("#puzzle-detail"), detail);
  announce(`${words} ${detail}`);
}

/** @param {number[]} moves */
const notation = (moves) => moves.map((column) => column.toString(36)).join("");
const ownMoves = () => line.filter((_, index) => index % 2 === 0);

/**
 * @param {"attempts" | "hints" | "solution"} what
 * @param {object} [body]
 * @returns {Promise<any>}
 */
async function ask(what, body = {}) {
  const response = await fetch(`/api/v1/puzzles/${encodeURIComponent(id)}/${what}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${what}: ${response.status}`);
  return response.json();
}

/** Lets stones fall one after the other; ends early if something else is on show by then. @param {number[]} columns */
async function fall(columns) {
  const mine = ++scene;
  for (const column of columns) {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    if (mine !== scene) return false;
    drop(column);
  }
  return mine === scene;
}

/** @param {number} column */
function drop(column) {
  const moves = [...start, ...line, ...beyond];
  const row = landingRow(variant, moves, column);
  announce(text("game.played", { color: COLOR[sideToMove(moves.length)], column }));
  beyond = [...beyond, column];
  show();
  sound.drop(sideToMove(moves.length), row, board.landsIn, { column, width: variant.width });
}

/** @param {number} column */
async function play(column) {
  if (status !== "open") return;
  status = "busy";
  scene += 1;
  const own = [...ownMoves(), column];
  drop(column);
  say(text("puzzles.checking"), "");
  try {
    await answered(await ask("attempts", { moves: notation(own) }), column);
  } catch {
    beyond = [];
    status = "open";
    show();
    say(text("puzzles.failed"), task);
  }
}

/**
 * @param {Attempt} attempt
 * @param {number} column
 */
async function answered(attempt, column) {
  if (attempt.you) showRecord(attempt.you);
  if (attempt.status !== "goes_on") refreshFacts();
  marks = [...marks, attempt.status === "wrong" ? "🟥" : "🟩"];
  if (attempt.status === "wrong") return refuted(attempt, column);
  const known = parseMoves(attempt.line);
  if (attempt.status === "solved") {
    [line, beyond, status] = [known, [], "solved"];
    show();
    say(text("puzzles.solved"), text(root.dataset.goal === "win" ? "puzzles.solved_win" : "puzzles.solved_draw"));
    return sound.end("won");
  }
  if (!(await fall(known.slice(-1)))) return;
  [line, beyond, status] = [known, [], "open"];
  show();
  say(text("puzzles.right"), question);
  board.focusColumns();
}

/**
 * @param {Attempt} attempt
 * @param {number} column
 */
async function refuted({ value, line: refutation }, column) {
  status = "wrong";
  const columns = parseMoves(refutation);
  const why = {
    draw: text("puzzles.wrong_draw", { column }),
    loss: text("puzzles.wrong_loss", { column }),
    none: text("puzzles.wrong", { column }),
  };
  const goesOn = columns.length > 0 ? text("puzzles.refutation", { columns: columns.join(" ") }) : "";
  show();
  say(value === "draw" || value === "loss" ? why[value] : why.none, goesOn);
  find("#puzzle-again").focus();
  await fall(columns);
}

/** @param {{ streak: number, level: number }} you */
function showRecord(you) {
  const streak = you.streak > 0 ? [count("puzzles.streak", you.streak)] : [];
  const words = [...streak, text("puzzles.your_level", { n: you.level })];
  const shown = find("#puzzle-streak");
  setText(shown, words.join(" · "));
  shown.hidden = false;
}

/** How others did, now that one has tried. Guests are not counted, but no page says after that that nobody has tried. */
async function refreshFacts() {
  const response = await fetch(`/api/v1/puzzles/${encodeURIComponent(id)}`).catch(() => null);
  if (!response?.ok) return;
  const { grade, tries, solved } = (await response.json()).puzzle;
  const tried = tries ? [text("puzzles.tried", { solved, tries })] : [];
  setText(find("#puzzle-facts"), [text("puzzles.grade", { n: grade }), ...tried].join(" · "));
}

root.addEventListener("column", (event) => play(/** @type {CustomEvent<number>} */ (event).detail));

find("#puzzle-again").addEventListener("click", () => {
  scene += 1;
  [beyond, status] = [[], "open"];
  show();
  say(question, task);
  board.focusColumns();
});

find("#puzzle-hint").addEventListener("click", async () => {
  try {
    const { columns } = await ask("hints", { moves: notation(ownMoves()) });
    marks = [...marks, "💡"];
    say(question, text("puzzles.hint_is", { a: columns[0], b: columns[1] }));
  } catch {
    say(question, text("puzzles.failed"));
  }
});

find("#puzzle-solution").addEventListener("click", async () => {
  scene += 1;
  try {
    const solution = parseMoves((await ask("solution")).line);
    [line, beyond, status] = [[], [], "shown"];
    show();
    refreshFacts();
    say(text("puzzles.solution_is"), solution.join(" "));
    find("#puzzle-next").focus();
    await fall(solution);
  } catch {
    say(question, text("puzzles.failed"));
  }
});

document.getElementById("puzzle-share")?.addEventListener("click", ({ currentTarget }) => {
  const title = `Fourfold · ${find("h1").textContent?.trim()} · ${new Date().toISOString().slice(0, 10)}`;
  const words = `${title}\n${marks.join("")}\n${new URL("/puzzles/daily", location.href)}`;
  if ("share" in navigator) navigator.share({ text: words }).catch(() => {});
  else copy(/** @type {HTMLElement} */ (currentTarget), words);
});

document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) board.choose(Number(event.key));
});
show();
