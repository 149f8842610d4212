// The line of moves on the analysis board, and how far it is shown. Pure.

import { landingRow, parseMoves, parseVariant, winningLine } from "./rules.js";

/** @typedef {{ variant: string, moves: number[], ply: number }} Line Columns from 1; `ply` of them are on the board. */

/** @param {number[]} moves one base-36 digit a move */
export const printMoves = (moves) => moves.map((column) => column.toString(36)).join("");

/**
 * @param {string} variant
 * @param {string} moves
 * @returns {Line}
 */
export function lineOf(variant, moves) {
  const parsed = parseMoves(moves);
  return { variant, moves: parsed, ply: parsed.length };
}

/** The moves on the board. @param {Line} line */
export const shownMoves = (line) => line.moves.slice(0, line.ply);

/** Whether somebody has won or the board is full. @param {Line} line */
export function isOver(line) {
  const variant = parseVariant(line.variant);
  return line.ply === variant.width * variant.height || winningLine(variant, shownMoves(line)) !== null;
}

/**
 * One more stone. What had been taken back is kept if it begins with the same move, and forgotten otherwise.
 * @param {Line} line
 * @param {number} column
 * @returns {Line} the same if the move is not allowed
 */
export function play(line, column) {
  const shown = shownMoves(line);
  if (isOver(line) || !landingRow(parseVariant(line.variant), shown, column)) return line;
  const moves = line.moves[line.ply] === column ? line.moves : [...shown, column];
  return { ...line, moves, ply: line.ply + 1 };
}

/**
 * @param {Line} line
 * @param {number} ply
 * @returns {Line}
 */
export function goTo(line, ply) {
  return { ...line, ply: Math.min(line.moves.length, Math.max(0, ply)) };
}

/** The same game seen from behind the board. @param {Line} line @returns {Line} */
export function mirror(line) {
  const { width } = parseVariant(line.variant);
  return { ...line, moves: line.moves.map((column) => width + 1 - column) };
}

/** Where the position on the board is found. @param {Line} line @param {string} [level] whose games are counted */
export function address(line, level = "") {
  const variant = line.variant === "7x6" ? null : { variant: line.variant };
  const asked = new URLSearchParams({ ...variant, ...(level && { level }) }).toString();
  const query = asked && `?${asked}`;
  if (line.ply === 0 && !query) return "/analysis";
  return `/analysis/${printMoves(shownMoves(line)) || "-"}${query}`;
}

/**
 * Where a study of a line is made.
 * @param {string} variant
 * @param {number[]} moves
 */
export const studyAddress = (variant, moves) => `/study/new?${new URLSearchParams({ variant, moves: printMoves(moves) })}`;
