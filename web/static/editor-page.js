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
import { Refused, connection } from "./socket.js";
import { asFile, withFile } from "./take-home.js";
import { text } from "./texts.js";
import { drawTried } from "./tried-view.js";
import { addGame, gamesOf, keepVersions, keptVersions, withVersion } from "./tried.js";
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
/** How long until a bot of the house that is busy is asked for the next game, in milliseconds, unless it says. */
const ASK_AGAIN_MS = 1_000;
/** A token of the page ends after this, whatever becomes of the page. */
const TOKEN_S = 3_600;

const root = find("#editor");
const code = /** @type {HTMLTextAreaElement} */ (find("#code"));
const opponent = /** @type {HTMLSelectElement} */ (find("#opponent"));
const games = /** @type {HTMLSelectElement} */ (find("#games"));
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
/** What was tried so far, the program that runs first. */
let versions = keptVersions();
/** The games that were asked for: how many, against whom, and how they went. */
let series = { of: 0, against: "", wins: 0, draws: 0, losses: 0 };
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
  if (series.of === 1) say(text("running.playing", { name: series.against }));
}

/** A game counts, unless it was broken off. @param {{ result: any, reason: any, moves?: string }} end @param {Side} side */
function ended({ result, reason, moves = "" }, side) {
  if (moves) draw(moves);
  const { against } = series;
  if (result !== "void") {
    const outcome = result === "draw" ? "draws" : result === side ? "wins" : "losses";
    series[outcome] += 1;
    addGame(versions[0], against, outcome);
    keepVersions(versions);
    showTried();
  }
  const [first, second] = side === "first" ? [text("running.program"), against] : [against, text("running.program")];
  if (series.of === 1) return say(`${headline(result, side, { first, second })} ${because(result, reason, { first, second }, 4, side)}`);
  const progress = text("running.series", { ...series, name: against, games: gamesOf(series) });
  // Read aloud at the end alone: games may last half a second.
  if (gamesOf(series) === series.of) say(progress);
  else setText(find("#editor-status"), progress);
}

/** Plays as the visitor, over the page's own connection. @type {{ game: string, side: Side } | null} */
let own = null;
/** Whether a game was asked for that has not begun. */
let isExpected = false;

/** How many games the visitor's program still has to play. */
let left = 0;

async function playAsVisitor() {
  left = series.of;
  const stop = () => {
    isExpected = false;
    if (own) connection.send({ type: "resign", game: own.game });
    own = null;
  };
  playing = { stop };
  await askForGame();
}

/** One game from the empty board with a side by lot; several from balanced positions, each side in turn. */
async function askForGame() {
  isExpected = true;
  const lot = { side: "random" };
  const drawn = { side: left % 2 ? "second" : "first", opening: { kind: "balanced" } };
  const terms = { bot: series.against, time: TIME, variant: "7x6", rated: false, ...(series.of === 1 ? lot : drawn) };
  const asked = series;
  while (series === asked && !isStopped) {
    try {
      await connection.request(/** @type {any} */ ({ type: "play_bot", ...terms }));
      return;
    } catch (error) {
      if (series !== asked || isStopped) return;
      const retryMs = error instanceof Refused ? error.error.retry_ms : undefined;
      if (retryMs === undefined) {
        isExpected = false;
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(Number(retryMs), ASK_AGAIN_MS)));
    }
  }
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
  left -= 1;
  if (left > 0) askForGame().catch(failed);
  else stopped();
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
    version: `editor-${versions[0].number}`,
    opponent: series.against,
    games: series.of,
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

/** A bot whose owner was told that it is connected elsewhere. */
let warned = "";

/**
 * Says so where the chosen bot is connected by another program, whose connection would end. Its own runs here call
 * themselves `editor-…`: one of these may still be on its way out.
 * @returns {Promise<boolean>} whether that was news
 */
async function warn() {
  const bot = playAs?.value ?? "";
  const note = document.querySelector("#elsewhere");
  if (!(note instanceof HTMLElement)) return false;
  // Whoever cannot be asked is not in the way: the run itself says what is wrong.
  const { connected = false, version = "" } = bot ? await call("GET", `/api/v1/bots/${bot}`).catch(() => ({})) : {};
  const isElsewhere = connected && !version?.startsWith("editor-");
  const isNews = isElsewhere && warned !== bot;
  warned = isElsewhere ? bot : "";
  note.textContent = isElsewhere ? text("editor.elsewhere", { name: bot }) : "";
  note.hidden = !isElsewhere;
  return isNews;
}

function stopped() {
  playing = null;
  root.dataset.over = "";
  buttons.run.disabled = false;
  buttons.stop.disabled = true;
}

async function start() {
  keep();
  buttons.run.disabled = true;
  // Whoever has not read it yet presses once more.
  if (await warn()) {
    buttons.run.disabled = false;
    return;
  }
  buttons.stop.disabled = false;
  delete root.dataset.over;
  isStopped = false;
  find("#console").replaceChildren();
  draw("");
  say(text("running.loading"));
  versions = withVersion(versions, code.value);
  series = { of: Number(games.value), against: opponent.value, wins: 0, draws: 0, losses: 0 };
  runner?.end();
  runner = new BotRunner(String(root.dataset.worker), code.value, print);
  try {
    await runner.load();
    await (playAs?.value ? playAsBot(playAs.value) : playAsVisitor());
  } catch (error) {
    failed(error);
  }
}

/** @param {unknown} error */
function failed(error) {
  if (isStopped) return;
  print(error instanceof Error ? error.message : String(error));
  say(text("running.failed"));
  stopped();
}

function showTried() {
  find("#tried").hidden = versions.every(({ scores }) => Object.keys(scores).length === 0);
  drawTried(find("#tried tbody"), versions, (version) => {
    code.value = version.code;
    keep();
    code.focus();
  });
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
showTried();
buttons.run.addEventListener("click", start);
playAs?.addEventListener("change", () => void warn());
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
find("#forget").addEventListener("click", () => {
  versions = [];
  keepVersions(versions);
  showTried();
});
code.addEventListener("change", keep);
addEventListener("pagehide", () => void endToken());
root.dataset.ready = "";
