// Games by correspondence: which games are such, and in how many of them one is to move.

/** @typedef {import("../types/protocol").Snapshot} Snapshot */

/** From this limit for each move on it is such a game, in milliseconds: the server's rule. */
const DAY_MS = 86_400_000;

/** Whether each move may take a day or more. @param {import("../types/protocol").Time} time */
export const takesDays = (time) => time.bank_ms === null && time.move_ms !== null && time.move_ms >= DAY_MS;

/** Whether people play it with days for each move. @param {Pick<Snapshot, "time" | "players">} game */
export function isCorrespondence({ time, players }) {
  return takesDays(time) && players.first.kind === "human" && players.second.kind === "human";
}

/** Games by correspondence that go on, by whether one is to move there. */
export class Turns {
  /** @type {Map<string, { you: "first" | "second", mine: boolean }>} */
  #games = new Map();

  /** @param {Snapshot} game */
  note(game) {
    if (!game.you || !isCorrespondence(game)) return;
    if (game.status === "live") this.#games.set(game.game, { you: game.you, mine: game.to_move === game.you });
    else this.#games.delete(game.game);
  }

  /** @param {{ game: string, by: "first" | "second" }} moved */
  moved({ game, by }) {
    const known = this.#games.get(game);
    if (known) known.mine = by !== known.you;
  }

  /** @param {{ game: string }} end */
  ended({ game }) {
    this.#games.delete(game);
  }

  /** In how many one is to move. */
  get waiting() {
    return [...this.#games.values()].filter(({ mine }) => mine).length;
  }
}
