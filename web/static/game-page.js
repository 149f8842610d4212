// A game's page: plays it, watches it, or shows it again. Events only: state.js says what they mean, game-view.js and
// game-actions.js show it.

import { announce } from "./announce.js";
import * as bestOf from "./best-of.js";
import { Companion, nameOf } from "./companion.js";
import { find } from "./dom.js";
import { Ending } from "./ending.js";
import { GameActions } from "./game-actions.js";
import { GameView } from "./game-view.js";
import { OpeningName } from "./opening-names.js";
import { areWanted, reactionWords } from "./reactions.js";
import { formatVariant, landingRow, other } from "./rules.js";
import { current } from "./settings.js";
import { expectGame, showRefusal, toast } from "./shell.js";
import { connection, Refused } from "./socket.js";
import * as sound from "./sound.js";
import { fromSnapshot, reduce, tournamentOf } from "./state.js";
import { text } from "./texts.js";
import { TruthBar } from "./truth-bar.js";

/** @typedef {import("../types/protocol").GameMessage} GameMessage */
/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("./game-actions.js").Act} Act */

/** A second press on the same column so soon after a move is the end of a double click and plans nothing, in
 *  milliseconds. */
const DOUBLE_PRESS_MS = 400;

const root = find("#game");
const id = /** @type {string} */ (root.dataset.game);
const view = new GameView(root, bestOf);
const truth = new TruthBar(root);
const companion = new Companion(root);
const opening = new OpeningName(root);
const ending = new Ending(root, () => act("rematch"));
const actions = new GameActions(root, act, (emoji) => send({ type: "react", game: id, emoji }));

/** From the last disc's landing to the ribbon: the four hop and the line draws itself first, in milliseconds. */
const ENDING_MS = 900;

/** How long one waits for a hint, in milliseconds. */
const HINT_MS = 4_000;

/** A move that has not been answered for so long is said to be under way, and the connection is put to the test, in
 *  milliseconds: one's clock may be running. */
const LATE_MS = 3_000;

/** @type {GameState} */
let state = readPage();
/** The ply on show. */
let shown = 0;
/** What a game that is over has besides, which is asked for then. @type {ReturnType<typeof readBesides> | null} */
let besides = null;
/** A column that was chosen and is not acknowledged yet. @type {number | null} */
let pending = null;
/** A column that was chosen for the next turn. @type {number | null} */
let planned = null;
/** When one's own last move was acknowledged. */
let movedAt = -Infinity;
/** Whether the pending move is late. */
let late = false;
let lateTimer = 0;
/** Whether this connection has told the game's state. */
let told = false;

/** The state that the server wrote into the page. */
function readPage() {
  const now = performance.now();
  const first = fromSnapshot(JSON.parse(root.dataset.snapshot ?? "{}"), now);
  const end = root.dataset.end ? JSON.parse(root.dataset.end) : null;
  return (end && reduce(first, { type: "game_end", ...end }, now)) || first;
}

async function readBesides() {
  const [{ ReviewCard }, { Replay }] = await Promise.all([import("./review.js"), import("./replay.js")]);
  const review = new ReviewCard(root, (ply) => view.goTo(ply));
  review.show(shown);
  return { review, replay: new Replay(root, view) };
}

/** Once the game is over, it can be played again by itself, and is gone through. */
async function showBesides() {
  besides ??= readBesides();
  const { review, replay } = await besides;
  const study = root.querySelector("#make-study");
  study?.setAttribute("href", `/study/new?variant=${formatVariant(state.variant)}&moves=${state.moves.map((move) => move.toString(36)).join("")}`);
  study?.removeAttribute("hidden");
  replay.show(state);
  if (state.result !== "void") review.load(state);
}

function show() {
  if (pending === null) {
    clearTimeout(lateTimer);
    late = false;
  }
  view.show(state, pending, planned, late);
  truth.show(state);
  companion.show(state);
  if (state.status === "over") showBesides();
  ending.hear(state);
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
  if (next.status === "over") pending = planned = null;
  const before = state;
  state = next;
  if (message.type === "moved" && message.by === state.you) movedAt = performance.now();
  show();
  sounds(before, message);
  playPlanned();
}

/**
 * @param {GameState} before
 * @param {GameMessage} message
 */
function sounds(before, message) {
  const ply = state.moves.length;
  if (ply === before.moves.length + 1 && message.type !== "game") {
    const column = state.moves[ply - 1];
    const row = state.moves.filter((move) => move === column).length;
    sound.drop(ply % 2 === 1 ? "first" : "second", row, view.board.landsIn, { column, width: state.variant.width });
  }
  if (before.status === "live" && state.status === "over") {
    const isDecided = state.result === "first" || state.result === "second";
    sound.end(!isDecided || !state.you ? "even" : state.result === state.you ? "won" : "lost");
    if (state.you && state.result === state.you) view.board.celebrate(state.you);
    const words = [".status-text", ".status-detail"].map((place) => find(place, root).textContent ?? "");
    // Whoever plays in a tournament, or a series, is taken to the next game of it.
    if (state.you && (tournamentOf(state) || bestOf.verdict(state) === "on")) expectGame();
    else if (!state.you && bestOf.verdict(state) === "on") void import("./follow-on.js").then(({ followOn }) => followOn(state));
    ending.show(state, words[0], words[1], view.board.landsIn + ENDING_MS);
  }
  announce(offered(before, message));
  const asksMe = (message.type === "rematch_offer" || message.type === "takeback_offer") && message.by !== state.you;
  if (asksMe && state.you) sound.call();
}

/**
 * What the other side wants, or does, beside its moves, and what one has asked for oneself: nobody need see the bar.
 * @param {GameState} before
 * @param {GameMessage} message
 */
function offered(before, message) {
  const { you, players } = state;
  if (!you) return "";
  const name = nameOf(players[other(you)]);
  const isMine = "by" in message && message.by === you;
  switch (message.type) {
    case "takeback_offer":
      return text(isMine ? "game.asked_take_back" : "game.asks_take_back", { name });
    case "takeback_refused":
      return isMine ? "" : text("game.take_back_refused", { name });
    case "rematch_offer":
      return isMine ? "" : text("game.wants_rematch", { name });
    case "opponent_gone":
      return !isMine && state.gone[message.by] && !before.gone[message.by] ? text("game.lost_connection", { name }) : "";
    default:
      return "";
  }
}

/** Plays what was planned as soon as it is one's turn; if the column has filled up meanwhile, nothing. */
function playPlanned() {
  if (planned === null || pending !== null || state.toMove !== state.you) return;
  const column = planned;
  planned = null;
  if (landingRow(state.variant, state.moves, column)) choose(column);
  else show();
}

/** Whether a column may be played: by those who want it so, only when it is chosen a second time. @param {number} column */
function isConfirmed(column) {
  if (current().confirm === "off" || view.board.hinted === column) return true;
  view.board.hint([column]);
  return false;
}

/** @param {number} column */
function choose(column) {
  view.board.hint([]);
  pending = column;
  show();
  play();
  clearTimeout(lateTimer);
  lateTimer = window.setTimeout(wonder, LATE_MS);
}

/** The chosen move is not acknowledged: says so, and lets the connection show that it is alive. */
function wonder() {
  late = true;
  announce(text("game.move_on_its_way"));
  show();
  connection.probe();
}

/** Plans a move for the next turn, or calls it off if it is the same again. @param {number | null} column */
function plan(column) {
  const isDoublePress = performance.now() - movedAt < DOUBLE_PRESS_MS && column === state.moves.at(-1);
  if (column !== null && (isDoublePress || current().premove === "off")) return;
  const next = column === planned ? null : column;
  if (next === planned) return;
  planned = next;
  announce(next === null ? text("game.premove_off") : text("game.premove", { column: next }));
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
    case "hint":
      return hint();
    case "resign":
    case "abort":
    case "takeback":
    case "claim":
      return send({ type: wanted, game: id });
  }
}

/** Shows which column is best, if the server knows it soon. */
async function hint() {
  const { variant, moves } = state;
  const patience = AbortSignal.timeout(HINT_MS);
  try {
    // Few ask, so that the others need not load it.
    const { fetchPosition } = await import("./positions.js");
    const position = await fetchPosition(formatVariant(variant), moves.join(""), patience, () => {});
    if (moves !== state.moves) return;
    if (!position.best?.length) throw new Error("nobody knows");
    view.board.hint(position.best);
    announce(text("game.hint_is", { column: position.best[0] }));
  } catch {
    toast(text("game.no_hint"));
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
const TYPES = ["game", "turn", "moved", "game_end", "opponent_gone", "takeback_offer", "takeback_refused", "rematch_offer", "crowd"];
for (const type of TYPES) connection.on(type, receive);
connection.on("reaction", ({ game, by, emoji }) => game === id && areWanted() && view.react(by, reactionWords(emoji)));
connection.on("truth", (message) => message.game === id && truth.hear(message));
connection.on("synced", join);
connection.on("welcome", show);
connection.onState((now) => (told &&= now === "open"));
root.addEventListener("shown", (event) => {
  shown = /** @type {CustomEvent<number>} */ (event).detail;
  opening.show(state.variant, state.moves.slice(0, shown));
  besides?.then(({ review }) => review.show(shown));
});
root.addEventListener("column", (event) => {
  const column = /** @type {CustomEvent<number>} */ (event).detail;
  if (state.paused) return toast(text("attending.look_up"));
  if (state.toMove === state.you && !isConfirmed(column)) return;
  if (state.toMove === state.you) choose(column);
  else plan(column);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") plan(null);
});
root.addEventListener("low", (event) => {
  if (state.you && event.target instanceof Element && event.target.closest('[data-seat="bottom"]')) sound.hurry();
});
show();
