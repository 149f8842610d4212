// The values of a game, ply by ply, as a line that one can walk along: above the middle the first side wins, below it the
// second, further out the sooner. Values are certain, so the line has steps and no slopes.

import { el, svg } from "./dom.js";
import { disc } from "./drawing.js";
import { nearness, outlook, shortOutlook } from "./outlook.js";
import { parseVariant } from "./rules.js";
import { text } from "./texts.js";

/** @typedef {import("../types/review").Review} Review */
/** @typedef {import("../types/review").ReviewedPly} ReviewedPly */
/** @typedef {import("./outlook.js").Outlook} Outlook */
/** @typedef {{ ply: number, outlook: Outlook, height: number, mark: "blunder" | "slip" | null }} Point */

/** The drawing, in units of its own: about the pixels of the card. */
const SIZE = { width: 340, height: 132 };
/** Room on the left for the discs that say whose half it is, and on the right. */
const LEFT = 26;
const RIGHT = 8;
const MIDDLE = SIZE.height / 2;
/** Where the slowest win lies above the middle, and how much further the fastest. */
const NEAR = 16;
const FAR = 40;

/** Mistakes that change who wins. */
const BLUNDERS = ["win_to_loss", "win_to_draw", "draw_to_loss"];

/** @param {ReviewedPly} ply whether it gave a result away */
export const isBlunder = (ply) => ply.mistake !== null && BLUNDERS.includes(ply.mistake);

/**
 * What the game was worth before the first move that is judged, and after each.
 * @param {Review} review
 * @returns {Point[]}
 */
export function pointsOf(review) {
  const variant = parseVariant(review.variant);
  /** @type {(ply: number, meant: Outlook, score: number, mark: Point["mark"]) => Point} */
  const point = (ply, meant, score, mark) => {
    const sign = meant.winner === null ? 0 : meant.winner === "first" ? 1 : -1;
    return { ply, outlook: meant, height: sign * (NEAR + FAR * nearness(variant, score)), mark };
  };
  const first = review.plies[0];
  const start = first ? [point(first.ply - 1, outlookBefore(review, first), first.before, null)] : [];
  const after = review.plies.map((ply) => {
    const mark = isBlunder(ply) ? "blunder" : ply.mistake ? "slip" : null;
    return point(ply.ply, outlookAfter(review, ply), ply.after, mark);
  });
  return [...start, ...after];
}

export class ValueGraph {
  #points;
  #cursor = svg("g", { class: "graph-cursor" });
  #ply = 0;

  /**
   * @param {Review} review
   * @param {(ply: number) => void} goTo
   */
  constructor(review, goTo) {
    this.#points = pointsOf(review);
    this.goTo = goTo;
    this.element = el("div", {
      class: "graph", role: "slider", tabindex: 0, "aria-label": text("review.graph"),
      "aria-valuemin": this.#first, "aria-valuemax": this.#last,
      keydown: (event) => this.#key(event), pointerdown: (event) => this.#point(event), pointermove: (event) => event.buttons && this.#point(event),
    });
    this.element.append(this.#picture());
    this.show(this.#last);
  }

  get #first() {
    return this.#points[0]?.ply ?? 0;
  }

  get #last() {
    return this.#points.at(-1)?.ply ?? 0;
  }

  /** Marks the position on show. @param {number} ply */
  show(ply) {
    this.#ply = Math.min(this.#last, Math.max(this.#first, ply));
    const point = this.#points[this.#ply - this.#first];
    if (!point) return;
    const [x, y] = [this.#x(point.ply), MIDDLE - point.height];
    this.#cursor.replaceChildren(
      svg("line", { x1: x, x2: x, y1: 4, y2: SIZE.height - 4 }),
      svg("circle", { cx: x, cy: y, r: 6 }),
    );
    this.element.setAttribute("aria-valuenow", String(point.ply));
    this.element.setAttribute("aria-valuetext", text("review.after_ply", { n: point.ply, what: shortOutlook(point.outlook) }));
  }

  /** @param {number} ply */
  #x(ply) {
    const plies = Math.max(1, this.#last - this.#first);
    return LEFT + ((ply - this.#first) / plies) * (SIZE.width - LEFT - RIGHT);
  }

  #picture() {
    const half = { x: LEFT, width: SIZE.width - LEFT - RIGHT, height: MIDDLE - 4 };
    return svg(
      "svg",
      { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, "aria-hidden": "true", focusable: "false" },
      svg("rect", { class: "graph-first", y: 4, ...half }),
      svg("rect", { class: "graph-second", y: MIDDLE, ...half }),
      svg("rect", { class: "graph-draw", x: LEFT, width: half.width, y: MIDDLE - 7, height: 14 }),
      ...["first", "second"].map((side) => this.#owner(side === "first" ? "first" : "second")),
      svg("path", { class: "graph-area", d: `${this.#steps()}V${MIDDLE}H${LEFT}z` }),
      svg("path", { class: "graph-line", d: this.#steps() }),
      ...this.#points.map((point) => this.#mark(point)),
      this.#cursor,
    );
  }

  /** The disc of the side to whom a half belongs. @param {import("../types/protocol").Side} side */
  #owner(side) {
    const drawn = disc(side);
    const hole = svg("circle", { class: "hole", r: 50 });
    const y = side === "first" ? MIDDLE / 2 : MIDDLE * 1.5;
    return svg("g", { class: "disc", transform: `translate(12 ${y}) scale(0.17)` }, hole, drawn);
  }

  #steps() {
    return this.#points
      .map(({ ply, height }, index) => (index === 0 ? `M${this.#x(ply)},${MIDDLE - height}` : `H${this.#x(ply)}V${MIDDLE - height}`))
      .join("");
  }

  /** @param {Point} point */
  #mark({ ply, height, mark }) {
    const [x, y] = [this.#x(ply), MIDDLE - height];
    if (mark === "blunder") return svg("path", { class: "graph-blunder", d: `M${x},${y - 5}l5,5l-5,5l-5,-5z` });
    return mark && svg("circle", { class: "graph-slip", cx: x, cy: y, r: 3.5 });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const steps = { ArrowLeft: this.#ply - 1, ArrowDown: this.#ply - 1, ArrowRight: this.#ply + 1, ArrowUp: this.#ply + 1, Home: this.#first, End: this.#last, PageUp: this.#ply + 5, PageDown: this.#ply - 5 };
    const ply = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (ply === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.goTo(Math.min(this.#last, Math.max(this.#first, ply)));
  }

  /** @param {PointerEvent} event */
  #point(event) {
    const box = this.element.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * SIZE.width;
    const share = (x - LEFT) / (SIZE.width - LEFT - RIGHT);
    this.goTo(this.#first + Math.round(Math.min(1, Math.max(0, share)) * (this.#last - this.#first)));
  }
}

/**
 * The same as a table, for those who read it.
 * @param {Review} review
 * @param {(ply: ReviewedPly) => string} label what is said of a move
 * @param {(ply: ReviewedPly) => string} name a move in words
 */
export function valueTable(review, label, name) {
  const points = new Map(pointsOf(review).map((point) => [point.ply, point]));
  const head = el("tr", {}, ...["review.move", "review.value", "review.label"].map((key) => el("th", { scope: "col" }, text(key))));
  const rows = review.plies.map((ply) => {
    const point = points.get(ply.ply);
    return el("tr", {}, el("th", { scope: "row" }, name(ply)), el("td", {}, point ? shortOutlook(point.outlook) : ""), el("td", {}, label(ply)));
  });
  const table = el("table", {}, el("caption", {}, text("review.graph")), el("thead", {}, head), el("tbody", {}, ...rows));
  return el("div", { class: "visually-hidden" }, table);
}

/** What a move's position was worth to whoever moved, before the move. @param {Review} review @param {ReviewedPly} ply */
export function outlookBefore(review, ply) {
  return outlook(parseVariant(review.variant), ply.ply - 1, ply.before);
}

/** What it was worth after the move. @param {Review} review @param {ReviewedPly} ply */
export function outlookAfter(review, ply) {
  const meant = outlook(parseVariant(review.variant), ply.ply - 1, ply.after);
  return { ...meant, plies: Math.max(0, meant.plies - 1) };
}
