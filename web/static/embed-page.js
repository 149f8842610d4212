// A game in somebody else's page: one, or the best that is played, the next one following.

import { find } from "./dom.js";
import { connection } from "./socket.js";
import { WatchedGame } from "./watched.js";
import { Watching } from "./watching.js";

/** How long a finished game stays before the next one, in milliseconds. */
const LINGER_MS = 4_000;

const root = find("#embed");
/** There is none if nothing is played: the first game then loads the page anew. */
const shown = /** @type {HTMLElement | null} */ (root.querySelector(".watched"));
const board = shown && new WatchedGame(shown);
const watching = new Watching((state) => {
  if (state.id === current) board?.show(state);
});
let current = board?.game ?? "";
let timer = 0;

/** @param {string} game */
function turnTo(game) {
  watching.remove(current);
  current = game;
  watching.add(game);
}

if (current) watching.add(current);
connection.on("truth", (message) => message.game === current && board?.truth.hear(message));
if ("tv" in root.dataset) {
  connection.on("synced", () => connection.send({ type: "watch", feed: "tv" }));
  connection.on("tv", ({ game }) => {
    if (!game || game.game === current) return;
    if (!board) return location.reload();
    clearTimeout(timer);
    timer = window.setTimeout(() => turnTo(game.game), watching.state(current)?.status === "over" ? LINGER_MS : 0);
  });
}
connection.open();
