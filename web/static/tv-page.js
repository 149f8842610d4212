// The page that always shows the best game in progress: follows the feed that names it, and watches that game.

import * as bestOf from "./best-of.js";
import { find } from "./dom.js";
import { liveTile } from "./live-games.js";
import { GameView } from "./game-view.js";
import "./shell.js";
import { connection } from "./socket.js";
import { TruthBar } from "./truth-bar.js";
import { Watching } from "./watching.js";

/** @typedef {import("../types/protocol").LiveGame} LiveGame */

/** Other games shown beside it; the server's page has the same number. */
const OTHERS_MAX = 6;
/** How long a finished game stays before the next one takes its place, in milliseconds. */
const LINGER_MS = 4_000;

/** There is none if nothing was played when the page was made: the first game then loads it anew. */
const root = document.getElementById("game");
const view = root && new GameView(root, bestOf);
const truth = root && new TruthBar(root);
/** `people`, `bots` or `tournament` for games of these alone; empty for the best of all. */
const channel = document.querySelector("[data-channel]")?.getAttribute("data-channel") ?? "";
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
/** Turns to a game, once the one on show has been over for a while. @param {string} game */
function turnTo(game) {
  if (game === upcoming) return;
  if (!view) return location.reload();
  upcoming = game;
  clearTimeout(timer);
  timer = window.setTimeout(() => watch(game), watching.state(watched)?.status === "over" ? LINGER_MS : 0);
}

/** @param {LiveGame} game whether it is one of this channel */
function isShown({ players, tournament }) {
  if (channel === "tournament") return tournament !== undefined;
  const hasPeople = players.first.kind !== "bot" || players.second.kind !== "bot";
  return !channel || hasPeople === (channel === "people");
}

connection.on("tv", ({ game }) => {
  if (game && !channel) turnTo(game.game);
});
connection.on("lobby", ({ games }) => {
  const shown = games.filter(isShown);
  const goes = shown.some(({ game }) => game === upcoming);
  if (channel && shown[0] && !goes) turnTo(shown[0].game);
  find("#tv-others").replaceChildren(...shown.filter(({ game }) => game !== watched).slice(0, OTHERS_MAX).map(liveTile));
});
// The feed of the best game says at once which one it is; a channel goes on with the game that the page came with.
if (channel && root?.dataset.game) {
  upcoming = root.dataset.game;
  watch(upcoming);
}
