// All lines that were tried from one position, as a tree: what was left can be come back to. Pure.

/** @typedef {{ column: number, next: Branch[] }} Branch a move, and those that were tried after it, the first one first */

/** @returns {Branch} before any move */
export const noMoves = () => ({ column: 0, next: [] });

/**
 * The tree with these moves in it; the same if they are.
 * @param {Branch} tree
 * @param {number[]} moves
 * @returns {Branch}
 */
export function grow(tree, moves) {
  if (moves.length === 0) return tree;
  const [column, ...rest] = moves;
  const known = tree.next.find((branch) => branch.column === column);
  if (!known) return { ...tree, next: [...tree.next, grow({ column, next: [] }, rest)] };
  const grown = grow(known, rest);
  return grown === known ? tree : { ...tree, next: tree.next.map((branch) => (branch === known ? grown : branch)) };
}

/**
 * The moves, and how it went on after them when it first did.
 * @param {Branch} tree
 * @param {number[]} moves
 */
export function throughout(tree, moves) {
  let here = moves.reduce((branch, column) => branch.next.find((next) => next.column === column) ?? { column, next: [] }, tree);
  const line = [...moves];
  while (here.next.length > 0) {
    here = here.next[0];
    line.push(here.column);
  }
  return line;
}

/**
 * The same seen from behind the board.
 * @param {Branch} tree
 * @param {number} width
 * @returns {Branch}
 */
export function mirrored({ column, next }, width) {
  return { column: column && width + 1 - column, next: next.map((branch) => mirrored(branch, width)) };
}

/** What a browser has kept of a tree, if it is one. @param {unknown} kept @returns {Branch | null} */
export function treeOf(kept) {
  if (typeof kept !== "object" || kept === null || !("next" in kept) || !Array.isArray(kept.next)) return null;
  return /** @type {Branch} */ (kept);
}
