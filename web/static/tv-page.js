// The page that always shows the best game in progress: follows the feed that names it, and watches that game.

import { find } from "./dom.js";
import { liveTile } from "./live-games.js";
import { GameView } from "./game-view.js";
import "./shell.js";
import { connection } from "./socket.js";
import { TruthBar } from "./truth-bar.js";
import { Watching } from "./watching.js";

/** How long a finished game stays before the next one takes its place, in milliseconds. */
const LINGER_MS = 4_000;

/** There is none if nothing was played when the page was made: the first game then loads it anew. */
const root = document.getElementById("game");
const view = root && new GameView(root);
const truth = root && new TruthBar(root);
let watched = "";
/** The game that comes next. */
let upcoming = "";
let timer = 0;

const watching = new Watching((state) => {
  if (state.id !== watched) return;
  view?.show(state);
  truth?.show(state);
});
connection.on("truth", (message) => truth?.hear(message));

/** @param {string} game */
function watch(game) {
  if (watched) watching.remove(watched);
  watched = game;
  watching.add(game);
  /** @type {HTMLAnchorElement} */ (find("#tv-link")).href = `/game/${game}`;
}

connection.on("synced", () => {
  connection.send({ type: "watch", feed: "tv" });
  connection.send({ type: "watch", feed: "lobby" });
});
connection.on("tv", ({ game }) => {
  if (!game || game.game === upcoming) return;
  if (!view) return location.reload();
  upcoming = game.game;
  clearTimeout(timer);
  timer = window.setTimeout(() => watch(game.game), watching.state(watched)?.status === "over" ? LINGER_MS : 0);
});
connection.on("lobby", ({ games }) => {
  const others = games.filter(({ game }) => game !== watched).slice(0, 6);
  find("#tv-others").replaceChildren(...others.map(liveTile));
});
