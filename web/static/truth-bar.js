// What a watched game is worth for certain, as the server tells watchers. The last value stays, dimmed, until the next
// one is known; players never see the bar, and nobody does in rated games between people. A move that gives the result
// away is pointed out.

import { announce } from "./announce.js";
import { el, setText, svg } from "./dom.js";
import { discIcon } from "./drawing.js";
import { outlookWords } from "./outlook.js";
import { sideToMove } from "./rules.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("../types/protocol").Truth} Truth */
/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("../types/protocol").Side} Side */

/** The bar's length in units of its own; the share of a side that wins in one move, and in the last one. */
const LENGTH = 1000;
const SURE = 0.98;
const SLOW = 0.62;

export class TruthBar {
  /** @type {Truth | null} */
  #truth = null;
  /** What the last move gave away, if anything. */
  #turn = "";
  /** @type {GameState | null} */
  #state = null;
  #first = svg("rect", { class: "truth-first", height: 12 });
  #second = svg("rect", { class: "truth-second", height: 12 });
  #disc = el("span", { class: "truth-disc" });
  #words = el("span", { class: "truth-words" });
  #note = el("span", { class: "truth-note soft" });

  #isAside;

  /**
   * @param {HTMLElement} root the element that holds a game
   * @param {{ aside?: boolean }} [how] aside: one of many, which says nothing aloud and is not there before it has something to show
   */
  constructor(root, { aside = false } = {}) {
    this.#isAside = aside;
    this.root = root;
    this.card = /** @type {HTMLElement | null} */ (root.querySelector(".truth-bar"));
    const picture = svg("svg", { viewBox: `0 0 ${LENGTH} 12`, preserveAspectRatio: "none", "aria-hidden": "true" }, this.#first, this.#second);
    this.card?.setAttribute("aria-label", text("analysis.certain"));
    this.card?.replaceChildren(el("p", {}, this.#disc, this.#words, this.#note), picture);
  }

  /** @param {Truth} truth */
  hear(truth) {
    const before = this.#truth;
    const follows = before?.game === truth.game && before.ply === truth.ply - 1;
    this.#turn = follows ? givenAway(sideToMove(before.ply), before.winner, truth.winner) : "";
    this.#truth = truth;
    this.#render();
    if (this.#turn && !this.#isAside) announce(`${this.#turn}. ${outlookWords(truth)}`);
  }

  /** @param {GameState} state */
  show(state) {
    if (this.#state?.id !== state.id) this.#truth = null;
    this.#state = state;
    this.#render();
  }

  /** Those who have a face take it as it stands. @param {Side | null} winner */
  #showMoods(winner) {
    for (const side of /** @type {Side[]} */ (["first", "second"])) {
      const seat = /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-side="${side}"]:has(.face)`));
      if (seat) seat.dataset.mood = winner === null ? "calm" : winner === side ? "happy" : "sad";
    }
  }

  #render() {
    const [state, card] = [this.#state, this.card];
    if (!state || !card) return;
    const truth = this.#truth?.game === state.id ? this.#truth : null;
    card.hidden = !mayBeTold(state) || (this.#isAside && !truth);
    const isOld = !truth || truth.ply !== state.moves.length;
    card.classList.toggle("old", isOld);
    card.setAttribute("aria-busy", String(isOld));
    card.dataset.ply = String(truth?.ply ?? "");
    const winner = truth?.winner ?? null;
    if (this.#disc.dataset.winner !== (winner ?? "")) {
      this.#disc.dataset.winner = winner ?? "";
      this.#disc.replaceChildren(...(winner ? [discIcon(winner)] : []));
    }
    setText(this.#words, truth ? outlookWords(truth) : text("analysis.computing"));
    const turn = this.#turn && `◆ ${this.#turn}`;
    setText(this.#note, truth && isOld ? `${text("review.move")} ${truth.ply}` : turn);
    this.#note.classList.toggle("turned", turn !== "" && !isOld);
    this.#note.title = isOld ? text("analysis.next_value") : "";
    if (truth) this.#showMoods(winner);
    const width = Math.round(LENGTH * (truth ? shareOfFirst(truth, state) : 0.5));
    this.#first.setAttribute("width", String(width));
    this.#second.setAttribute("x", String(width));
    this.#second.setAttribute("width", String(LENGTH - width));
  }
}

/**
 * @param {Side} mover
 * @param {Side | null} before who would have won
 * @param {Side | null} after who wins now
 */
function givenAway(mover, before, after) {
  if (before === after) return "";
  const what = before === null ? "review.draw_to_loss" : after === null ? "review.win_to_draw" : "review.win_to_loss";
  return `${COLOR[mover]}: ${text(what)}`;
}

/** @param {GameState} state whether watchers may know more than the players */
function mayBeTold({ you, status, rated, players }) {
  const people = players.first.kind !== "bot" && players.second.kind !== "bot";
  return !you && status === "live" && !(rated && people);
}

/**
 * @param {Truth} truth
 * @param {GameState} state
 */
function shareOfFirst({ winner, ply, plies }, { variant }) {
  if (winner === null) return 0.5;
  const left = plies / Math.max(1, variant.width * variant.height - ply);
  const share = SURE - (SURE - SLOW) * left;
  return winner === "first" ? share : 1 - share;
}
