// A puzzle on a board: what one plays is sent to the arena, which answers with the reply, the end, or why it was wrong. The
// solution is not in the page. Where it is played, on a page of its own or beside other things, the parts around the
// board are as `puzzle.html` has them; those that say more than the puzzle itself may be missing.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { find, setText } from "./dom.js";
import { landingRow, parseMoves, parseVariant, sideToMove, winningLine } from "./rules.js";
import "./shell.js";
import * as sound from "./sound.js";
import { copy } from "./start.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {{ streak: number, level: number }} PuzzleRecord how somebody does */
/**
 * @typedef {object} Attempt what the arena says of a move
 * @property {"goes_on" | "solved" | "wrong"} status
 * @property {string} line
 * @property {"win" | "draw" | "loss" | null} value
 * @property {PuzzleRecord | null} you
 */

/** How long after a stone the next one falls by itself, in milliseconds. */
const STEP_MS = 650;

const variant = parseVariant("7x6");

/** @param {number[]} moves */
const notation = (moves) => moves.map((column) => column.toString(36)).join("");

export class PuzzleTable {
  /** What was right so far, with the replies: one's own moves are every other one. @type {number[]} */
  #line = [];
  /** Stones on show after that: a move that is being checked, a refutation. @type {number[]} */
  #beyond = [];
  /** @type {"open" | "busy" | "solved" | "wrong" | "shown"} */
  #status = "open";
  /** What came of each move so far, as it is shared: nobody learns the solution from it. @type {string[]} */
  #marks = [];
  /** Grows whenever what is on show changes, so that stones that were to fall do not fall into something else. */
  #scene = 0;

  /**
   * @param {HTMLElement} root
   * @param {object} told
   * @param {(you: PuzzleRecord, isSolved: boolean) => void} told.record how the visitor does now
   * @param {() => void} [told.tried] that the puzzle has been tried
   */
  constructor(root, told) {
    this.root = root;
    this.told = told;
    this.board = /** @type {BoardElement} */ (find("ff-board", root));
    this.id = root.dataset.id ?? "";
    this.start = parseMoves(root.dataset.moves ?? "");
    this.question = find("#puzzle-status", root).textContent ?? "";
    this.task = find("#puzzle-detail", root).textContent ?? "";
    root.addEventListener("column", (event) => this.#play(/** @type {CustomEvent<number>} */ (event).detail));
    find("#puzzle-again", root).addEventListener("click", () => this.#again());
    find("#puzzle-hint", root).addEventListener("click", () => this.#hint());
    find("#puzzle-solution", root).addEventListener("click", () => this.#solution());
    this.#part("#puzzle-share")?.addEventListener("click", ({ currentTarget }) => this.#share(/** @type {HTMLElement} */ (currentTarget)));
    this.#show();
  }

  /** @param {KeyboardEvent} event a key that may choose a column */
  press(event) {
    if (/^[1-9]$/.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) this.board.choose(Number(event.key));
  }

  /** @param {string} selector @returns {HTMLElement | null} */
  #part(selector) {
    return this.root.querySelector(selector);
  }

  #show() {
    const moves = [...this.start, ...this.#line, ...this.#beyond];
    const playable = this.#status === "open";
    const over = this.#status === "solved" || this.#status === "shown";
    this.board.show({ variant, moves, line: winningLine(variant, moves), seated: !over, playable, pending: null });
    this.root.dataset.status = this.#status;
    this.root.dataset.ply = String(moves.length);
    find("#puzzle-again", this.root).hidden = this.#status !== "wrong";
    find("#puzzle-hint", this.root).hidden = !playable;
    find("#puzzle-solution", this.root).hidden = this.#status !== "wrong" && !playable;
    this.#part("#puzzle-next")?.classList.toggle("primary", over);
    // They would give the solution away.
    for (const told of ["#puzzle-themes", "#puzzle-game", ...(this.#status === "solved" ? ["#puzzle-share"] : [])]) {
      const shown = this.#part(told);
      if (shown && over) shown.hidden = false;
    }
  }

  /**
   * @param {string} words
   * @param {string} detail
   */
  #say(words, detail) {
    setText(find("#puzzle-status", this.root), words);
    setText(find("#puzzle-detail", this.root), detail);
    announce(`${words} ${detail}`);
  }

  #ownMoves() {
    return this.#line.filter((_, index) => index % 2 === 0);
  }

  /**
   * @param {"attempts" | "hints" | "solution"} what
   * @param {object} [body]
   * @returns {Promise<any>}
   */
  async #ask(what, body = {}) {
    const response = await fetch(`/api/v1/puzzles/${encodeURIComponent(this.id)}/${what}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${what}: ${response.status}`);
    return response.json();
  }

  /** Lets stones fall one after the other; ends early if something else is on show by then. @param {number[]} columns */
  async #fall(columns) {
    const mine = ++this.#scene;
    for (const column of columns) {
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      if (mine !== this.#scene) return false;
      this.#drop(column);
    }
    return mine === this.#scene;
  }

  /** @param {number} column */
  #drop(column) {
    const moves = [...this.start, ...this.#line, ...this.#beyond];
    const row = landingRow(variant, moves, column);
    announce(text("game.played", { color: COLOR[sideToMove(moves.length)], column }));
    this.#beyond = [...this.#beyond, column];
    this.#show();
    sound.drop(sideToMove(moves.length), row, this.board.landsIn, { column, width: variant.width });
  }

  /** @param {number} column */
  async #play(column) {
    if (this.#status !== "open") return;
    this.#status = "busy";
    this.#scene += 1;
    const own = [...this.#ownMoves(), column];
    this.#drop(column);
    this.#say(text("puzzles.checking"), "");
    try {
      await this.#answered(await this.#ask("attempts", { moves: notation(own) }), column);
    } catch {
      this.#beyond = [];
      this.#status = "open";
      this.#show();
      this.#say(text("puzzles.failed"), this.task);
    }
  }

  /**
   * @param {Attempt} attempt
   * @param {number} column
   */
  async #answered(attempt, column) {
    if (attempt.you) this.told.record(attempt.you, attempt.status === "solved");
    if (attempt.status !== "goes_on") this.told.tried?.();
    this.#marks = [...this.#marks, attempt.status === "wrong" ? "🟥" : "🟩"];
    if (attempt.status === "wrong") return this.#refuted(attempt, column);
    const known = parseMoves(attempt.line);
    if (attempt.status === "solved") {
      [this.#line, this.#beyond, this.#status] = [known, [], "solved"];
      this.#show();
      this.#say(text("puzzles.solved"), text(this.root.dataset.goal === "win" ? "puzzles.solved_win" : "puzzles.solved_draw"));
      return sound.end("won");
    }
    if (!(await this.#fall(known.slice(-1)))) return;
    [this.#line, this.#beyond, this.#status] = [known, [], "open"];
    this.#show();
    this.#say(text("puzzles.right"), this.question);
    this.board.focusColumns();
  }

  /**
   * @param {Attempt} attempt
   * @param {number} column
   */
  async #refuted({ value, line: refutation }, column) {
    this.#status = "wrong";
    const columns = parseMoves(refutation);
    const why = {
      draw: text("puzzles.wrong_draw", { column }),
      loss: text("puzzles.wrong_loss", { column }),
      none: text("puzzles.wrong", { column }),
    };
    const goesOn = columns.length > 0 ? text("puzzles.refutation", { columns: columns.join(" ") }) : "";
    this.#show();
    this.#say(value === "draw" || value === "loss" ? why[value] : why.none, goesOn);
    find("#puzzle-again", this.root).focus();
    await this.#fall(columns);
  }

  #again() {
    this.#scene += 1;
    [this.#beyond, this.#status] = [[], "open"];
    this.#show();
    this.#say(this.question, this.task);
    this.board.focusColumns();
  }

  async #hint() {
    try {
      const { columns } = await this.#ask("hints", { moves: notation(this.#ownMoves()) });
      this.#marks = [...this.#marks, "💡"];
      this.#say(this.question, text("puzzles.hint_is", { a: columns[0], b: columns[1] }));
    } catch {
      this.#say(this.question, text("puzzles.failed"));
    }
  }

  async #solution() {
    this.#scene += 1;
    try {
      const solution = parseMoves((await this.#ask("solution")).line);
      [this.#line, this.#beyond, this.#status] = [[], [], "shown"];
      this.#show();
      this.told.tried?.();
      this.#say(text("puzzles.solution_is"), solution.join(" "));
      this.#part("#puzzle-next")?.focus();
      await this.#fall(solution);
    } catch {
      this.#say(this.question, text("puzzles.failed"));
    }
  }

  /** @param {HTMLElement} button */
  #share(button) {
    const title = `Fourfold · ${this.root.dataset.title} · ${new Date().toISOString().slice(0, 10)}`;
    const words = `${title}\n${this.#marks.join("")}\n${new URL("/puzzles/daily", location.href)}`;
    if ("share" in navigator) navigator.share({ text: words }).catch(() => {});
    else copy(button, words);
  }
}
