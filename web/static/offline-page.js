// A game against the bot in this page, without the arena.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { find, setText } from "./dom.js";
import { chooseColumn } from "./offline-bot.js";
import { landingRow, parseVariant, sideToMove, winningLine } from "./rules.js";
import * as sound from "./sound.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** How long the bot seems to think, in milliseconds: a stone has landed by then. */
const THINK_MS = 650;

const variant = parseVariant("7x6");
const root = find("#offline");
const board = /** @type {BoardElement} */ (find("ff-board", root));

/** @type {number[]} */
let moves = [];
/** The side of the person, who begins every other game. @type {"first" | "second"} */
let you = "first";
let timer = 0;

/**
 * How the game stands: what is said, and how it ended for the person.
 * @returns {{ line: import("../types/protocol").CellNumbers[] | null, words: string, how: "won" | "lost" | "even" | null }}
 */
function state() {
  const line = winningLine(variant, moves);
  if (line) {
    const wins = sideToMove(moves.length - 1) === you;
    return { line, words: text(wins ? "game.you_win" : "offline.bot_wins"), how: wins ? "won" : "lost" };
  }
  const isFull = moves.length === variant.width * variant.height;
  if (isFull) return { line, words: text("game.draw"), how: "even" };
  const isMine = sideToMove(moves.length) === you;
  return { line, words: text(isMine ? "game.your_turn" : "offline.bot_thinks"), how: null };
}

function show() {
  const { line, words, how } = state();
  const isOver = how !== null;
  const playable = !isOver && sideToMove(moves.length) === you;
  board.show({ variant, moves, line, seated: !isOver, playable, pending: null });
  setText(find("#offline-status"), words);
  root.dataset.ply = String(moves.length);
  root.dataset.turn = isOver ? "none" : playable ? "yours" : "theirs";
  if (how) sound.end(how);
  if (isOver || playable) announce(words);
  if (!isOver && !playable) timer = window.setTimeout(reply, THINK_MS);
}

/** @param {number} column */
function play(column) {
  const row = landingRow(variant, moves, column);
  const side = sideToMove(moves.length);
  moves = [...moves, column];
  announce(side === you ? text("game.played_you", { column }) : text("game.played", { color: COLOR[side], column }));
  show();
  sound.drop(side, row, board.landsIn);
}

function reply() {
  const level = /** @type {HTMLInputElement} */ (find('input[name="level"]:checked', root)).value;
  play(chooseColumn(variant, moves, Number(level), Math.random));
}

root.addEventListener("column", (event) => play(/** @type {CustomEvent<number>} */ (event).detail));
find("#offline-new").addEventListener("click", () => {
  clearTimeout(timer);
  if (moves.length > 0) you = you === "first" ? "second" : "first";
  moves = [];
  show();
});
document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) board.choose(Number(event.key));
});
show();
