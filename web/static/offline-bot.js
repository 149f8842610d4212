// A small bot that plays in the page: alpha-beta over a fixed number of plies, which counts for each line that only
// one side has stones in how many there are. Pure: the caller gives chance.

/** @typedef {import("./rules.js").Variant} Variant */

/** What n stones of one side alone on a line are worth, for lines of four; longer ones go on by the last step. */
const WORTH = [0, 1, 4, 16];
/** A win; sooner is better, by the plies left. */
const WIN = 100_000;

/** Steps from a cell along the four directions of lines: column and row. */
const DIRECTIONS = [[1, 0], [0, 1], [1, 1], [1, -1]];

class Search {
  /**
   * @param {Variant} variant
   * @param {number[]} moves
   */
  constructor(variant, moves) {
    this.variant = variant;
    this.heights = new Array(variant.width).fill(0);
    this.plies = 0;
    const { cellLines, count } = linesThrough(variant);
    this.cellLines = cellLines;
    /** Stones of each side on each line. */
    this.held = [new Int8Array(count), new Int8Array(count)];
    this.order = [...this.heights.keys()].sort((a, b) => Math.abs(a - (variant.width - 1) / 2) - Math.abs(b - (variant.width - 1) / 2));
    moves.forEach((column) => this.play(column - 1));
  }

  /** @param {number} column from 0 @returns {boolean} whether it completes a line */
  play(column) {
    const held = this.held[this.plies % 2];
    let wins = false;
    for (const line of this.cellLines[column * this.variant.height + this.heights[column]]) {
      held[line] += 1;
      wins ||= held[line] >= this.variant.connect;
    }
    this.heights[column] += 1;
    this.plies += 1;
    return wins;
  }

  /** @param {number} column from 0 */
  undo(column) {
    this.plies -= 1;
    this.heights[column] -= 1;
    const held = this.held[this.plies % 2];
    for (const line of this.cellLines[column * this.variant.height + this.heights[column]]) held[line] -= 1;
  }

  /** The position's worth for the side to move, without looking ahead. */
  judge() {
    const [mine, theirs] = [this.held[this.plies % 2], this.held[1 - (this.plies % 2)]];
    let sum = 0;
    for (let line = 0; line < mine.length; line += 1) {
      if (theirs[line] === 0) sum += WORTH[Math.min(mine[line], WORTH.length - 1)];
      else if (mine[line] === 0) sum -= WORTH[Math.min(theirs[line], WORTH.length - 1)];
    }
    return sum;
  }

  /**
   * The score for the side to move; a bound if it is not between `alpha` and `beta`.
   * @param {number} depth plies to look ahead
   * @param {number} alpha
   * @param {number} beta
   * @returns {number}
   */
  score(depth, alpha, beta) {
    const { width, height } = this.variant;
    if (this.plies === width * height) return 0;
    if (depth === 0) return this.judge();
    let best = -Infinity;
    for (const column of this.order) {
      if (this.heights[column] === height) continue;
      const score = this.try(column, depth, Math.max(alpha, best), beta);
      if (score > best) best = score;
      if (best >= beta) break;
    }
    return best;
  }

  /**
   * The score of a move for whoever makes it.
   * @param {number} column from 0
   * @param {number} depth
   * @param {number} alpha
   * @param {number} beta
   */
  try(column, depth, alpha, beta) {
    const wins = this.play(column);
    const score = wins ? WIN + depth : -this.score(depth - 1, -beta, -alpha);
    this.undo(column);
    return score;
  }
}

/**
 * The lines of a board, as their numbers by cell; cells are counted up the columns.
 * @param {Variant} variant
 */
function linesThrough({ width, height, connect }) {
  /** @type {number[][]} */
  const cellLines = Array.from({ length: width * height }, () => []);
  let count = 0;
  for (let column = 0; column < width; column += 1) {
    for (let row = 0; row < height; row += 1) {
      for (const [dx, dy] of DIRECTIONS) {
        const [lastColumn, lastRow] = [column + (connect - 1) * dx, row + (connect - 1) * dy];
        if (lastColumn >= width || lastRow >= height || lastRow < 0) continue;
        for (let step = 0; step < connect; step += 1) cellLines[(column + step * dx) * height + row + step * dy].push(count);
        count += 1;
      }
    }
  }
  return { cellLines, count };
}

/**
 * Chooses a column for the side to move; the position is not over.
 * @param {Variant} variant
 * @param {number[]} moves columns from 1
 * @param {number} depth plies to look ahead, from 1
 * @param {() => number} random chooses among equally good ones: from 0 to under 1
 * @returns {number} a column from 1
 */
export function chooseColumn(variant, moves, depth, random) {
  const search = new Search(variant, moves);
  /** @type {number[]} */
  let best = [];
  let bestScore = -Infinity;
  for (const column of search.order) {
    if (search.heights[column] === variant.height) continue;
    // One below the best so far, so that equally good ones are told from worse ones.
    const score = search.try(column, depth, bestScore - 1, Infinity);
    if (score > bestScore) [best, bestScore] = [[], score];
    if (score === bestScore) best.push(column + 1);
  }
  return best[Math.floor(random() * best.length)];
}
