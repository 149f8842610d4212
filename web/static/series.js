// How a row of games between the same two goes, kept in the browser for as long as its window is open: one win after the
// other is what brings people back. Draws give half a point to both; nothing here counts anywhere.

import { points } from "./words.js";

/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {{ games: string[], mine: number, theirs: number }} Series halves of points, as whole numbers */

const KEY = "series";

/** Games of a series that are remembered: no row of games is longer. */
const GAMES_MAX = 200;

/**
 * A series after one more game. A game that is in it already changes nothing.
 * @param {Series | undefined} series
 * @param {string} game
 * @param {"won" | "lost" | "even"} how
 * @returns {Series}
 */
export function seriesAfter(series = { games: [], mine: 0, theirs: 0 }, game, how) {
  if (series.games.includes(game)) return series;
  const mine = { won: 2, even: 1, lost: 0 }[how];
  return {
    games: [...series.games, game].slice(-GAMES_MAX),
    mine: series.mine + mine,
    theirs: series.theirs + 2 - mine,
  };
}

/**
 * Notes the end of a game and tells how the series stands, from its second game on.
 * @param {GameState} state of a game of one's own that is over
 * @param {string} opponent an id
 * @returns {{ mine: string, theirs: string } | null}
 */
export function noteGame(state, opponent) {
  if (state.result === null || state.result === "void") return null;
  const how = state.result === "draw" ? "even" : state.result === state.you ? "won" : "lost";
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
    const before = kept?.opponent === opponent ? kept.series : undefined;
    const series = seriesAfter(before, state.id, how);
    sessionStorage.setItem(KEY, JSON.stringify({ opponent, series }));
    return series.games.length < 2 ? null : { mine: points(series.mine), theirs: points(series.theirs) };
  } catch {
    return null; // No room to keep it, or somebody else's words there: a series is no matter of life.
  }
}
