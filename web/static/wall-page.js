// Many games at once: as many boards as fit, each with a live game. A board stays where it is: one whose game is over
// waits there for the next game.

import { find } from "./dom.js";
import { withNextPicture } from "./pictures.js";
import "./shell.js";
import { connection } from "./socket.js";
import { WatchedGame } from "./watched.js";
import { Watching } from "./watching.js";

/** Boards on the wall; the server's page has the same number. */
const BOARDS_MAX = 12;
/** Places that are there from the first game on, so that a row is never half empty. */
const PLACES_MIN = 4;
/** How long a finished game stays before another one takes its place, in milliseconds. */
const LINGER_MS = 5_000;

const wall = find("#wall");
const blank = /** @type {HTMLTemplateElement} */ (find("#blank"));

/** By game. @type {Map<string, WatchedGame>} */
const boards = new Map();
/** Games that are over and have been seen long enough: their boards are free. @type {Set<string>} */
const done = new Set();
/** Live games as the lobby told them last, the best first. @type {string[]} */
let live = [];

const watching = new Watching((state) => {
  withNextPicture(() => boards.get(state.id)?.show(state));
  if (state.status === "over") setTimeout(() => release(state.id), LINGER_MS);
});

/** Gives each live game that has none a board: a free one, else a new one while there is room. */
function fill() {
  for (const game of live) {
    if (boards.has(game)) continue;
    const board = freed() ?? (boards.size < BOARDS_MAX ? added() : null);
    if (!board) break;
    boards.set(game, board);
    watching.add(game);
  }
  keepPlaces();
  find("#wall-empty").hidden = boards.size > 0;
}

/** Fills the first row with boards that wait for games. */
function keepPlaces() {
  while (boards.size > 0 && boards.size < PLACES_MIN) {
    const board = added();
    const name = `place ${boards.size}`;
    board.root.hidden = false;
    board.root.inert = true;
    boards.set(name, board);
    done.add(name);
  }
}

/** A board at the end of the wall. */
function added() {
  wall.append(blank.content.cloneNode(true));
  const root = /** @type {HTMLElement} */ (wall.lastElementChild);
  // Until the game is known there is nothing to see, and a link to nowhere.
  root.hidden = true;
  return watched(root);
}

/** @param {HTMLElement} root */
function watched(root) {
  /** @type {import("./board.js").BoardElement} */ (find("ff-board", root)).isOneOfMany = true;
  return new WatchedGame(root);
}

/** The board that has been free for longest, if there is one. */
function freed() {
  const [over] = done;
  const board = boards.get(over);
  done.delete(over);
  boards.delete(over);
  if (board) {
    delete board.root.dataset.free;
    board.root.inert = false;
  }
  return board;
}

/** Lets another game have the board of one that is over. @param {string} over */
function release(over) {
  const board = boards.get(over);
  if (!board) return;
  board.root.dataset.free = "";
  watching.remove(over);
  done.add(over);
  fill();
}

for (const root of /** @type {NodeListOf<HTMLElement>} */ (wall.querySelectorAll(".watched"))) {
  const board = watched(root);
  boards.set(board.game, board);
  watching.add(board.game);
}
keepPlaces();
connection.on("synced", () => connection.send({ type: "watch", feed: "lobby" }));
connection.on("truth", (message) => withNextPicture(() => boards.get(message.game)?.truth.hear(message)));
connection.on("lobby", ({ games }) => {
  live = games.map(({ game }) => game);
  // What ended while the connection was lost was never told.
  for (const game of boards.keys()) {
    if (!live.includes(game) && !done.has(game) && watching.state(game)?.status !== "over") release(game);
  }
  fill();
});
