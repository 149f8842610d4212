// A study to read: through its line by buttons and keys, with what is said of each position and what it is worth.

import { call, Problem } from "./account-call.js";
import { BoardElement } from "./board.js";
import { find, setText } from "./dom.js";
import { address, isOver, mirror, shownMoves } from "./line.js";
import { OpeningName } from "./opening-names.js";
import { outlook, outlookWords } from "./outlook.js";
import { fetchPosition } from "./positions.js";
import { parseMoves, parseVariant, winningLine } from "./rules.js";
import "./shell.js";
import { copy } from "./start.js";
import { showMoves, showRange, steer } from "./study-moves.js";
import { text } from "./texts.js";

const root = find("#study");
const board = /** @type {BoardElement} */ (find("ff-board", root));
const start = Number(root.dataset.start);
const variant = parseVariant(root.dataset.variant ?? "7x6");
const opening = new OpeningName(root);
/** @type {{ ply: number, text: string }[]} */
const comments = JSON.parse(root.dataset.comments ?? "[]");
const beginning = root.dataset.beginning ?? "";

let line = { variant: root.dataset.variant ?? "7x6", moves: parseMoves(root.dataset.moves ?? ""), ply: start };
/** Ends the question about a position that is not on the board any more. */
let asked = new AbortController();

/** @param {number} ply */
const said = (ply) => comments.find((comment) => comment.ply === ply)?.text ?? "";

function show() {
  const moves = shownMoves(line);
  board.show({ variant, moves, line: winningLine(variant, moves), seated: false, playable: false, pending: null });
  root.dataset.ply = String(line.ply);
  setText(find("#study-comment"), said(line.ply));
  opening.show(variant, moves);
  find("#study-analyse").setAttribute("href", address(line));
  showRange({ ...line, start });
  showMoves(find("#study-moves"), { ...line, start, beginning, isSaid: (ply) => said(ply) !== "" });
  tellValue();
}

async function tellValue() {
  asked.abort();
  asked = new AbortController();
  const { signal } = asked;
  const place = find("#study-value");
  const { ply } = line;
  if (isOver(line)) return setText(place, "");
  try {
    const moves = shownMoves(line).map((column) => column.toString(36)).join("");
    const position = await fetchPosition(line.variant, moves, signal, () => setText(place, text("analysis.computing")));
    if (signal.aborted) return;
    const words = position.score === null ? text("analysis.unknown") : outlookWords(outlook(variant, ply, position.score));
    setText(place, words);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** @param {number} ply */
function goTo(ply) {
  line = { ...line, ply: Math.min(line.moves.length, Math.max(start, ply)) };
  show();
}

/** Asks once more before it goes: the second press means it. */
async function remove() {
  const button = find("#study-delete");
  if (!button.dataset.asked) {
    button.dataset.asked = "yes";
    setText(find("span", button), button.dataset.sure ?? "");
    return;
  }
  try {
    await call("DELETE", `/api/v1/studies/${root.dataset.id}`);
    location.assign("/studies");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    setText(find(".problem", root), error.message);
  }
}

steer((by) => goTo(line.ply + by), goTo);
find("#mirror").addEventListener("click", () => {
  line = mirror(line);
  show();
});
find("#copy-link").addEventListener("click", () => copy(find("#copy-link"), location.href));
document.querySelector("#study-delete")?.addEventListener("click", remove);
show();
