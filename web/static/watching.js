// Follows any number of games in progress over the page's one connection, through losses of it.

import { connection } from "./socket.js";
import { reduce } from "./state.js";

/** @typedef {import("../types/protocol").GameMessage} GameMessage */
/** @typedef {import("./state.js").GameState} GameState */

/** @type {GameMessage["type"][]} */
const TYPES = ["game", "moved", "game_end", "crowd", "opponent_gone"];

export class Watching {
  /** @type {Map<string, GameState | null>} */
  #games = new Map();

  /** @param {(state: GameState) => void} show is given every game that has changed */
  constructor(show) {
    this.show = show;
    for (const type of TYPES) connection.on(type, (message) => this.#receive(message));
    connection.on("synced", () => [...this.#games.keys()].forEach((game) => this.#ask(game)));
  }

  /** @param {string} game */
  add(game) {
    if (this.#games.has(game)) return;
    this.#games.set(game, null);
    if (connection.state === "open") this.#ask(game);
  }

  /** @param {string} game */
  remove(game) {
    if (this.#games.delete(game)) connection.request({ type: "unwatch", game }).catch(() => {});
  }

  /** @param {string} game that is followed; null until it has been seen */
  state(game) {
    return this.#games.get(game) ?? null;
  }

  /** @param {string} game */
  #ask(game) {
    // A game that has ended meanwhile is not there any more, and stays as it was last seen.
    connection.request({ type: "watch", game }).catch(() => {});
  }

  /** @param {GameMessage} message */
  #receive(message) {
    if (!this.#games.has(message.game)) return;
    const before = this.state(message.game);
    const next = reduce(before, message, performance.now());
    if (!next || next === before) return;
    if (next.needsSync && !before?.needsSync) connection.send({ type: "sync", game: message.game });
    this.#games.set(message.game, next);
    this.show(next);
  }
}
