// A game's page: plays it, watches it, or shows it again. Events only: state.js says what they mean, game-view.js and
// game-actions.js show it.

import { find } from "./dom.js";
import { GameActions } from "./game-actions.js";
import { GameView } from "./game-view.js";
import { expectGame, showRefusal, toast } from "./shell.js";
import { connection, Refused } from "./socket.js";
import { fromSnapshot, reduce } from "./state.js";
import { text } from "./texts.js";

/** @typedef {import("../types/protocol").GameMessage} GameMessage */
/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("./game-actions.js").Act} Act */

const root = find("#game");
const id = /** @type {string} */ (root.dataset.game);
const view = new GameView(root);
const actions = new GameActions(root, act, (emoji) => send({ type: "react", game: id, emoji }));

/** @type {GameState} */
let state = readPage();
/** A column that was chosen and is not acknowledged yet. @type {number | null} */
let pending = null;
/** Whether this connection has told the game's state. */
let told = false;

/** The state that the server wrote into the page. */
function readPage() {
  const now = performance.now();
  const first = fromSnapshot(JSON.parse(root.dataset.snapshot ?? "{}"), now);
  const end = root.dataset.end ? JSON.parse(root.dataset.end) : null;
  return (end && reduce(first, { type: "game_end", ...end }, now)) || first;
}

function show() {
  view.show(state, pending);
  actions.show(state, connection.welcome?.reactions ?? []);
}

/** @param {GameMessage} message */
function receive(message) {
  if (message.game !== id) return;
  const next = reduce(state, message, performance.now());
  if (!next) return;
  told ||= message.type === "game";
  if (next.needsSync && !state.needsSync) send({ type: "sync", game: id });
  if (pending !== null && next.moves.length !== state.moves.length) pending = null;
  if (next.status === "over") pending = null;
  state = next;
  show();
}

/** @param {import("../types/protocol").ClientMessage} message */
function send(message) {
  connection.request(message).catch(showRefusal);
}

/** Plays the pending column. Saying it twice is safe: game and ply name the move. */
async function play() {
  if (pending === null) return;
  try {
    await connection.request({ type: "move", game: id, ply: state.moves.length, column: pending });
  } catch (error) {
    if (error instanceof Refused && error.code === "disconnected") return;
    pending = null;
    show();
    showRefusal(error);
    send({ type: "sync", game: id });
  }
}

/** @param {Act} wanted */
function act(wanted) {
  switch (wanted) {
    case "rematch":
      expectGame();
      return send({ type: "rematch", game: id });
    case "allow":
      return send({ type: "takeback_answer", game: id, yes: true });
    case "refuse":
      state = { ...state, takebackBy: null };
      show();
      return send({ type: "takeback_answer", game: id, yes: false });
    case "resign":
    case "abort":
    case "takeback":
    case "claim":
      return send({ type: wanted, game: id });
  }
}

/** After connecting: players get their games in progress unasked, everybody else has to ask. */
async function join() {
  if (state.status === "over" && !state.you) return;
  try {
    if (!state.you) await connection.request({ type: "watch", game: id });
    else if (!told) await connection.request({ type: "sync", game: id });
    if (pending !== null) await play();
  } catch (error) {
    const gone = error instanceof Refused && error.code === "no_such_game";
    if (gone && state.status === "live") toast(text("game.not_in_progress"));
    else if (!gone) showRefusal(error);
  }
}

/** @type {GameMessage["type"][]} */
const TYPES = ["game", "turn", "moved", "game_end", "opponent_gone", "takeback_offer", "rematch_offer", "crowd"];
for (const type of TYPES) connection.on(type, receive);
connection.on("reaction", ({ game, by, emoji }) => game === id && view.react(by, emoji));
connection.on("synced", join);
connection.on("welcome", show);
connection.onState((now) => (told &&= now === "open"));
root.addEventListener("column", (event) => {
  pending = /** @type {CustomEvent<number>} */ (event).detail;
  show();
  play();
});
show();
