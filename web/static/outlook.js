// What exact values mean: who wins, and in how many moves. The server's `Score::plies_to_end` says the same.

import { other, sideToMove } from "./rules.js";
import { text } from "./texts.js";
import { COLOR } from "./words.js";

/** @typedef {import("./rules.js").Variant} Variant */
/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {{ winner: Side | null, plies: number }} Outlook Who wins, null for a draw, and the plies until the end. */

/** How a column's value is marked, so that nobody needs the colour. */
const SIGNS = { win: "▲", draw: "=", loss: "▼" };

/**
 * What a score means for a position after `ply` stones, of whose side to move it is.
 * @param {Variant} variant
 * @param {number} ply
 * @param {number} score
 * @returns {Outlook}
 */
export function outlook(variant, ply, score) {
  const cells = variant.width * variant.height;
  const mover = sideToMove(ply);
  if (score === 0) return { winner: null, plies: cells - ply };
  const winner = score > 0 ? mover : other(mover);
  const left = Math.abs(score) - 1;
  const stones = winner === "first" ? 2 * (Math.ceil(cells / 2) - left) - 1 : 2 * (Math.floor(cells / 2) - left);
  return { winner, plies: Math.max(0, stones - ply) };
}

/** The winner's moves until the end: every other ply, and the last. @param {Outlook} outlook */
export const movesLeft = ({ plies }) => Math.ceil(plies / 2);

/**
 * How sure and how near a win is, from 0 for a draw to 1 for the fastest win that the board allows.
 * @param {Variant} variant
 * @param {number} score
 */
export function nearness(variant, score) {
  const fastest = Math.ceil((variant.width * variant.height) / 2) - variant.connect + 1;
  return Math.min(1, Math.abs(score) / fastest);
}

/**
 * `Coral wins in 5`.
 * @param {Outlook} outlook
 * @param {Record<Side, string>} colors
 */
export function outlookWords(outlook, colors = COLOR) {
  if (outlook.winner === null) return text("analysis.draws");
  if (outlook.plies === 0) return text("analysis.won", { color: colors[outlook.winner] });
  return text("analysis.wins", { color: colors[outlook.winner], n: movesLeft(outlook) });
}

/**
 * The same where a draw needs no more than the word.
 * @param {Outlook} outlook
 */
export function shortOutlook(outlook) {
  return outlook.winner === null ? text("analysis.draw") : outlookWords(outlook);
}

/**
 * A column's value for the side to move: its kind, its mark, the word for it.
 * @param {number} score
 */
export function columnValue(score) {
  const kind = score > 0 ? "win" : score < 0 ? "loss" : "draw";
  const words = { win: text("analysis.win"), draw: text("analysis.draw"), loss: text("analysis.loss") };
  return { kind, sign: SIGNS[kind], word: words[kind] };
}
