// Takes whoever watches a series to its next game, which the list of live games names once it has begun.

/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("../types/protocol").LiveGame} LiveGame */

/** Between two looks: the next game begins some seconds after the one before. */
const LOOK_MS = 2_000;
/** Looks until it is given up: nobody is taken away by a game that begins when he reads something else. */
const LOOKS_MAX = 15;

/** @param {GameState} state of a game that is over, of a series that goes on */
export async function followOn(state) {
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const next = await nextGame(state).catch(() => null);
    if (!next) continue;
    location.assign(`/game/${next.game}`);
    return;
  }
}

/** @param {GameState} state @returns {Promise<LiveGame | undefined>} */
async function nextGame({ series, players }) {
  const response = await fetch("/api/v1/live?limit=200");
  const { items } = await response.json();
  const here = [players.first.id, players.second.id].sort().join(" ");
  const isNext = (/** @type {LiveGame} */ game) =>
    game.series?.leg === (series?.leg ?? 0) + 1 && [game.players.first.id, game.players.second.id].sort().join(" ") === here;
  return items.find(isNext);
}
