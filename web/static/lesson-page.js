// One lesson: its exercises one after the other, each answer judged by the solver, and a position to play on from.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { el, find, setText } from "./dom.js";
import { noteSolved, solvedOf } from "./progress.js";
import "./shell.js";
import * as sound from "./sound.js";
import { playBot } from "./start.js";
import { count, text } from "./texts.js";
import { markThreats } from "./threat-marks.js";
import { Trial } from "./trial.js";

/** @typedef {import("../types/position").Position} Position */
/**
 * @typedef {object} Exercise
 * @property {string} moves
 * @property {"any" | "fastest" | "keep"} task which columns are right: all, the best, those that keep what can be had
 * @property {number} own
 * @property {string} question
 * @property {string} [praise] said of a right column instead of what it is worth
 */

const root = find("#lesson");
const board = /** @type {BoardElement} */ (find("ff-board", root));
const name = root.dataset.name ?? "";
/** @type {Exercise[]} */
const exercises = JSON.parse(root.dataset.exercises ?? "[]");
/** Nobody looks at a clock who practises, in milliseconds for each move. */
const PRACTICE_MOVE_MS = 900_000;

/** The exercise on show. */
let index = 0;
/** Whether the solution was shown here: then it is not solved. */
let helped = false;

/**
 * @param {string} words
 * @param {string} detail
 */
function say(words, detail) {
  setText(find("#lesson-status"), words);
  setText(find("#lesson-detail"), detail);
  announce(`${words} ${detail}`);
}

/** @param {Position} position @param {number} column */
function isRight({ columns, best }, column) {
  const { task } = exercises[index];
  if (task === "any") return true;
  if (task === "fastest") return best?.includes(column) ?? false;
  const value = columns?.[column - 1] ?? null;
  const kept = columns?.[(best?.[0] ?? 0) - 1] ?? null;
  return value !== null && kept !== null && Math.sign(value) === Math.sign(kept);
}

const trial = new Trial(board, {
  show: (status) => {
    root.dataset.status = status;
    const isLast = index === exercises.length - 1;
    const isDone = status === "right" || status === "shown";
    find("#lesson-again").hidden = status !== "wrong";
    // Where any column is right there is nothing to be shown.
    find("#lesson-solution").hidden = (status !== "open" && status !== "wrong") || exercises[index].task === "any";
    find("#lesson-next").hidden = !isDone || isLast;
    find("#lesson-next").classList.toggle("primary", isDone);
    wayOn()?.classList.toggle("primary", isDone && isLast);
    showSteps();
    showThreats();
  },
  opened: () => say(exercises[index].question, trial.isFirst ? steps() : (root.dataset.onward ?? "")),
  right: (position, column) => {
    if (!helped) noteSolved(name, index);
    showSteps();
    const { task, praise } = exercises[index];
    const worth = praise ? `${praise} ` : task === "any" ? "" : `${trial.worth(position, column)}. `;
    say(text("review.mistake_right", { column }), `${worth}${ending()}`);
    sound.end("won");
    onward();
  },
  wrong: (position, column) => {
    const isSlower = (position.columns?.[column - 1] ?? 0) > 0;
    say(text("review.mistake_wrong", { column }), isSlower ? text("lessons.slower") : `${trial.worth(position, column)}.`);
    find("#lesson-again").focus();
  },
  solved: (position, column) => {
    say(text("review.better", { columns: (position.best ?? []).join(" ") }), `${trial.worth(position, column)}. ${ending()}`);
    onward();
  },
  waits: () => setText(find("#lesson-detail"), text("puzzles.checking")),
  failed: () => say(exercises[index].question, text("puzzles.failed")),
});

/** How many moves are to be found, if it is more than one. */
const steps = () => (exercises[index].own > 1 ? count("puzzles.own_moves", exercises[index].own) : "");

/** Where one goes from the last exercise: back to the invitation that one came from, else to the next lesson. */
const wayOn = () => document.getElementById("lesson-back") ?? document.getElementById("lesson-onward");

/** What is said after the last exercise. */
const ending = () => (index === exercises.length - 1 ? (root.dataset.done ?? "") : "");

/** Puts the keyboard on the way on. */
function onward() {
  const next = index < exercises.length - 1 ? find("#lesson-next") : wayOn();
  next?.focus();
}

function showSteps() {
  const solved = solvedOf(name);
  const step = (/** @type {Exercise} */ _, /** @type {number} */ place) =>
    el("li", { class: [solved.includes(place) ? "solved" : "", place === index ? "current" : ""].join(" ").trim() });
  find("#lesson-steps").replaceChildren(...exercises.map(step));
}

/** Where fours may come, in lessons that are about that. */
function showThreats() {
  const list = document.getElementById("lesson-threats");
  if (list) markThreats(board, trial.moves, list);
}

/** @param {number} place */
function begin(place) {
  index = place;
  helped = false;
  // On a small screen what was read before leaves its room to the question and the buttons.
  if (place > 0 && matchMedia("(max-width: 719px)").matches) /** @type {HTMLDetailsElement} */ (find("#lesson-about")).open = false;
  const { moves, own } = exercises[index];
  trial.begin({ variant: "7x6", moves, own, isRight, known: [] });
}

find("#lesson-again").addEventListener("click", () => trial.reopen());
find("#lesson-next").addEventListener("click", () => begin(index + 1));
find("#lesson-solution").addEventListener("click", () => {
  helped = true;
  trial.solve();
});
document.getElementById("lesson-practice")?.addEventListener("click", ({ currentTarget }) => {
  const { bot = "", side, moves = "" } = /** @type {HTMLElement} */ (currentTarget).dataset;
  const time = { bank_ms: null, increment_ms: 0, move_ms: PRACTICE_MOVE_MS };
  playBot(bot, side === "second" ? "second" : "first", time, { variant: "7x6", moves });
});
document.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) board.choose(Number(event.key));
});
const solved = solvedOf(name);
begin(Math.max(0, exercises.findIndex((_, place) => !solved.includes(place))));
