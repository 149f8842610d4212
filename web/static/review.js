// The review of a finished game: what each move was worth, by the solver. Fetched once the game is over; the answer to
// `busy` is to ask again when the server says.

import { el, find } from "./dom.js";
import { discIcon } from "./drawing.js";
import { count, language, text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/review").Review} Review */
/** @typedef {import("../types/review").ReviewedPly} ReviewedPly */
/** @typedef {import("../types/review").Skill} Skill */

/** How often to ask a busy server before giving up. */
const ATTEMPTS_MAX = 20;

/** When to ask again if the server does not say, in milliseconds. */
const RETRY_MS = 1000;

/** @type {Record<import("../types/review").Mistake, string>} */
const LABELS = {
  win_to_loss: text("review.win_to_loss"),
  win_to_draw: text("review.win_to_draw"),
  draw_to_loss: text("review.draw_to_loss"),
  slower_win: text("review.slower_win"),
  faster_loss: text("review.faster_loss"),
};

/** Mistakes that change who wins. @type {(string | null)[]} */
const BLUNDERS = ["win_to_loss", "win_to_draw", "draw_to_loss"];

const percent = new Intl.NumberFormat(language, { style: "percent" });

export class ReviewCard {
  /** @type {Review | null} */
  #review = null;
  #ply = 0;
  #isLoading = false;

  /**
   * @param {HTMLElement} root the element that holds a game
   * @param {(ply: number) => void} goTo shows the position after so many plies
   */
  constructor(root, goTo) {
    this.root = root;
    this.card = find(".review", root);
    this.goTo = goTo;
  }

  /** Fetches the review, once. @param {string} game its id */
  async load(game) {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.card.hidden = false;
    this.card.replaceChildren(heading(), el("p", { class: "hint" }, text("review.waiting")));
    this.#review = await fetchReview(game).catch(() => null);
    this.#render();
  }

  /** Tells of the move that led to the position on show. @param {number} ply */
  show(ply) {
    this.#ply = ply;
    if (this.#review) find(".review-verdict", this.card).textContent = this.#verdict();
  }

  #render() {
    const review = this.#review;
    if (!review) return this.card.replaceChildren(heading(), el("p", { class: "hint" }, text("review.failed")));
    const blunders = review.plies.filter((ply) => BLUNDERS.includes(ply.mistake));
    this.card.replaceChildren(
      heading(),
      el("div", { class: "review-skill" }, ...skillRow("first", review.skill.first), ...skillRow("second", review.skill.second)),
      el("p", { class: "review-verdict", "aria-live": "polite" }, this.#verdict()),
      blunders.length
        ? el("ul", { class: "review-list" }, ...blunders.map((ply) => el("li", {}, this.#blunder(ply))))
        : el("p", { class: "hint" }, text("review.no_blunders")),
    );
    this.#markMoves(review);
  }

  /** @param {ReviewedPly} ply */
  #blunder(ply) {
    return el(
      "button",
      { type: "button", click: () => this.goTo(ply.ply) },
      discIcon(ply.side),
      `${ply.ply}. ${COLOR[ply.side]} ${ply.column}: ${ply.mistake ? LABELS[ply.mistake] : ""}`,
    );
  }

  /** Gives the moves of the list the class of their mistake. @param {Review} review */
  #markMoves(review) {
    const buttons = this.root.querySelectorAll(".moves button");
    for (const ply of review.plies) {
      const button = buttons[ply.ply - 1];
      if (!button || !ply.mistake) continue;
      button.classList.add(BLUNDERS.includes(ply.mistake) ? "blunder" : "slip");
      button.setAttribute("title", LABELS[ply.mistake]);
    }
  }

  #verdict() {
    const ply = this.#review?.plies.find((other) => other.ply === this.#ply);
    if (!ply) return text("review.help");
    const values = { n: ply.ply, before: signed(ply.before), after: signed(ply.after), columns: ply.best.join(" ") };
    const what = text("review.verdict", values);
    return ply.mistake ? `${what} ${text("review.better", values)}` : what;
  }
}

const heading = () => el("h2", {}, text("review.title"));

/**
 * @param {Side} side
 * @param {Skill} skill
 */
function skillRow(side, skill) {
  const accuracy = skill.accuracy === null ? "–" : percent.format(skill.accuracy);
  return [
    el("span", {}, discIcon(side), COLOR[side]),
    el("span", {}, text("review.accuracy", { percent: accuracy })),
    el("span", {}, count("review.blunders", skill.blunders)),
  ];
}

/** @param {number} score with a sign that reads as one */
const signed = (score) => (score > 0 ? `+${score}` : score < 0 ? `−${-score}` : "0");

/**
 * @param {string} game
 * @returns {Promise<Review>}
 */
async function fetchReview(game) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`/api/v1/games/${encodeURIComponent(game)}/review`);
    if (response.ok) return response.json();
    if (response.status !== 503 || attempt === ATTEMPTS_MAX) throw new Error(`no review: ${response.status}`);
    const { retry_ms = RETRY_MS } = await response.json();
    await new Promise((resolve) => setTimeout(resolve, retry_ms));
  }
}
