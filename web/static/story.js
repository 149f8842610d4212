// What happened in a game, as one would tell it: chances that were missed for everybody to see, whatever theory says, and
// the one sentence about the move that decided. Pure: texts come in, sentences go out.

import { landingRow, other, parseMoves, parseVariant, winningLine } from "./rules.js";

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/review").Review} Review */
/** @typedef {import("../types/review").ReviewedPly} ReviewedPly */
/** @typedef {{ kind: "win" | "block", column: number }} Missed a chance that lay open: which, and where */

/** Sentences about the move that decided: of one's own, and of another player. */
const SENTENCES = {
  win: { you: "review.story_win_you", they: "review.story_win_they" },
  block: { you: "review.story_block_you", they: "review.story_block_they" },
  draw: { you: "review.story_draw_you", they: "review.story_draw_they" },
  ahead: { you: "review.story_ahead_you", they: "review.story_ahead_they" },
};

/**
 * The columns in which a side would complete a line at once.
 * @param {import("./rules.js").Variant} variant
 * @param {number[]} moves
 * @param {Side} side whose stone would fall
 */
function winsAtOnce(variant, moves, side) {
  // A stone that is not there passes the turn without touching the board.
  const before = (moves.length % 2 === 0) === (side === "first") ? moves : [...moves, 0];
  const columns = Array.from({ length: variant.width }, (_, index) => index + 1);
  return columns.filter((column) => landingRow(variant, moves, column) > 0 && winningLine(variant, [...before, column]));
}

/**
 * What a move overlooked: a line of one's own that one stone would have completed, else one of the other side that one
 * stone would have stopped.
 * @param {Review} review
 * @param {ReviewedPly} ply
 * @returns {Missed | null}
 */
export function missed(review, { ply, side, column }) {
  const variant = parseVariant(review.variant);
  const before = parseMoves(review.moves).slice(0, ply - 1);
  const wins = winsAtOnce(variant, before, side);
  if (wins.length > 0) return wins.includes(column) ? null : { kind: "win", column: wins[0] };
  const threats = winsAtOnce(variant, before, other(side));
  // Two at once nobody can stop: that was lost earlier.
  return threats.length === 1 && threats[0] !== column ? { kind: "block", column: threats[0] } : null;
}

/**
 * The move that decided, as a key of a sentence with its values: that after which the result was never again in doubt,
 * else the last chance that was missed. Null if nobody gave anything away.
 * @param {Review} review
 * @param {Side | null} you
 * @param {Record<Side, string>} names
 * @returns {{ ply: ReviewedPly, key: string, values: Record<string, string | number> } | null}
 */
export function story(review, you, names) {
  const last = review.plies.findLast((ply) => missed(review, ply) !== null);
  const ply = review.plies.find((other) => other.ply === review.turning_point) ?? last;
  if (!ply) return null;
  const chance = missed(review, ply);
  const what = chance?.kind ?? (ply.mistake === "draw_to_loss" ? "draw" : "ahead");
  const values = { n: ply.ply, name: names[ply.side], column: chance?.column ?? ply.best[0] ?? ply.column };
  return { ply, key: SENTENCES[what][ply.side === you ? "you" : "they"], values };
}
