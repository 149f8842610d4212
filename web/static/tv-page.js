// The page that always shows the best game in progress: follows the feed that names it, and watches that game.

import { find } from "./dom.js";
import { liveTile } from "./live-games.js";
import { GameView } from "./game-view.js";
import { showRefusal } from "./shell.js";
import { connection } from "./socket.js";
import { reduce } from "./state.js";

/** @typedef {import("../types/protocol").GameMessage} GameMessage */
/** @typedef {import("./state.js").GameState} GameState */

/** How long a finished game stays before the next one takes its place, in milliseconds. */
const LINGER_MS = 4_000;

/** There is none if nothing was played when the page was made: the first game then loads it anew. */
const root = document.getElementById("game");
const view = root && new GameView(root);
/** @type {GameState | null} */
let state = null;
let watched = "";
/** The game that comes next. */
let upcoming = "";
let timer = 0;

/** @param {string} game */
function watch(game) {
  if (game === watched) return;
  const before = watched;
  watched = game;
  state = null;
  if (before) connection.request({ type: "unwatch", game: before }).catch(() => {});
  connection.request({ type: "watch", game }).catch(showRefusal);
}

/** @param {GameMessage} message */
function receive(message) {
  if (message.game !== watched) return;
  const next = reduce(state, message, performance.now());
  if (!next) return;
  if (next.needsSync && !state?.needsSync) connection.send({ type: "sync", game: watched });
  state = next;
  /** @type {HTMLAnchorElement} */ (find("#tv-link")).href = `/game/${watched}`;
  view?.show(state);
}

connection.on("synced", () => {
  watched = "";
  upcoming = "";
  connection.send({ type: "watch", feed: "tv" });
  connection.send({ type: "watch", feed: "lobby" });
});
connection.on("tv", ({ game }) => {
  if (!game || game.game === upcoming) return;
  if (!view) return location.reload();
  upcoming = game.game;
  const finishing = state?.id === watched && state?.status === "over";
  clearTimeout(timer);
  timer = window.setTimeout(() => watch(game.game), finishing ? LINGER_MS : 0);
});
connection.on("lobby", ({ games }) => {
  const others = games.filter(({ game }) => game !== watched).slice(0, 6);
  find("#tv-others").replaceChildren(...others.map(liveTile));
});
for (const type of /** @type {GameMessage["type"][]} */ (["game", "moved", "game_end", "crowd", "opponent_gone"])) {
  connection.on(type, receive);
}
