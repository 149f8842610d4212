// The mistakes of a finished game as puzzles: the position before each, to be played better. What a column is worth, the
// solver has said or is asked; a wrong one is answered on the board.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { el, find, icon, setText } from "./dom.js";
import { discIcon } from "./drawing.js";
import { address, lineOf, printMoves } from "./line.js";
import { outlook, outlookWords } from "./outlook.js";
import { fetchPosition } from "./positions.js";
import { landingRow, parseMoves, parseVariant, winningLine } from "./rules.js";
import * as sound from "./sound.js";
import { missed } from "./story.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("../types/review").Review} Review */
/** @typedef {import("../types/review").ReviewedPly} ReviewedPly */
/** @typedef {import("../types/position").Position} Position */
/** @typedef {"open" | "busy" | "wrong" | "right" | "shown"} Status */

/** How long after a stone the next one falls by itself, in milliseconds. */
const STEP_MS = 650;
/** So many stones of the answer to a wrong column are shown: enough to see the line come. */
const ANSWER_MAX = 5;

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
  /** Aborted whenever another position is on show, so that answers come only where they were asked for. */
  #asked = new AbortController();
  /** The mistake on show. */
  #index = 0;
  /** Stones on show after those of the game. @type {number[]} */
  #beyond = [];
  /** @type {Status} */
  #status = "open";
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
    this.variant = parseVariant(review.variant);
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
        button("mistakes-again", "undo", text("puzzles.again"), () => this.#reopen()),
        button("mistakes-solution", "key", text("puzzles.solution"), () => this.#solve()),
        button("mistakes-next", "next", text("review.next_mistake"), () => this.begin(this.#index + 1)),
        button("mistakes-done", "check", text("share.close"), close),
      ),
      el("a", { class: "small", id: "mistakes-analyse" }, text("analysis.analyse_ply")),
    );
    this.board.addEventListener("column", (event) => this.#try(/** @type {CustomEvent<number>} */ (event).detail));
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
    this.#reopen();
  }

  #gone() {
    this.#asked.abort();
    this.dialog.remove();
  }

  #reopen() {
    this.#asked.abort();
    this.#asked = new AbortController();
    this.#beyond = [];
    this.#show("open");
    this.#say(this.#question(), text("review.was_played", { n: this.#ply.ply, column: this.#ply.column }));
    this.board.focusColumns();
  }

  /** What is to be found, without saying where. */
  #question() {
    const chance = missed(this.review, this.#ply);
    if (chance) return text(chance.kind === "win" ? "review.ask_now" : "review.ask_block");
    return text(this.#ply.before > 0 ? "review.ask_win" : "review.ask_draw");
  }

  /** @param {Status} status */
  #show(status) {
    this.#status = status;
    const moves = [...parseMoves(this.#before || "-"), ...this.#beyond];
    const isOpen = status === "open";
    const isDone = status === "right" || status === "shown";
    const isLast = this.#index === this.mistakes.length - 1;
    this.board.show({ variant: this.variant, moves, line: winningLine(this.variant, moves), seated: !isDone, playable: isOpen, pending: null });
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

  /** One more stone on the board. @param {number} column */
  #drop(column) {
    const moves = [...parseMoves(this.#before || "-"), ...this.#beyond];
    const side = moves.length % 2 === 0 ? "first" : "second";
    announce(text("game.played", { color: COLOR[side], column }));
    this.#beyond = [...this.#beyond, column];
    this.#show(this.#status);
    sound.drop(side, landingRow(this.variant, moves, column), this.board.landsIn);
  }

  /** What a position is worth, as soon as the solver says. @param {number[]} beyond */
  #ask(beyond) {
    const wait = () => setText(find(".status-detail", this.dialog), text("puzzles.checking"));
    return fetchPosition(this.review.variant, this.#before + printMoves(beyond), this.#asked.signal, wait);
  }

  /** @param {number} column */
  async #try(column) {
    if (this.#status !== "open") return;
    const { signal } = this.#asked;
    this.#status = "busy";
    this.#drop(column);
    try {
      const position = await this.#ask([]);
      if (signal.aborted) return;
      if (this.#isRight(position, column)) this.#praise(position, column);
      else await this.#refute(position, column, signal);
    } catch {
      if (signal.aborted) return;
      this.#reopen();
      this.#say(this.#question(), text("puzzles.failed"));
    }
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
  #worth({ columns }, column) {
    const moves = [...parseMoves(this.#before || "-"), column];
    if (winningLine(this.variant, moves)) return text("analysis.won", { color: COLOR[this.#ply.side] });
    const meant = outlook(this.variant, this.#ply.ply - 1, columns?.[column - 1] ?? 0);
    return outlookWords({ ...meant, plies: Math.max(1, meant.plies - 1) });
  }

  /** @param {Position} position @param {number} column */
  #praise(position, column) {
    if (!this.#helped) this.#mended.add(this.#index);
    this.#show("right");
    const better = position.best?.includes(column) ? "" : ` ${text("review.better", { columns: (position.best ?? []).join(" ") })}`;
    this.#say(text("review.mistake_right", { column }), `${this.#worth(position, column)}.${better}${this.#summary()}`);
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

  /**
   * Says what a wrong column is worth, and shows the answer to it.
   * @param {Position} position
   * @param {number} column
   * @param {AbortSignal} signal
   */
  async #refute(position, column, signal) {
    this.#helped = true;
    this.#show("wrong");
    this.#say(text("review.mistake_wrong", { column }), `${this.#worth(position, column)}.`);
    find("#mistakes-again", this.dialog).focus();
    for (let stones = 0; stones < ANSWER_MAX; stones += 1) {
      const { best } = await this.#ask(this.#beyond);
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      if (signal.aborted || !best?.length) return;
      this.#drop(best[0]);
    }
  }

  async #solve() {
    this.#asked.abort();
    this.#asked = new AbortController();
    const { signal } = this.#asked;
    this.#helped = true;
    this.#beyond = [];
    this.#show("busy");
    const position = await this.#ask([]).catch(() => null);
    if (signal.aborted) return;
    const column = this.#ply.best[0] ?? position?.best?.[0];
    if (!position || !column) return this.#reopen();
    this.#status = "shown";
    this.#drop(column);
    this.#say(text("review.better", { columns: this.#ply.best.join(" ") }), `${this.#worth(position, column)}.${this.#summary()}`);
    this.#onward();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
    this.board.choose(Number(event.key));
    event.preventDefault();
  }
}
