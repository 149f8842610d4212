// The mistakes of a finished game as puzzles: the position before each, to be played better. What a column is worth, the
// solver has said or is asked; a wrong one is answered on the board.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { el, find, icon, setText } from "./dom.js";
import { discIcon } from "./drawing.js";
import { address, lineOf } from "./line.js";
import * as sound from "./sound.js";
import { missed } from "./story.js";
import { text } from "./texts.js";
import { Trial } from "./trial.js";

/** @typedef {import("../types/review").Review} Review */
/** @typedef {import("../types/review").ReviewedPly} ReviewedPly */
/** @typedef {import("../types/position").Position} Position */
/** @typedef {import("./trial.js").Status} Status */

/**
 * Opens the puzzles over the page.
 * @param {Review} review
 * @param {ReviewedPly[]} mistakes at least one
 * @param {string} title
 */
export function playMistakes(review, mistakes, title) {
  const puzzles = new Mistakes(review, mistakes, title);
  document.body.append(puzzles.dialog);
  puzzles.dialog.showModal();
  puzzles.begin(0);
}

class Mistakes {
  /** The mistake on show. */
  #index = 0;
  /** Whether a wrong column was tried here, or the solution shown. */
  #helped = false;
  /** Mistakes that were mended at the first try. @type {Set<number>} */
  #mended = new Set();

  /**
   * @param {Review} review
   * @param {ReviewedPly[]} mistakes
   * @param {string} title
   */
  constructor(review, mistakes, title) {
    this.review = review;
    this.mistakes = mistakes;
    this.board = /** @type {BoardElement} */ (document.createElement("ff-board"));
    this.board.className = "board";
    const button = (/** @type {string} */ id, /** @type {string} */ picture, /** @type {string} */ label, /** @type {() => void} */ click) =>
      el("button", { type: "button", class: "button", id, click }, icon(picture), el("span", {}, label));
    const close = () => this.dialog.close();
    this.dialog = el(
      "dialog",
      { class: "mistakes", "aria-labelledby": "mistakes-title", close: () => this.#gone(), keydown: (event) => this.#key(event) },
      el(
        "div",
        { class: "spread" },
        el("h2", { id: "mistakes-title" }, title),
        el("span", { class: "soft small number", id: "mistakes-count" }),
        el("button", { type: "button", class: "icon-button", "aria-label": text("share.close"), click: close }, icon("close")),
      ),
      this.board,
      el("div", { class: "mistakes-said" }, el("p", { class: "status-text" }), el("p", { class: "status-detail" })),
      el(
        "div",
        { class: "actions" },
        button("mistakes-again", "undo", text("puzzles.again"), () => this.trial.reopen()),
        button("mistakes-solution", "key", text("puzzles.solution"), () => this.#solve()),
        button("mistakes-next", "next", text("review.next_mistake"), () => this.begin(this.#index + 1)),
        button("mistakes-done", "check", text("share.close"), close),
      ),
      el("a", { class: "small", id: "mistakes-analyse" }, text("analysis.analyse_ply")),
    );
    this.trial = new Trial(this.board, {
      show: (status) => this.#show(status),
      opened: () => this.#say(this.#question(), text("review.was_played", { n: this.#ply.ply, column: this.#ply.column })),
      right: (position, column) => this.#praise(position, column),
      wrong: (position, column) => this.#blame(position, column),
      solved: (position, column) => this.#showSolved(position, column),
      waits: () => setText(find(".status-detail", this.dialog), text("puzzles.checking")),
      failed: () => this.#say(this.#question(), text("puzzles.failed")),
    });
  }

  get #ply() {
    return this.mistakes[this.#index];
  }

  /** The moves of the game before the mistake, as they are written. */
  get #before() {
    return this.review.moves.slice(0, this.#ply.ply - 1);
  }

  /** Shows a mistake's position. @param {number} index */
  begin(index) {
    this.#index = index;
    this.#helped = false;
    this.trial.begin({
      variant: this.review.variant,
      moves: this.#before,
      own: 1,
      isRight: (position, column) => this.#isRight(position, column),
      known: this.#ply.best,
    });
  }

  #gone() {
    this.trial.stop();
    this.dialog.remove();
  }

  /** What is to be found, without saying where. */
  #question() {
    const chance = missed(this.review, this.#ply);
    if (chance) return text(chance.kind === "win" ? "review.ask_now" : "review.ask_block");
    return text(this.#ply.before > 0 ? "review.ask_win" : "review.ask_draw");
  }

  /** @param {Status} status */
  #show(status) {
    const isOpen = status === "open";
    const isDone = status === "right" || status === "shown";
    const isLast = this.#index === this.mistakes.length - 1;
    this.dialog.dataset.status = status;
    setText(find("#mistakes-count", this.dialog), text("review.mistake_of", { n: this.#index + 1, all: this.mistakes.length }));
    const shown = { again: status === "wrong", solution: isOpen || status === "wrong", next: !isLast && status !== "wrong", done: isLast && isDone };
    for (const [name, isShown] of Object.entries(shown)) {
      const button = find(`#mistakes-${name}`, this.dialog);
      button.hidden = !isShown;
      button.classList.toggle("primary", (name === "next" && isDone) || name === "again" || name === "done");
    }
    const analyse = /** @type {HTMLAnchorElement} */ (find("#mistakes-analyse", this.dialog));
    analyse.href = address(lineOf(this.review.variant, this.#before || "-"));
  }

  /**
   * @param {string} words
   * @param {string} detail
   */
  #say(words, detail) {
    find(".status-text", this.dialog).replaceChildren(discIcon(this.#ply.side), words);
    setText(find(".status-detail", this.dialog), detail);
    announce(`${words} ${detail}`);
  }

  /**
   * A win that lies open is to be taken, a line that comes to be stopped; else whatever keeps the result will do.
   * @param {Position} position
   * @param {number} column
   */
  #isRight({ columns, best }, column) {
    if (best?.includes(column)) return true;
    const value = columns?.[column - 1] ?? null;
    return !missed(this.review, this.#ply) && value !== null && Math.sign(value) === Math.sign(this.#ply.before);
  }

  /** @param {Position} position @param {number} column */
  #praise(position, column) {
    if (!this.#helped) this.#mended.add(this.#index);
    const better = position.best?.includes(column) ? "" : ` ${text("review.better", { columns: (position.best ?? []).join(" ") })}`;
    this.#say(text("review.mistake_right", { column }), `${this.trial.worth(position, column)}.${better}${this.#summary()}`);
    sound.end("won");
    this.#onward();
  }

  /** How many were found at once, after the last. */
  #summary() {
    if (this.#index < this.mistakes.length - 1) return "";
    return ` ${text("review.mistakes_done", { n: this.#mended.size, all: this.mistakes.length })}`;
  }

  /** Puts the keyboard on the way on. */
  #onward() {
    const isLast = this.#index === this.mistakes.length - 1;
    find(isLast ? "#mistakes-done" : "#mistakes-next", this.dialog).focus();
  }

  /** Says what a wrong column is worth. @param {Position} position @param {number} column */
  #blame(position, column) {
    this.#helped = true;
    this.#say(text("review.mistake_wrong", { column }), `${this.trial.worth(position, column)}.`);
    find("#mistakes-again", this.dialog).focus();
  }

  #solve() {
    this.#helped = true;
    return this.trial.solve();
  }

  /** @param {Position} position @param {number} column */
  #showSolved(position, column) {
    this.#say(text("review.better", { columns: this.#ply.best.join(" ") }), `${this.trial.worth(position, column)}.${this.#summary()}`);
    this.#onward();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
    this.board.choose(Number(event.key));
    event.preventDefault();
  }
}
