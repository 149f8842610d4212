// The moment in which a game ends for whoever played it: a ribbon over the board's top edge with the result, what the
// opponent says, and what one may want next. It goes when one touches the board or looks back.

import { standing, verdict } from "./best-of.js";
import { faceOf, lastWords, nameOf } from "./companion.js";
import { el, find, icon } from "./dom.js";
import { other } from "./rules.js";
import { noteGame } from "./series.js";
import { tournamentOf } from "./state.js";
import { text } from "./texts.js";

/** @typedef {import("./state.js").GameState} GameState */

export class Ending {
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
    root.addEventListener("pointerdown", (event) => {
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
    const again = el("button", { type: "button", class: "button primary", click: rematch }, icon("swap"), text("game.rematch"));
    const review = el("button", { type: "button", class: "button", click: () => this.#toReview() }, icon("analysis"), text("review.title"));
    const tournament = tournamentOf(state);
    const fresh = tournament
      ? el("a", { class: "button primary", href: `/tournament/${tournament}` }, icon("play"), text("game.tournament"))
      : el("a", { class: "button", href: "/" }, icon("play"), text("game.new_game"));
    this.box.dataset.how = state.result === "draw" || state.result === "void" ? "even" : state.result === state.you ? "won" : "lost";
    this.box.dataset.mood = { won: "sad", lost: "happy", even: "calm" }[this.box.dataset.how];
    this.box.replaceChildren(
      el("p", { class: "ribbon-title" }, headline),
      el("p", { class: "soft" }, detail),
      score ? el("p", { class: "series number" }, score) : "",
      words ? el("p", { class: "speech" }, faceOf(opponent) ?? "", el("q", {}, words)) : "",
      el("div", { class: "row wrap" }, state.pair ? "" : again, state.result === "void" ? "" : review, verdict(state) === "on" ? "" : fresh),
    );
    setTimeout(() => (this.box.hidden = false), after);
  }

  #toReview() {
    this.hide();
    find(".side-panel", this.root).scrollIntoView({ block: "start" });
    document.querySelector(".review")?.scrollIntoView({ block: "nearest" });
  }
}
