// What was tried in the editor: each text of the program is a version of its own, with what it scored against whom, so
// that one sees whether a change made it stronger. All of it stays in this browser.

/** @typedef {{ wins: number, draws: number, losses: number }} Tally */
/** @typedef {{ number: number, code: string, scores: Record<string, Tally> }} Version the newest texts stand first */

/** Where versions are kept. */
const KEPT = "fourfold-editor-tried";
/** Versions that are kept: more than one goes back to, and little room. */
const VERSIONS_MAX = 20;
/** What is added to each of wins, draws and losses: a few games that went alike are no certainty. */
const PRIOR = 0.5;

/** Games of a tally. @param {Tally} tally */
export const gamesOf = ({ wins, draws, losses }) => wins + draws + losses;

/** Points of a tally per game, from 0 to 1. @param {Tally} tally */
export const shareOf = (tally) => (tally.wins + tally.draws / 2) / Math.max(1, gamesOf(tally));

/** Mean and its variance of the points that a game brings. @param {Tally} tally */
function estimate({ wins, draws, losses }) {
  const [won, drawn, lost] = [wins + PRIOR, draws + PRIOR, losses + PRIOR];
  const games = won + drawn + lost;
  const mean = (won + drawn / 2) / games;
  const spread = (won * (1 - mean) ** 2 + drawn * (0.5 - mean) ** 2 + lost * mean ** 2) / games;
  return { mean, variance: spread / games };
}

/**
 * How likely it is that who scored `one` is stronger than who scored `other` against the same opponent, from 0 to 1: the
 * means of independent games, taken as normally distributed.
 * @param {Tally} one
 * @param {Tally} other
 */
export function likelihood(one, other) {
  const [a, b] = [estimate(one), estimate(other)];
  return normal((a.mean - b.mean) / Math.sqrt(a.variance + b.variance));
}

/** The normal distribution up to `z`, by Abramowitz and Stegun 26.2.17: within 1e-7. @param {number} z */
export function normal(z) {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const series = [1.330274429, -1.821255978, 1.781477937, -0.356563782, 0.31938153].reduce((sum, factor) => (sum + factor) * t, 0);
  const tail = (series * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
  return z < 0 ? tail : 1 - tail;
}

/**
 * Versions with the text as the newest, which it is already if it was tried before.
 * @param {Version[]} versions
 * @param {string} code
 * @returns {[Version, ...Version[]]}
 */
export function withVersion(versions, code) {
  const known = versions.find((version) => version.code === code);
  const number = Math.max(0, ...versions.map((version) => version.number)) + 1;
  const version = known ?? { number, code, scores: {} };
  return [version, ...versions.filter((other) => other !== known).slice(0, VERSIONS_MAX - 1)];
}

/**
 * Adds a game of a version.
 * @param {Version} version
 * @param {string} opponent
 * @param {keyof Tally} outcome
 */
export function addGame({ scores }, opponent, outcome) {
  const tally = (scores[opponent] ??= { wins: 0, draws: 0, losses: 0 });
  tally[outcome] += 1;
}

/**
 * The version that was written before this one and met the same opponent, the latest of them.
 * @param {Version[]} versions
 * @param {Version} version
 * @param {string} opponent
 */
export function versionBefore(versions, { number }, opponent) {
  const before = versions.filter((other) => other.number < number && Object.hasOwn(other.scores, opponent));
  return before.sort((one, other) => other.number - one.number)[0];
}

/** Whether it is what `keepVersions` has written. @param {any} version @returns {version is Version} */
function isVersion(version) {
  const isCount = (/** @type {unknown} */ count) => Number.isSafeInteger(count) && Number(count) >= 0;
  const isTally = (/** @type {any} */ tally) => [tally?.wins, tally?.draws, tally?.losses].every(isCount);
  return isCount(version?.number) && typeof version.code === "string" && Object.values(version.scores ?? [null]).every(isTally);
}

/** What is kept; nothing if it cannot be read. @returns {Version[]} */
export function keptVersions() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "[]");
    return Array.isArray(kept) && kept.every(isVersion) ? kept : [];
  } catch {
    return [];
  }
}

/** @param {Version[]} versions */
export function keepVersions(versions) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(versions));
  } catch {
    // Without storage, or room in it, they last as long as the page.
  }
}
