// A bot in the browser: a program is written in the page, runs in a worker, and plays a bot of the house in the arena,
// for a visitor as the visitor's own casual game, for somebody with bots as one of these.
//
// A bot connects with a token that is made for this and ends with the page, or by itself soon after.

import { call } from "./account-call.js";
import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { BotRunner } from "./bot-runner.js";
import { find, setText } from "./dom.js";
import { landingRow, parseMoves, parseVariant, sideToMove, winningLine } from "./rules.js";
import { toast } from "./shell.js";
import { connection } from "./socket.js";
import { asFile, withFile } from "./take-home.js";
import { text } from "./texts.js";
import { because, headline } from "./words.js";

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {{ game: string, moves: string, ply: number, legal: number[], variant: string }} Turn */
/** @typedef {{ stop: () => void }} Playing */

/** Where the program is kept, in this browser alone. */
const KEPT = "fourfold-editor";
/** Lines of the console that are kept. */
const LINES_MAX = 200;
/** A minute and half a second a move each: long enough for a program that thinks, and over soon. */
const TIME = { bank_ms: 60_000, increment_ms: 500, move_ms: null };
/** A token of the page ends after this, whatever becomes of the page. */
const TOKEN_S = 3_600;

const root = find("#editor");
const code = /** @type {HTMLTextAreaElement} */ (find("#code"));
const opponent = /** @type {HTMLSelectElement} */ (find("#opponent"));
const playAs = /** @type {HTMLSelectElement | null} */ (document.querySelector("#play-as"));
const board = /** @type {BoardElement} */ (find("ff-board", root));
const buttons = {
  run: /** @type {HTMLButtonElement} */ (find("#run")),
  stop: /** @type {HTMLButtonElement} */ (find("#stop")),
};
const sample = code.value;

/** @type {BotRunner | null} */
let runner = null;
/** @type {Playing | null} */
let playing = null;
/** Whether the visitor has ended it. */
let isStopped = false;
/** The token of this page, and the bot whose it is. @type {{ bot: string, id: string } | null} */
let token = null;

/** @param {string} line */
function print(line) {
  const log = find("#console");
  log.append(`${line}\n`);
  while (log.childNodes.length > LINES_MAX) log.firstChild?.remove();
  log.scrollTop = log.scrollHeight;
}

/** @param {string} words */
function say(words) {
  setText(find("#editor-status"), words);
  announce(words);
}

/** @param {string} moves @param {string} [variant] */
function draw(moves, variant = "7x6") {
  const shape = parseVariant(variant);
  const columns = parseMoves(moves);
  board.show({ variant: shape, moves: columns, line: winningLine(shape, columns), seated: false, playable: false, pending: null });
  root.dataset.ply = String(columns.length);
}

/** The legal column that is nearest to the middle. @param {Turn} turn */
function central({ legal, variant }) {
  const middle = (parseVariant(variant).width + 1) / 2;
  return [...legal].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle) || a - b)[0];
}

/**
 * The program's move; what fails, or is no legal column, is said and replaced by the most central one.
 * @param {Turn} turn
 * @returns {Promise<{ column: number, info?: object }>}
 */
async function chosen(turn) {
  draw(turn.moves, turn.variant);
  try {
    const choice = await /** @type {BotRunner} */ (runner).choose(turn);
    if (turn.legal.includes(choice.column)) {
      const shape = parseVariant(turn.variant);
      const columns = parseMoves(turn.moves);
      if (landingRow(shape, columns, choice.column)) draw(turn.moves + choice.column.toString(36), turn.variant);
      return choice;
    }
    print(text("running.illegal", { column: String(choice.column), moves: turn.moves || "-" }));
  } catch (error) {
    print(`${turn.moves || "-"}: ${error instanceof Error ? error.message : error}`);
  }
  return { column: central(turn) };
}

/** @param {{ game: string }} message @param {Side} side */
function begun({ game }, side) {
  const link = /** @type {HTMLAnchorElement} */ (find("#editor-game"));
  link.href = `/game/${game}`;
  link.hidden = false;
  root.dataset.side = side;
  say(text("running.playing", { name: opponent.value }));
}

/** @param {{ result: any, reason: any, moves?: string, variant?: string }} end @param {Side} side */
function ended({ result, reason, moves = "" }, side) {
  if (moves) draw(moves);
  const [first, second] = side === "first" ? [text("running.program"), opponent.value] : [opponent.value, text("running.program")];
  say(`${headline(result, side, { first, second })} ${because(result, reason, { first, second }, 4, side)}`);
  root.dataset.over = "";
}

/** Plays as the visitor, over the page's own connection. @type {{ game: string, side: Side } | null} */
let own = null;
/** Whether a game was asked for that has not begun. */
let isExpected = false;

async function playAsVisitor() {
  isExpected = true;
  try {
    await connection.request(
      /** @type {any} */ ({ type: "play_bot", bot: opponent.value, time: TIME, side: "random", variant: "7x6", rated: false }),
    );
  } catch (error) {
    isExpected = false;
    throw error;
  }
  const stop = () => {
    isExpected = false;
    if (own) connection.send({ type: "resign", game: own.game });
    own = null;
  };
  playing = { stop };
}

connection.on("game", (game) => {
  if (!isExpected || !game.you || game.status !== "live") return;
  isExpected = false;
  own = { game: game.game, side: game.you };
  begun(game, game.you);
});
connection.on("turn", async (turn) => {
  if (own?.game !== turn.game) return;
  const choice = await chosen(turn);
  if (own?.game === turn.game) connection.send(/** @type {any} */ ({ type: "move", game: turn.game, ply: turn.ply, ...choice }));
});
connection.on("game_end", (end) => {
  if (own?.game !== end.game) return;
  const { side } = own;
  own = null;
  ended(end, side);
  stopped();
});

/** Plays as a bot of the visitor's, by the kit that the server gives away. @param {string} bot */
async function playAsBot(bot) {
  await endToken();
  const made = await call("POST", `/api/v1/bots/${bot}/tokens?lasts_s=${TOKEN_S}`);
  token = { bot, id: made.id };
  const { run } = await import(String(root.dataset.kit));
  const stop = new AbortController();
  playing = {
    stop: () => {
      stop.abort();
      void endToken(); // and with it the connection, so that the game ends too
    },
  };
  /** @type {Map<string, Side>} */
  const sides = new Map();
  const settings = {
    url: location.origin.replace(/^http/, "ws"),
    token: made.token,
    name: "fourfold-editor",
    version: "editor",
    opponent: opponent.value,
    games: 1,
    time: TIME,
    signal: stop.signal,
    onGameStart: (/** @type {any} */ game) => {
      sides.set(game.game, game.you);
      begun(game, game.you);
    },
    onGameEnd: (/** @type {any} */ end) => isStopped || ended(end, end.side),
    onError: (/** @type {any} */ problem) => print(`${problem.code}: ${problem.message}`),
  };
  try {
    await run(chosen, settings);
  } finally {
    await endToken();
    if (!isStopped) stopped();
  }
}

/** Revokes the token of this page, and with it the bot's connection; also while the page goes. */
async function endToken() {
  if (!token) return;
  const { bot, id } = token;
  token = null;
  await fetch(`/api/v1/bots/${bot}/tokens/${id}`, { method: "DELETE", keepalive: true });
}

function stopped() {
  playing = null;
  buttons.run.disabled = false;
  buttons.stop.disabled = true;
}

async function start() {
  keep();
  buttons.run.disabled = true;
  buttons.stop.disabled = false;
  delete root.dataset.over;
  isStopped = false;
  find("#console").replaceChildren();
  draw("");
  say(text("running.loading"));
  runner?.end();
  runner = new BotRunner(String(root.dataset.worker), code.value, print);
  try {
    await runner.load();
    await (playAs?.value ? playAsBot(playAs.value) : playAsVisitor());
  } catch (error) {
    if (isStopped) return;
    print(error instanceof Error ? error.message : String(error));
    say(text("running.failed"));
    stopped();
  }
}

function keep() {
  try {
    localStorage.setItem(KEPT, code.value);
  } catch {
    // Without storage the program lasts as long as the page.
  }
}

async function takeHome() {
  const answer = await fetch("/kits/javascript.tar");
  if (!answer.ok) return toast(text("error.internal"));
  const archive = new Uint8Array(await answer.arrayBuffer());
  const link = document.createElement("a");
  link.href = URL.createObjectURL(withFile(archive, "fourfold-javascript/my_bot.js", asFile(code.value)));
  link.download = "fourfold-javascript.tar";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 0);
  find("#at-home").hidden = false;
}

try {
  code.value = localStorage.getItem(KEPT) ?? sample;
} catch {
  // As above.
}
draw("");
buttons.run.addEventListener("click", start);
buttons.stop.addEventListener("click", () => {
  isStopped = true;
  playing?.stop();
  runner?.end();
  say(text("running.stopped"));
  stopped();
});
find("#take-home").addEventListener("click", takeHome);
find("#new-program").addEventListener("click", () => {
  code.value = sample;
  keep();
});
code.addEventListener("change", keep);
addEventListener("pagehide", () => void endToken());
root.dataset.ready = "";
