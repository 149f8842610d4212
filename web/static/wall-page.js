// Many games at once: as many boards as fit, each with a live game; one that is over makes room for the next.

import { find } from "./dom.js";
import "./shell.js";
import { connection } from "./socket.js";
import { WatchedGame } from "./watched.js";
import { Watching } from "./watching.js";

/** Boards on the wall; the server's page has the same number. */
const BOARDS_MAX = 12;
/** How long a finished game stays before another one takes its place, in milliseconds. */
const LINGER_MS = 5_000;

const wall = find("#wall");
const blank = /** @type {HTMLTemplateElement} */ (find("#blank"));

/** By game. @type {Map<string, WatchedGame>} */
const boards = new Map();
/** Live games as the lobby told them last, the best first. @type {string[]} */
let live = [];

const watching = new Watching((state) => {
  boards.get(state.id)?.show(state);
  if (state.status === "over") setTimeout(() => replace(state.id), LINGER_MS);
});

/** Puts a board up for each live game that has none, while there is room. */
function fill() {
  for (const game of live) {
    if (boards.size >= BOARDS_MAX) break;
    if (boards.has(game)) continue;
    wall.append(blank.content.cloneNode(true));
    const root = /** @type {HTMLElement} */ (wall.lastElementChild);
    // Until the game is known there is nothing to see, and a link to nowhere.
    root.hidden = true;
    boards.set(game, new WatchedGame(root));
    watching.add(game);
  }
  find("#wall-empty").hidden = boards.size > 0;
}

/** Gives the board of a game that is over to another one; takes it down if there is none. @param {string} over */
function replace(over) {
  const board = boards.get(over);
  if (!board) return;
  boards.delete(over);
  watching.remove(over);
  const next = live.find((game) => !boards.has(game) && game !== over);
  if (next) {
    boards.set(next, board);
    watching.add(next);
  } else {
    board.root.remove();
  }
  find("#wall-empty").hidden = boards.size > 0;
}

for (const root of /** @type {NodeListOf<HTMLElement>} */ (wall.querySelectorAll(".watched"))) {
  const board = new WatchedGame(root);
  boards.set(board.game, board);
  watching.add(board.game);
}
connection.on("synced", () => connection.send({ type: "watch", feed: "lobby" }));
connection.on("lobby", ({ games }) => {
  live = games.map(({ game }) => game);
  // What ended while the connection was lost was never told.
  for (const game of boards.keys()) {
    if (!live.includes(game) && watching.state(game)?.status !== "over") replace(game);
  }
  fill();
});
