// The moment in which a game ends for whoever played it: a ribbon with the result, what the opponent says, and what one
// may want next. It lies over the board's edge that is farther from the line that was won, on small screens beside the
// board, and goes when one closes it, touches anything else or looks back.

import { standing, verdict } from "./best-of.js";
import { faceOf, lastWords, nameOf } from "./companion.js";
import { el, find, icon, setText } from "./dom.js";
import { other } from "./rules.js";
import { noteGame } from "./series.js";
import { tournamentOf } from "./state.js";
import { text } from "./texts.js";

/** @typedef {import("./state.js").GameState} GameState */

/** Rows from the bottom below which a line is left free by a ribbon at the board's top edge. */
const LOW_ROWS = 4;

/** The edge of the board at which least of the line is covered. @param {GameState} state */
function edgeFor({ line, variant }) {
  const highest = Math.max(0, ...(line ?? []).map(([, row]) => row));
  return highest > Math.min(LOW_ROWS, variant.height - 2) ? "bottom" : "top";
}

export class Ending {
  /** What asks for another game, and what says that the opponent has. @type {HTMLElement | null} */
  #again = null;
  /** @type {HTMLElement | null} */
  #asked = null;

  /**
   * @param {HTMLElement} root
   * @param {() => void} again
   */
  constructor(root, again) {
    this.root = root;
    this.again = again;
    this.box = el("div", { class: "ribbon", hidden: true });
    find("ff-board", root).after(this.box);
    root.addEventListener("input", () => this.hide());
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.hide());
    document.addEventListener("pointerdown", (event) => {
      if (event.target instanceof Node && !this.box.contains(event.target)) this.hide();
    });
  }

  hide() {
    this.box.hidden = true;
  }

  /**
   * @param {GameState} state of a game that has just ended
   * @param {string} headline
   * @param {string} detail
   * @param {number} after milliseconds: the last disc still falls
   */
  show(state, headline, detail, after) {
    if (!state.you) return;
    const opponent = state.players[other(state.you)];
    const words = lastWords(state);
    const series = noteGame(state, opponent.id);
    const score = state.series ? standing(state) : series && text("game.series", { ...series, name: nameOf(opponent) });
    const rematch = () => {
      this.hide();
      this.again();
    };
    this.#again = el("button", { type: "button", class: "button primary", click: rematch }, icon("swap"), el("span", {}));
    this.#asked = el("p", { class: "asked", hidden: true });
    const close = el("button", { type: "button", class: "icon-button ribbon-close", "aria-label": text("site.dismiss"), click: () => this.hide() }, icon("close"));
    const review = el("button", { type: "button", class: "button", click: () => this.#toReview() }, icon("analysis"), text("review.title"));
    const tournament = tournamentOf(state);
    const fresh = tournament
      ? el("a", { class: "button primary", href: `/tournament/${tournament}` }, icon("play"), text("game.tournament"))
      : el("a", { class: "button", href: "/" }, icon("play"), text("game.new_game"));
    this.box.dataset.how = state.result === "draw" || state.result === "void" ? "even" : state.result === state.you ? "won" : "lost";
    this.box.dataset.mood = { won: "sad", lost: "happy", even: "calm" }[this.box.dataset.how];
    this.box.replaceChildren(
      close,
      el("p", { class: "ribbon-title" }, headline),
      el("p", { class: "soft" }, detail),
      score ? el("p", { class: "series number" }, score) : "",
      words ? el("p", { class: "speech" }, faceOf(opponent) ?? "", el("q", {}, words)) : "",
      this.#asked,
      el("div", { class: "row wrap" }, state.pair ? "" : this.#again, state.result === "void" ? "" : review, verdict(state) === "on" ? "" : fresh),
    );
    this.box.dataset.edge = edgeFor(state);
    this.hear(state);
    setTimeout(() => (this.box.hidden = false), after);
  }

  /** The opponent may want another game while the ribbon is there: its button answers that, then. @param {GameState} state */
  hear(state) {
    if (!this.#again || !this.#asked || !state.you) return;
    const theirs = other(state.you);
    const isAsked = state.rematch[theirs] && !state.rematch[state.you];
    setText(find("span", this.#again), text(isAsked ? "game.play_again" : "game.rematch"));
    this.#asked.hidden = !isAsked;
    setText(this.#asked, isAsked ? text("game.wants_rematch", { name: nameOf(state.players[theirs]) }) : "");
  }

  #toReview() {
    this.hide();
    find(".side-panel", this.root).scrollIntoView({ block: "start" });
    document.querySelector(".review")?.scrollIntoView({ block: "nearest" });
  }
}
