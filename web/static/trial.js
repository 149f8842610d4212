// A position to be played right: columns are tried on the board, the solver judges each, and a wrong one is answered
// there. What is said of it, and what comes after, is for whoever shows it.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { movesLeft, outlook, outlookWords } from "./outlook.js";
import { fetchPosition } from "./positions.js";
import { landingRow, parseMoves, parseVariant, sideToMove, winningLine } from "./rules.js";
import { printMoves } from "./line.js";
import * as sound from "./sound.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("../types/position").Position} Position */
/** @typedef {"open" | "busy" | "wrong" | "right" | "shown"} Status */
/**
 * @typedef {object} Task
 * @property {string} variant
 * @property {string} moves up to the position
 * @property {number} own how many right moves solve it, unless the game ends before
 * @property {(position: Position, column: number) => boolean} isRight of the position on show, not of the first one alone
 * @property {number[]} known columns that solve it, if somebody knows them already
 */
/**
 * @typedef {object} View
 * @property {(status: Status) => void} show what the page has around the board
 * @property {() => void} opened a position is to be played
 * @property {(position: Position, column: number) => void} right after the last move, all of which were
 * @property {(position: Position, column: number) => void} wrong before it is answered on the board
 * @property {(position: Position, column: number) => void} solved by the solver, for who asked
 * @property {() => void} waits the solver takes longer
 * @property {() => void} failed the solver cannot be asked
 */

/** How long after a stone the next one falls by itself, in milliseconds. */
const STEP_MS = 650;
/** So many stones of the answer to a wrong column are shown: enough to see the line come. */
const ANSWER_MAX = 5;
/** Moves of the winner's after which a win is far away: further than the answer that is shown. */
const FAR = 4;

export class Trial {
  /** Aborted whenever another position is on show, so that answers come only where they were asked for. */
  #asked = new AbortController();
  /** What was right so far, with the replies: one's own moves are every other one. @type {number[]} */
  #line = [];
  /** Stones on show after those. @type {number[]} */
  #beyond = [];
  /** @type {Status} */
  #status = "open";
  /** @type {Task} */
  #task = { variant: "7x6", moves: "", own: 1, isRight: () => false, known: [] };

  /**
   * @param {BoardElement} board
   * @param {View} view
   */
  constructor(board, view) {
    this.board = board;
    this.view = view;
    board.addEventListener("column", (event) => this.#try(/** @type {CustomEvent<number>} */ (event).detail));
  }

  /** Whether one's first move is still to come. */
  get isFirst() {
    return this.#line.length === 0;
  }

  /** @param {Task} task */
  begin(task) {
    this.#task = task;
    this.#line = [];
    this.reopen();
  }

  /** Nothing that was asked for is shown any more. */
  stop() {
    this.#asked.abort();
    this.#asked = new AbortController();
    return this.#asked.signal;
  }

  /** Back to where one was to move. */
  reopen() {
    this.stop();
    this.#beyond = [];
    this.#show("open");
    this.view.opened();
    this.board.focusColumns();
  }

  get #variant() {
    return parseVariant(this.#task.variant);
  }

  /** The moves up to where one was to move, as they are written. */
  get #before() {
    return this.#task.moves + printMoves(this.#line);
  }

  /** The columns of all stones on show. */
  get moves() {
    return [...parseMoves(this.#before || "-"), ...this.#beyond];
  }

  /** Whose move it was or is. */
  get side() {
    return sideToMove(parseMoves(this.#before || "-").length);
  }

  /** @param {Status} status */
  #show(status) {
    this.#status = status;
    const moves = this.moves;
    const isDone = status === "right" || status === "shown";
    const line = winningLine(this.#variant, moves);
    this.board.show({ variant: this.#variant, moves, line, seated: !isDone, playable: status === "open", pending: null });
    this.view.show(status);
  }

  /** One more stone on the board. @param {number} column */
  #drop(column) {
    const moves = this.moves;
    const side = sideToMove(moves.length);
    announce(text("game.played", { color: COLOR[side], column }));
    this.#beyond = [...this.#beyond, column];
    this.#show(this.#status);
    sound.drop(side, landingRow(this.#variant, moves, column), this.board.landsIn, { column, width: this.#variant.width });
  }

  /** What a position is worth, as soon as the solver says. @param {number[]} beyond */
  #ask(beyond) {
    return fetchPosition(this.#task.variant, this.#before + printMoves(beyond), this.#asked.signal, () => this.view.waits());
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
      if (this.#task.isRight(position, column)) await this.#goOn(position, column, signal);
      else await this.#refute(position, column, signal);
    } catch {
      if (signal.aborted) return;
      this.reopen();
      this.view.failed();
    }
  }

  /**
   * After a right move: the reply to it, or the end.
   * @param {Position} position
   * @param {number} column
   * @param {AbortSignal} signal
   */
  async #goOn(position, column, signal) {
    const own = this.#line.length / 2 + 1;
    const { best } = own < this.#task.own ? await this.#ask([column]) : { best: [] };
    if (signal.aborted) return;
    if (!best?.length) {
      this.#show("right");
      return this.view.right(position, column);
    }
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    if (signal.aborted) return;
    this.#drop(best[0]);
    this.#line = [...this.#line, column, best[0]];
    this.reopen();
  }

  /**
   * What a column is worth in words: `Gold wins in 3`.
   * @param {Position} position
   * @param {number} column
   */
  worth({ columns }, column) {
    const before = parseMoves(this.#before || "-");
    if (winningLine(this.#variant, [...before, column])) return text("analysis.won", { color: COLOR[this.side] });
    const meant = outlook(this.#variant, before.length, columns?.[column - 1] ?? 0);
    const then = { ...meant, plies: Math.max(1, meant.plies - 1) };
    if (!then.winner) return outlookWords(then);
    // "In 1" is no word for whoever learns, and what is far away shows on no board: it is true of best play alone.
    const [color, n] = [COLOR[then.winner], movesLeft(then)];
    if (n === 1) return text("analysis.wins_next", { color });
    return n > FAR ? text("analysis.wins_far", { color, n }) : outlookWords(then);
  }

  /**
   * Shows the answer to a wrong column.
   * @param {Position} position
   * @param {number} column
   * @param {AbortSignal} signal
   */
  async #refute(position, column, signal) {
    this.#show("wrong");
    this.view.wrong(position, column);
    for (let stones = 0; stones < ANSWER_MAX; stones += 1) {
      const { best } = await this.#ask(this.#beyond);
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      if (signal.aborted || !best?.length) return;
      this.#drop(best[0]);
    }
  }

  /** Shows what would have been right. */
  async solve() {
    const signal = this.stop();
    this.#beyond = [];
    this.#show("busy");
    const position = await this.#ask([]).catch(() => null);
    if (signal.aborted) return;
    const column = (this.isFirst ? this.#task.known[0] : undefined) ?? position?.best?.[0];
    if (!position || !column) return this.reopen();
    this.#status = "shown";
    this.#drop(column);
    this.view.solved(position, column);
  }
}
