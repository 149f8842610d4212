// A game without the arena: against the bot in this page, or between two people at one device, with the score of their
// series.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { find, setText } from "./dom.js";
import { chooseColumn } from "./offline-bot.js";
import { landingRow, other, parseVariant, sideToMove, winningLine } from "./rules.js";
import * as sound from "./sound.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** How long the bot seems to think, in milliseconds: a stone has landed by then. */
const THINK_MS = 650;
/** Where the names of two people are kept. */
const NAMES = "two";

const variant = parseVariant("7x6");
const root = find("#offline");
const board = /** @type {BoardElement} */ (find("ff-board", root));
const people = find("#offline-two", root);
const names = /** @type {HTMLInputElement[]} */ ([...people.querySelectorAll("input")]);

/** @type {number[]} */
let moves = [];
/** The side of the person, or of the first of two, who begins every other game. @type {"first" | "second"} */
let you = "first";
let timer = 0;
/** Games won by the first of two people, and by the second: a draw is half a game for each. */
let score = [0, 0];

/** Whether two people play. */
const isForTwo = () => chosen() === "two";
const chosen = () => /** @type {HTMLInputElement} */ (find('input[name="level"]:checked', root)).value;

/** What one of two people is called. @param {number} index */
const nameOf = (index) => names[index].value.trim() || text("offline.player", { n: index + 1 });

/** Who has a side, of two people. @param {"first" | "second"} side */
const ownerOf = (side) => (side === you ? 0 : 1);

/**
 * How the game stands: what is said, and how it ended for the person.
 * @returns {{ line: import("../types/protocol").CellNumbers[] | null, words: string, how: "won" | "lost" | "even" | null }}
 */
function state() {
  const line = winningLine(variant, moves);
  const last = sideToMove(moves.length + 1);
  if (line && isForTwo()) return { line, words: text("game.wins", { name: nameOf(ownerOf(last)) }), how: "won" };
  if (line) return { line, words: text(last === you ? "game.you_win" : "offline.bot_wins"), how: last === you ? "won" : "lost" };
  const isFull = moves.length === variant.width * variant.height;
  if (isFull) return { line, words: text("game.draw"), how: "even" };
  const next = sideToMove(moves.length);
  if (isForTwo()) return { line, words: text("game.to_move", { name: nameOf(ownerOf(next)) }), how: null };
  return { line, words: text(next === you ? "game.your_turn" : "offline.bot_thinks"), how: null };
}

function show() {
  const { line, words, how } = state();
  const isOver = how !== null;
  const playable = !isOver && (isForTwo() || sideToMove(moves.length) === you);
  board.show({ variant, moves, line, seated: !isOver, playable, pending: null });
  setText(find("#offline-status"), words);
  root.dataset.ply = String(moves.length);
  root.dataset.turn = isOver ? "none" : playable ? "yours" : "theirs";
  if (isOver || playable) announce(words);
  if (!isOver && !playable) timer = window.setTimeout(reply, THINK_MS);
  showScore();
}

function showScore() {
  people.hidden = !isForTwo();
  const [a, b] = score;
  setText(find("#offline-score"), text("offline.score", { first: nameOf(0), second: nameOf(1), a, b }));
}

/** @param {number} column */
function play(column) {
  const row = landingRow(variant, moves, column);
  const side = sideToMove(moves.length);
  moves = [...moves, column];
  const isMine = side === you && !isForTwo();
  announce(isMine ? text("game.played_you", { column }) : text("game.played", { color: COLOR[side], column }));
  const { how } = state();
  if (how && isForTwo()) count(side, how);
  show();
  sound.drop(side, row, board.landsIn, { column, width: variant.width });
  if (how) sound.end(how);
  if (how === "won") board.celebrate(side);
}

/**
 * @param {"first" | "second"} winner
 * @param {"won" | "lost" | "even"} how
 */
function count(winner, how) {
  if (how === "even") score = score.map((games) => games + 0.5);
  else score[ownerOf(winner)] += 1;
}

function reply() {
  play(chooseColumn(variant, moves, Number(chosen()), Math.random));
}

/** @param {"first" | "second"} side of whoever is the person, or the first of two */
function restart(side) {
  clearTimeout(timer);
  you = side;
  moves = [];
  show();
}

/** Storage may be forbidden; then two people are players 1 and 2 again next time. */
function recall() {
  try {
    JSON.parse(localStorage.getItem(NAMES) ?? "[]").forEach((/** @type {unknown} */ name, /** @type {number} */ index) => {
      if (names[index]) names[index].value = String(name);
    });
  } catch {
    // As if nobody had played here.
  }
}

root.addEventListener("column", (event) => play(/** @type {CustomEvent<number>} */ (event).detail));
find("#offline-new").addEventListener("click", () => restart(moves.length > 0 ? other(you) : you));
root.addEventListener("change", (event) => {
  const { name } = /** @type {HTMLInputElement} */ (event.target);
  if (name === "level") {
    score = [0, 0];
    restart("first");
    return;
  }
  try {
    localStorage.setItem(NAMES, JSON.stringify(names.map((input) => input.value)));
  } catch {
    // They hold for this page at least.
  }
  show();
});
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof HTMLInputElement && event.target.type === "text";
  if (/^[1-9]$/.test(event.key) && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) board.choose(Number(event.key));
});
recall();
if (location.hash === "#two") /** @type {HTMLInputElement} */ (find('input[name="level"][value="two"]', root)).checked = true;
show();
