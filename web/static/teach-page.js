// A pattern memory that the visitor teaches: a blank one that plays, says what decided its moves, and shows what it
// learnt of each game. What it knows is kept in the browser and sent along with each question.

import { Problem, call } from "./account-call.js";
import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { el, find, setText } from "./dom.js";
import { patternBoard } from "./pattern.js";
import { landingRow, other, parseVariant, sideToMove, winningLine } from "./rules.js";
import "./shell.js";
import * as sound from "./sound.js";
import { count, text } from "./texts.js";

/** @typedef {{ pattern: string, seen: number, won: number, lost: number }} Pattern */
/** @typedef {{ column: number, ground: "response" | "ending" | "pattern" | "random", pattern: Pattern | null }} Move */
/** @typedef {{ memory: string, changed: Pattern[], new: string[], patterns: Pattern[] }} Taught */
/**
 * What is kept of the bot.
 * @typedef {object} Learner
 * @property {string | null} memory what it knows, as the server gave it out
 * @property {number[]} score games that the visitor won, drew and lost
 * @property {Pattern[]} patterns
 */

/** Where it is kept. */
const KEY = "memory";
/** How long it seems to think, in milliseconds: a stone has landed by then. */
const THINK_MS = 650;
/** After how long it is asked again when no answer came, in milliseconds. */
const AGAIN_MS = 3_000;
/** Patterns that are drawn, the most often seen first. */
const DRAWN_MAX = 60;
/** Seeds are below this. */
const SEEDS = 2 ** 32;
/** What is said of what decided a move. */
const GROUNDS = {
  response: "teach.ground_response",
  ending: "teach.ground_ending",
  pattern: "teach.ground_pattern",
  random: "teach.ground_random",
};

const variant = parseVariant("7x6");
const root = find("#teach");
const board = /** @type {BoardElement} */ (find("ff-board", root));

const drawSeed = () => Math.floor(Math.random() * SEEDS);
/** @returns {Learner} */
const blank = () => ({ memory: null, score: [0, 0, 0], patterns: [] });

/** @type {number[]} */
let moves = [];
/** The visitor's side. @type {"first" | "second"} */
let you = "first";
/** The number of the game: an answer that comes after the next one has begun is not for it. */
let game = 0;
/** Decides between moves that it holds equal: another one each game, so that what it does not know it does not repeat. */
let seed = drawSeed();
let learner = recall();
/** Ends when it has learnt the last game: it plays the next one with what it knows then. @type {Promise<void>} */
let lesson = Promise.resolve();

/** Storage may be forbidden, or hold what somebody else wrote there; then it is a blank one. @returns {Learner} */
function recall() {
  try {
    const { memory, score, patterns } = JSON.parse(localStorage.getItem(KEY) ?? "");
    const isScore = Array.isArray(score) && score.length === 3 && score.every(Number.isInteger);
    const isKnown = Array.isArray(patterns) && patterns.every((known) => typeof known?.pattern === "string");
    return typeof memory === "string" && isScore && isKnown ? { memory, score, patterns } : blank();
  } catch {
    return blank();
  }
}

function keep() {
  try {
    localStorage.setItem(KEY, JSON.stringify(learner));
  } catch {
    // It lasts as long as this page.
  }
}

const line = () => winningLine(variant, moves);
const isOver = () => line() !== null || moves.length === variant.width * variant.height;
const isYours = () => !isOver() && sideToMove(moves.length) === you;

/** How the game ended for the visitor: the place in the score. */
function ending() {
  if (!line()) return 1;
  return sideToMove(moves.length + 1) === you ? 0 : 2;
}

function words() {
  if (isOver()) return [text("game.you_win"), text("game.draw"), text("teach.it_wins")][ending()];
  return isYours() ? text("game.your_turn") : text("teach.it_thinks");
}

function show() {
  board.show({ variant, moves, line: line(), seated: !isOver(), playable: isYours(), pending: null });
  setText(find("#teach-status"), words());
  root.dataset.ply = String(moves.length);
  root.dataset.turn = isOver() ? "none" : isYours() ? "yours" : "its";
}

/** @param {Pattern} pattern */
const tile = ({ pattern, seen, won, lost }) =>
  el("li", {}, patternBoard(pattern), el("div", { class: "small number" }, text("learning.counts", { seen, won, lost })));

function showKnown() {
  setText(find("#teach-known-title"), count("learning.patterns_n", learner.patterns.length));
  find("#teach-patterns").replaceChildren(...learner.patterns.slice(0, DRAWN_MAX).map(tile));
  const [won, drawn, lost] = learner.score;
  setText(find("#teach-score"), text("teach.score", { won, drawn, lost }));
  for (const id of ["#teach-save", "#teach-forget"]) /** @type {HTMLButtonElement} */ (find(id)).disabled = learner.memory === null;
}

/** @param {Move} move */
function explain({ column, ground, pattern }) {
  const why = `${text("teach.played", { column })} ${text(GROUNDS[ground])}`;
  const drawn = pattern ? [patternBoard(pattern.pattern)] : [];
  const { seen = 0, won = 0, lost = 0 } = pattern ?? {};
  // Three of its own it goes on with though it has never met them.
  const counts = seen > 0 ? [el("div", { class: "soft small" }, text("learning.counts", { seen, won, lost }))] : [];
  find("#teach-why").replaceChildren(...drawn, el("div", {}, el("p", {}, why), ...counts));
  announce(why);
}

/** @param {number} column */
function play(column) {
  const row = landingRow(variant, moves, column);
  const side = sideToMove(moves.length);
  moves = [...moves, column];
  show();
  sound.drop(side, row, board.landsIn, { column, width: variant.width });
  if (isOver()) lesson = finish();
  else if (!isYours()) reply();
}

async function reply() {
  const asked = game;
  const thinking = new Promise((resolve) => setTimeout(resolve, THINK_MS));
  await lesson;
  const { memory } = learner;
  const question = call("POST", "/api/v1/memory/move", { memory, seed, moves: moves.join("") });
  try {
    const [/** @type {Move} */ move] = await Promise.all([question, thinking]);
    if (asked !== game) return;
    explain(move);
    play(move.column);
  } catch (error) {
    if (asked !== game) return;
    fail(error);
    // What it knows may be unreadable, and stays so; all else passes.
    const isLasting = error instanceof Problem && error.field;
    if (!isLasting) setTimeout(() => asked === game && reply(), AGAIN_MS);
  }
}

async function finish() {
  const how = ending();
  sound.end(/** @type {const} */ (["won", "even", "lost"])[how]);
  if (how === 0) board.celebrate(you);
  announce(words());
  const [finished, taughtOne] = [game, learner];
  try {
    const question = { memory: learner.memory, moves: moves.join(""), side: other(you) };
    /** @type {Taught} */
    const taught = await call("POST", "/api/v1/memory/game", question);
    if (learner !== taughtOne) return; // forgotten, or another one loaded meanwhile
    const score = learner.score.map((games, place) => games + (place === how ? 1 : 0));
    learner = { ...learner, memory: taught.memory, patterns: taught.patterns, score };
    keep();
    showKnown();
    showLesson(taught);
  } catch (error) {
    if (finished === game) fail(error);
  }
}

/** @param {Taught} taught */
function showLesson({ changed, new: fresh }) {
  find("#teach-lesson").hidden = false;
  const said = changed.length > 0 ? text("teach.changed", { n: changed.length, new: fresh.length }) : text("teach.unchanged");
  setText(find("#teach-changed"), said);
  const isFresh = (/** @type {Pattern} */ { pattern }) => fresh.includes(pattern);
  const order = [...changed.filter(isFresh), ...changed.filter((pattern) => !isFresh(pattern))];
  find("#teach-changes").replaceChildren(...order.slice(0, DRAWN_MAX).map(tile));
}

/** @param {unknown} error */
function fail(error) {
  const { message } = error instanceof Problem ? error : new Problem({});
  find("#teach-why").replaceChildren(el("p", { class: "problem" }, message));
  announce(message);
}

/** @param {"first" | "second"} side of the visitor */
function begin(side) {
  game += 1;
  seed = drawSeed();
  you = side;
  moves = [];
  find("#teach-why").replaceChildren();
  show();
  if (!isYours()) reply();
}

async function save() {
  try {
    const { xml } = await call("POST", "/api/v1/memory/file", { memory: learner.memory });
    const url = URL.createObjectURL(new Blob([xml], { type: "application/xml" }));
    el("a", { href: url, download: "memory.xml" }).click();
    URL.revokeObjectURL(url);
  } catch (error) {
    fail(error);
  }
}

/** @param {Event} event */
async function load({ currentTarget }) {
  const input = /** @type {HTMLInputElement} */ (currentTarget);
  const file = input.files?.[0];
  if (!file) return;
  try {
    /** @type {Taught} */
    const { memory, patterns } = await call("POST", "/api/v1/memory/load", { xml: await file.text() });
    learner = { ...blank(), memory, patterns };
    keep();
    restart();
  } catch (error) {
    fail(error);
  }
  input.value = "";
}

/** Another bot sits down. */
function restart() {
  find("#teach-lesson").hidden = true;
  showKnown();
  begin("first");
}

function forget() {
  if (!confirm(text("teach.forget_sure"))) return;
  learner = blank();
  try {
    localStorage.removeItem(KEY);
  } catch {
    // There was nothing to remove.
  }
  restart();
}

root.addEventListener("column", (event) => play(/** @type {CustomEvent<number>} */ (event).detail));
find("#teach-new").addEventListener("click", () => begin("first"));
find("#teach-other").addEventListener("click", () => begin("second"));
find("#teach-save").addEventListener("click", save);
find("#teach-load").addEventListener("change", load);
find("#teach-forget").addEventListener("click", forget);
document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) board.choose(Number(event.key));
});
showKnown();
show();
