// Why a bot that learns moved as it did: asks again whenever the list of moves on the page changes.

import { el, find } from "./dom.js";
import { patternBoard } from "./pattern.js";
import { text } from "./texts.js";

/** @typedef {{column: number, weight: number, pattern: string, seen: number, won: number, lost: number}} Reason */
/** @typedef {{ply: number, column: number, reasons: Reason[]}} MoveReasons */

/** How long the list of moves must stay as it is before asking, in milliseconds: a move changes it several times. */
const SETTLED_MS = 250;

const place = find("#why-moves");
const game = find("#game").dataset.game;

/** What is to be said if nothing spoke, or nothing for the column that was played. @param {MoveReasons} move */
function remarkOn({ column, reasons }) {
  if (reasons.length === 0) return "learning.why_silent";
  return reasons.some((reason) => reason.column === column) ? null : "learning.why_other";
}

/** @param {MoveReasons} move */
function shown(move) {
  const lines = move.reasons.map((reason) => {
    const weight = el("strong", { class: "number" }, `${reason.weight < 0 ? "−" : "+"}${Math.abs(reason.weight)}`);
    const parts = [weight, " ", text("learning.why_voice", { column: reason.column })];
    // Some learners keep weights alone.
    if (reason.seen > 0) {
      const counts = text("learning.counts", { seen: reason.seen, won: reason.won, lost: reason.lost });
      parts.push(el("div", { class: "soft small" }, counts));
    }
    return el("li", {}, patternBoard(reason.pattern), el("div", {}, ...parts));
  });
  const title = text("learning.why_move", { ply: move.ply, column: move.column });
  const remark = remarkOn(move);
  return [
    el("h3", { class: "small" }, title),
    ...(remark ? [el("p", { class: "soft small" }, text(remark))] : []),
    ...(lines.length ? [el("ul", { class: "voices" }, ...lines)] : []),
  ];
}

async function ask() {
  const answer = await fetch(`/api/v1/games/${game}/reasons`);
  if (!answer.ok) return; // the next move asks again
  /** @type {{items: MoveReasons[]}} */
  const { items } = await answer.json();
  if (items.length === 0) return;
  place.replaceChildren(...[...items].reverse().flatMap(shown));
}

let waiting = 0;
new MutationObserver(() => {
  clearTimeout(waiting);
  waiting = window.setTimeout(ask, SETTLED_MS);
}).observe(find(".moves"), { childList: true });
