// The review of a finished game: what each move was worth, by the solver. Fetched once the game is over; the answer to
// `busy` is to ask again when the server says.

import { BoardElement } from "./board.js";
import { el, find, icon, setText } from "./dom.js";
import { discIcon } from "./drawing.js";
import { lineOf, address } from "./line.js";
import { shortOutlook } from "./outlook.js";
import { sideToMove } from "./rules.js";
import { playBot } from "./start.js";
import { missed, story } from "./story.js";
import { count, language, text } from "./texts.js";
import { isBlunder, outlookAfter, outlookBefore, ValueGraph, valueTable } from "./value-graph.js";
import { COLOR, spokenName } from "./words.js";

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/review").Review} Review */
/** @typedef {import("../types/review").ReviewedPly} ReviewedPly */

/** How often to ask a busy server before giving up. */
const ATTEMPTS_MAX = 20;

/** When to ask again if the server does not say, in milliseconds. */
const RETRY_MS = 1000;

/** The bot of the house that makes no mistake. */
const PERFECT = "perfect";

/** @type {Record<import("../types/review").Mistake, string>} */
const LABELS = {
  win_to_loss: text("review.win_to_loss"),
  win_to_draw: text("review.win_to_draw"),
  draw_to_loss: text("review.draw_to_loss"),
  slower_win: text("review.slower_win"),
  faster_loss: text("review.faster_loss"),
};

/** What lay open for everybody to see. */
const MISSED = { win: text("review.missed_win"), block: text("review.missed_block") };

const percent = new Intl.NumberFormat(language, { style: "percent" });

export class ReviewCard {
  /** @type {Review | null} */
  #review = null;
  /** @type {ValueGraph | null} */
  #graph = null;
  #ply = 0;
  #isLoading = false;
  /** Whose page it is, null of a watcher. @type {Side | null} */
  #you = null;
  /** @type {Record<Side, string>} */
  #names = COLOR;

  /**
   * @param {HTMLElement} root the element that holds a game
   * @param {(ply: number) => void} goTo shows the position after so many plies
   */
  constructor(root, goTo) {
    this.root = root;
    this.card = find(".review", root);
    this.board = /** @type {BoardElement} */ (find("ff-board", root));
    this.goTo = goTo;
  }

  /** Fetches the review, once. @param {import("./state.js").GameState} state of a game that is over */
  async load({ id, you, players }) {
    if (this.#isLoading) return;
    this.#isLoading = true;
    this.#you = you;
    this.#names = { first: spokenName(players.first.name), second: spokenName(players.second.name) };
    this.card.hidden = false;
    this.card.replaceChildren(heading(), el("p", { class: "hint" }, text("review.waiting")));
    this.#review = await fetchReview(id).catch(() => null);
    this.#render();
  }

  /** Tells of the move that led to the position on show, and which would be best there. @param {number} ply */
  show(ply) {
    this.#ply = ply;
    const review = this.#review;
    if (!review) return;
    this.#graph?.show(ply);
    this.board.hint(review.plies.find((next) => next.ply === ply + 1)?.best ?? []);
    setText(find(".review-verdict", this.card), this.#verdict(review));
    const shown = lineOf(review.variant, review.moves);
    /** @type {HTMLAnchorElement} */ (find(".review-analyse", this.card)).href = address({ ...shown, ply });
    /** @type {HTMLButtonElement} */ (find(".review-again", this.card)).disabled = this.#isEnd(review);
  }

  #render() {
    const review = this.#review;
    if (!review) return this.card.replaceChildren(heading(), el("p", { class: "hint" }, text("review.failed")));
    const told = story(review, this.#you, this.#names);
    const mistakes = review.plies.filter((ply) => isBlunder(ply) || missed(review, ply));
    this.#graph = review.plies.length ? new ValueGraph(review, (ply) => this.goTo(ply)) : null;
    this.card.replaceChildren(
      heading(),
      el("p", { class: "review-story" }, told ? text(told.key, told.values) : text("review.no_blunders")),
      el("div", { class: "review-skill" }, ...skillRow("first", review), ...skillRow("second", review)),
      this.#puzzles(review, mistakes),
      ...(this.#graph ? [this.#graph.element, legend(), valueTable(review, (ply) => labelOf(review, ply), moveWords)] : []),
      this.#turningPoint(review),
      el("p", { class: "review-verdict", "aria-live": "polite" }),
      mistakes.length ? el("ul", { class: "review-list" }, ...mistakes.map((ply) => el("li", {}, this.#mistake(review, ply)))) : "",
      el(
        "div",
        { class: "actions" },
        el("button", { type: "button", class: "button compact review-again", click: () => this.#tryAgain(review) }, icon("undo"), text("review.try_again")),
        el("a", { class: "button compact review-analyse" }, icon("analysis"), text("analysis.analyse_ply")),
      ),
    );
    this.#markMoves(review);
    this.show(this.#ply);
  }

  /**
   * One's own mistakes to play better, or everybody's where one only looks on.
   * @param {Review} review
   * @param {ReviewedPly[]} mistakes
   */
  #puzzles(review, mistakes) {
    const chosen = this.#you ? mistakes.filter(({ side }) => side === this.#you) : mistakes;
    if (chosen.length === 0) return "";
    const title = text(this.#you ? "review.mistakes_yours" : "review.mistakes_all");
    // Few want it, so that the others need not load it.
    const open = async () => (await import("./mistakes.js")).playMistakes(review, chosen, title);
    return el("button", { type: "button", class: "button review-mistakes", click: open }, icon("puzzle"), title);
  }

  /** One button that leads to the move after which the result was never again in doubt. @param {Review} review */
  #turningPoint(review) {
    const ply = review.plies.find((other) => other.ply === review.turning_point);
    if (!ply) return "";
    const label = `${text("review.turning", { n: ply.ply })}, ${COLOR[ply.side]} ${ply.column}, ${labelOf(review, ply)}`;
    return el(
      "button",
      { type: "button", class: "review-turning", click: () => this.goTo(ply.ply) },
      discIcon(ply.side),
      el("span", {}, label),
    );
  }

  /** @param {Review} review @param {ReviewedPly} ply */
  #mistake(review, ply) {
    return el(
      "button",
      { type: "button", click: () => this.goTo(ply.ply) },
      discIcon(ply.side),
      `${moveWords(ply)}: ${labelOf(review, ply)}`,
    );
  }

  /** A casual game from the position on show, for whoever is to move there; at a mistake, from before it. @param {Review} review */
  #tryAgain(review) {
    const isMistake = review.plies.some(({ ply, mistake }) => ply === this.#ply && mistake);
    const kept = isMistake ? this.#ply - 1 : this.#ply;
    playBot(PERFECT, sideToMove(kept), undefined, { variant: review.variant, moves: review.moves.slice(0, kept) });
  }

  /** Whether nothing can be played in the position on show. @param {Review} review */
  #isEnd(review) {
    const last = review.plies.at(-1);
    return this.#ply === review.moves.length && last !== undefined && outlookAfter(review, last).plies === 0;
  }

  /** Gives the moves of the list the class of their mistake. @param {Review} review */
  #markMoves(review) {
    const buttons = this.root.querySelectorAll(".moves button");
    for (const ply of review.plies) {
      const button = buttons[ply.ply - 1];
      const label = labelOf(review, ply);
      if (!button || !label) continue;
      button.classList.add(isBlunder(ply) || missed(review, ply) ? "blunder" : "slip");
      button.setAttribute("title", label);
    }
  }

  /** @param {Review} review */
  #verdict(review) {
    const ply = review.plies.find((other) => other.ply === this.#ply);
    if (!ply) return "";
    const [before, after] = [outlookBefore(review, ply), outlookAfter(review, ply)].map(shortOutlook);
    const values = { n: ply.ply, before, after, columns: ply.best.join(" ") };
    // The move that ends the game needs no before: whoever played it could win at once, and has.
    if (outlookAfter(review, ply).plies === 0) return text("review.ended", values);
    const what = text("review.verdict", values);
    return ply.mistake ? `${what} ${text("review.better", values)}` : what;
  }
}

const heading = () => el("h2", {}, text("review.title"));

const legend = () =>
  el("p", { class: "graph-legend" }, text("review.legend", { first: COLOR.first, second: COLOR.second }));

/**
 * What is wrong with a move, if anything: first what everybody could see.
 * @param {Review} review
 * @param {ReviewedPly} ply
 */
function labelOf(review, ply) {
  const chance = missed(review, ply);
  if (chance) return MISSED[chance.kind];
  return ply.mistake ? LABELS[ply.mistake] : "";
}

/** @param {ReviewedPly} ply */
const moveWords = (ply) => `${ply.ply}. ${COLOR[ply.side]} ${ply.column}`;

/**
 * Words that lead to their entry in the glossary.
 * @param {string} term
 * @param {string} words
 */
const explained = (term, words) => el("a", { class: "term", href: `/learn/glossary#${term}` }, words);

/**
 * @param {Side} side
 * @param {Review} review
 */
function skillRow(side, review) {
  const skill = review.skill[side];
  const accuracy = skill.accuracy === null ? "–" : percent.format(skill.accuracy);
  return [
    el("span", {}, discIcon(side), COLOR[side]),
    explained("accuracy", text("review.accuracy", { percent: accuracy })),
    // As the glossary has it: a line that was overlooked in a game that stays won, or was lost already, is none.
    explained("blunder", count("review.blunders", skill.blunders)),
  ];
}

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
