// The desk at which a study is made or changed: a line that is played on the board, and a comment on each position.

import { call, handle, Problem } from "./account-call.js";
import { BoardElement } from "./board.js";
import { find, setText } from "./dom.js";
import { goTo as lineAt, isOver, play, printMoves, shownMoves } from "./line.js";
import { parseMoves, parseVariant, winningLine } from "./rules.js";
import "./shell.js";
import { showMoves, showRange, steer } from "./study-moves.js";

/** @typedef {{ ply: number, text: string }} Comment */

const root = find("#study-desk");
const board = /** @type {BoardElement} */ (find("ff-board", root));
const note = /** @type {HTMLTextAreaElement} */ (find("#study-note"));
const words = find("#study-form").dataset;
/** @type {{ id: string | null, version: number | null, variant: string, moves: string, start: number, comments: Comment[] }} */
const draft = JSON.parse(root.dataset.draft ?? "{}");
const variant = parseVariant(draft.variant);
const beginning = root.dataset.beginning ?? "";

let line = { variant: draft.variant, moves: parseMoves(draft.moves), ply: draft.start };
let start = draft.start;
/** What is said of each position. */
const comments = new Map(draft.comments.map(({ ply, text }) => [ply, text]));
/** Whether something is there that is not stored. */
let isChanged = false;

const isSaid = (/** @type {number} */ ply) => (comments.get(ply) ?? "").trim() !== "";

function show() {
  const moves = shownMoves(line);
  const over = isOver(line);
  board.show({ variant, moves, line: winningLine(variant, moves), seated: !over, playable: !over, pending: null });
  root.dataset.ply = String(line.ply);
  root.dataset.moves = printMoves(line.moves);
  showRange({ ...line, start });
  showMoves(find("#study-moves"), { ...line, start, beginning, isSaid });
  /** @type {HTMLButtonElement} */ (find("#begin-here")).disabled = line.ply === start;
  /** @type {HTMLButtonElement} */ (find("#end-here")).disabled = line.ply === line.moves.length;
}

/** @param {number} ply */
function goTo(ply) {
  line = lineAt(line, Math.max(start, ply));
  note.value = comments.get(line.ply) ?? "";
  show();
}

/** What was said of positions behind one is meant no more. @param {number} last */
function forgetBehind(last) {
  for (const ply of [...comments.keys()]) if (ply > last) comments.delete(ply);
}

root.addEventListener("column", (event) => {
  const column = /** @type {CustomEvent<number>} */ (event).detail;
  const isNext = line.moves[line.ply] === column;
  const next = play(line, column);
  if (next === line) return;
  if (!isNext) forgetBehind(line.ply);
  isChanged ||= !isNext;
  line = next;
  note.value = comments.get(line.ply) ?? "";
  show();
});
steer((by) => goTo(line.ply + by), goTo);
note.addEventListener("input", () => {
  comments.set(line.ply, note.value);
  isChanged = true;
  showMoves(find("#study-moves"), { ...line, start, beginning, isSaid });
});
find("#begin-here").addEventListener("click", () => {
  start = line.ply;
  for (const ply of [...comments.keys()]) if (ply < start) comments.delete(ply);
  isChanged = true;
  show();
});
find("#end-here").addEventListener("click", () => {
  forgetBehind(line.ply);
  line = { ...line, moves: shownMoves(line) };
  isChanged = true;
  show();
});
addEventListener("beforeunload", (event) => {
  if (isChanged) event.preventDefault();
});

/** What a refusal means here, as the page says it. @type {Record<string, string | undefined>} */
const PROBLEMS = {
  "bad_field title": words.badTitle,
  "bad_field comments": words.badComment,
  conflict: draft.id ? words.changed : words.tooMany,
};

handle("#study-form", async ({ title, listed }) => {
  const said = [...comments].map(([ply, text]) => ({ ply, text: text.trim() })).filter(({ text }) => text !== "");
  const body = {
    title,
    variant: draft.variant,
    moves: printMoves(line.moves),
    start,
    comments: said.sort((one, other) => one.ply - other.ply),
    listed: listed === "on",
    ...(draft.id && { version: draft.version }),
  };
  try {
    const { id } = draft.id
      ? await call("PUT", `/api/v1/studies/${draft.id}`, body)
      : await call("POST", "/api/v1/studies", body);
    isChanged = false;
    location.assign(`/study/${id}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const meant = PROBLEMS[error.field ? `${error.code} ${error.field}` : error.code];
    if (meant) error.message = meant;
    throw error;
  }
});
note.value = comments.get(line.ply) ?? "";
setText(find(".problem", root), "");
show();
