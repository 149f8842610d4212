// The lobby: looks for an opponent, offers a bot when nobody comes, makes invitations, and shows what is being played.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { faceOf, greeting, nameOf, pictureOf } from "./companion.js";
import { arrange, el, find, setText } from "./dom.js";
import { discIcon } from "./drawing.js";
import { playerLink } from "./game-view.js";
import { finishedTile, liveTile, pairing } from "./live-games.js";
import { nextRival, openPlayDialog } from "./play-dialog.js";
import { parseMoves, parseVariant, winningLine } from "./rules.js";
import { expectGame, expectNothing, showChallengeEnd, showRefusal } from "./shell.js";
import { connection } from "./socket.js";
import { chosenBoard, chosenTime, NO_CLOCK, playBot, showLink, USUAL_BOARD, wantsRated } from "./start.js";
import { count, text } from "./texts.js";
import { boardName, offerWords, timeControl } from "./words.js";

/** @typedef {import("../types/protocol").LiveGame} LiveGame */
/** @typedef {import("../types/protocol").SeekEntry} SeekEntry */
/** @typedef {import("../types/protocol").BotOffer} BotOffer */

/** Games in the list: live ones, then the last that finished. */
const GAMES_MAX = 9;

const form = /** @type {HTMLFormElement} */ (find("#quick"));
const waiting = find("#waiting");
/** There is none where no bot of the house is a character. */
const playNext = /** @type {HTMLButtonElement | null} */ (document.querySelector("#play-next"));

/** What this tab looks for. @type {Pick<SeekEntry, "time" | "rated" | "variant"> & { opponents: ("human" | "bot")[], since: number } | null} */
let seek = null;
/** The game on the large board. */
let featured = "";
let featuredPairing = "";
/** The open invitation of this tab. @type {string | null} */
let invitation = null;
let timer = 0;

/**
 * What is said of a game to come; the usual board goes without saying.
 * @param {Pick<SeekEntry, "time" | "rated" | "variant">} terms
 */
function termsWords({ time, rated, variant }) {
  const board = variant === USUAL_BOARD ? [] : [boardName(parseVariant(variant))];
  return [timeControl(time), ...board, text(rated ? "game.rated" : "game.casual")].join(" · ");
}

const chosenTerms = () => ({ time: chosenTime(), rated: wantsRated(), variant: chosenBoard() });

// 1. Looking for an opponent

/** @param {Pick<SeekEntry, "time" | "rated" | "variant">} terms */
async function look(terms) {
  const bots = /** @type {HTMLInputElement} */ (find('input[name="bots"]', form)).checked;
  seek = { ...terms, opponents: bots ? ["human", "bot"] : ["human"], since: performance.now() };
  showWaiting(text("lobby.looking"), termsWords(terms), stopLooking);
  tick();
  await saySeek();
}

async function saySeek() {
  if (!seek) return;
  expectGame();
  const { time, rated, variant, opponents } = seek;
  try {
    await connection.request({ type: "seek", time, rated, variant, opponents });
  } catch (error) {
    const lost = error instanceof Error && "code" in error && error.code === "disconnected";
    if (lost) return;
    stopWaiting();
    showRefusal(error);
  }
}

function stopLooking() {
  connection.request({ type: "unseek" }).catch(() => {});
  stopWaiting();
}

function tick() {
  if (!seek) return;
  const seconds = Math.floor((performance.now() - seek.since) / 1000);
  setText(find("#waiting-time"), `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
  timer = window.setTimeout(tick, 1_000);
}

/** @param {BotOffer} offer */
function showBotOffer({ bot, time, variant }) {
  if (!seek) return;
  const box = find("#bot-offer");
  const accept = () => {
    connection.request({ type: "unseek" }).catch(() => {});
    playBot(bot.name, "random", time, { variant, moves: "" });
  };
  const keep = () => (box.hidden = true);
  box.replaceChildren(
    el("p", {}, text("lobby.nobody_yet")),
    playerLink(bot, faceOf(bot)),
    greeting(bot) ? el("q", { class: "soft" }, greeting(bot)) : "",
    el(
      "div",
      { class: "row wrap" },
      el("button", { type: "button", class: "button primary compact", click: accept }, text("lobby.play_name", { name: nameOf(bot) })),
      el("button", { type: "button", class: "button compact", click: keep }, text("lobby.keep_waiting")),
    ),
  );
  box.hidden = false;
  announce(text("lobby.nobody_spoken", { name: nameOf(bot) }));
}

// 2. Invitations

/** Whether something was chosen beside the buttons since the page came: only then it is what one wants a friend to play. */
let hasChosen = false;

async function invite() {
  // Comes when somebody wants it.
  const { askTerms } = await import("./invite-dialog.js");
  const terms = await askTerms({ like: hasChosen ? chosenTerms() : undefined });
  if (!terms) return;
  expectGame();
  try {
    const answer = await connection.request({ type: "open_challenge", ...terms });
    if (answer.type !== "challenge") return;
    if (answer.listed) return location.assign("/correspondence");
    invitation = answer.challenge;
    showWaiting(text("lobby.send_link"), `${offerWords(answer, true)} · ${text("lobby.begins_when_opened")}`, withdraw);
    showInvitation(new URL(answer.url ?? `/challenge/${answer.challenge}`, location.href).href, answer.challenge);
  } catch (error) {
    expectNothing();
    showRefusal(error);
  }
}

/**
 * @param {string} url
 * @param {string} challenge
 */
function showInvitation(url, challenge) {
  const code = find("#invite-code");
  code.replaceChildren(el("img", { class: "qr", src: `/challenge/${challenge}/qr.svg`, alt: text("challenge.qr"), width: 180, height: 180 }));
  code.hidden = false;
  showLink(find("#invite"), url);
}

function withdraw() {
  if (invitation) connection.request({ type: "cancel", challenge: invitation }).catch(showRefusal);
  invitation = null;
  stopWaiting();
}

// 3. The panel that waits

/**
 * @param {string} title
 * @param {string} detail
 * @param {() => void} cancel
 */
function showWaiting(title, detail, cancel) {
  // As high as what it takes the place of: a bot is offered after a while, and what is below stays where it is.
  if (!form.hidden) waiting.style.minHeight = `${form.offsetHeight}px`;
  form.hidden = true;
  waiting.hidden = false;
  showGuestName(false);
  setText(find("#waiting-title"), title);
  setText(find("#waiting-detail"), detail);
  setText(find("#waiting-time"), "");
  find("#bot-offer").hidden = true;
  find("#invite").hidden = true;
  find("#invite-code").hidden = true;
  find("#waiting-cancel").onclick = cancel;
  find("#waiting-cancel").focus();
  announce(`${title} ${detail}`);
}

/**
 * Whoever waits keeps the name that others see: another one would be another connection. The place of the choice stays.
 * @param {boolean} may
 */
function showGuestName(may) {
  const choice = /** @type {HTMLElement | null} */ (document.querySelector("#guest-name"));
  if (choice) choice.inert = !may;
}

function stopWaiting() {
  seek = null;
  clearTimeout(timer);
  expectNothing();
  waiting.hidden = true;
  showGuestName(true);
  form.hidden = false;
}

// 4. What is being played

/** @param {import("../types/protocol").LobbyFeed} lobby */
function showLobby({ seeks, games, live, online }) {
  setText(find("#counts"), `${count("lobby.online", online)} · ${count("lobby.in_progress", live)}`);
  const others = seeks.filter(({ player }) => player.id !== connection.welcome?.you.id);
  const rows = others.map(seekRow);
  find("#seeks").replaceChildren(...rows.slice(0, 1));
  find("#more-seeks").replaceChildren(...rows.slice(1));
  find("#nobody-waits").hidden = others.length > 0;
  find("#play-now").classList.toggle("primary", others.length > 0);
  playNext?.classList.toggle("primary", others.length === 0);
  if (games[0]) showFeature(games[0]);
  const finished = /** @type {HTMLElement[]} */ ([...find("#games").querySelectorAll(".game-tile:not(:has(.badge.live))")]);
  const byPeople = (/** @type {LiveGame} */ { players }) => players.first.kind !== "bot" || players.second.kind !== "bot";
  const rest = games.filter(({ game }) => game !== featured);
  showGames([...rest.filter(byPeople), ...rest.filter((game) => !byPeople(game))].map(tileNow), finished);
}

/** The tile of a live game: the one that is there if it shows that already. @param {LiveGame} live */
function tileNow(live) {
  const [shown, old] = [`${live.moves} ${live.watching}`, document.querySelector(`#games [data-game="${live.game}"]`)];
  if (old instanceof HTMLElement && old.dataset.shown === shown) return old;
  const tile = liveTile(live);
  tile.dataset.shown = shown;
  return tile;
}

/** Games that ended while one looked on, the newest first: places say nothing about age. @type {string[]} */
const ends = [];

/** How many games ended later; all that were there before count the same. @param {HTMLElement} tile */
function age(tile) {
  const place = ends.indexOf(tile.dataset.game ?? "");
  return place < 0 ? ends.length : place;
}

/**
 * Shows live games, and finished ones in the places that are left. Places are fixed: a game stays in its own for as long
 * as it is shown, and others come where one has gone.
 * @param {HTMLElement[]} live
 * @param {HTMLElement[]} finished of which the last that ended go first
 */
function showGames(live, finished) {
  const list = find("#games");
  const isLive = (/** @type {HTMLElement} */ tile) => live.some((other) => other.dataset.game === tile.dataset.game);
  const rest = finished.filter((tile) => tile.dataset.game !== featured && !isLive(tile));
  // One game of the same two is enough: those who play quickly would fill the list.
  const seen = new Set([featuredPairing]);
  const isFirst = (/** @type {HTMLElement} */ { dataset: { pairing } }) => !seen.has(pairing ?? "") && seen.add(pairing ?? "");
  const shown = [...live, ...rest.sort((one, two) => age(one) - age(two))].filter(isFirst).slice(0, GAMES_MAX);
  if (shown.length === 0) return;
  list.classList.add("live-games");
  arrange(list, inPlaces(/** @type {HTMLElement[]} */ ([...list.querySelectorAll(".game-tile")]), shown));
}

/**
 * Tiles in the order in which nothing moves: each in the place that it has, the others where places are free.
 * @param {HTMLElement[]} old
 * @param {HTMLElement[]} shown
 */
function inPlaces(old, shown) {
  const left = new Map(shown.map((tile) => [tile.dataset.game, tile]));
  const places = old.slice(0, shown.length).map(({ dataset: { game } }) => {
    const tile = left.get(game);
    left.delete(game);
    return tile;
  });
  const others = [...left.values()];
  return shown.map((_, place) => places[place] ?? /** @type {HTMLElement} */ (others.shift()));
}

/** @param {SeekEntry} entry */
function seekRow({ player, ...terms }) {
  const join = () => look(terms);
  return el(
    "li",
    {},
    el("span", { class: "grow" }, playerLink(player, pictureOf(player))),
    el("span", { class: "soft small" }, termsWords(terms)),
    el("button", { type: "button", class: "button compact", click: join, "aria-label": text("lobby.play_name", { name: nameOf(player) }) }, text("bots.play")),
  );
}

/** @param {LiveGame} game */
function showFeature(game) {
  featured = game.game;
  featuredPairing = pairing(game.players);
  showFeatured(game.variant, game.moves);
  find("#feature-badge").hidden = false;
  for (const side of /** @type {("first" | "second")[]} */ (["first", "second"])) {
    const seat = find(`#feature [data-side="${side}"]`);
    if (seat.dataset.player === game.players[side].id) continue;
    seat.dataset.player = game.players[side].id;
    seat.replaceChildren(discIcon(side), playerLink(game.players[side], pictureOf(game.players[side])));
  }
  const link = /** @type {HTMLAnchorElement} */ (find("#feature-link"));
  link.href = `/game/${game.game}`;
  setText(link, text("lobby.watch"));
}

/**
 * @param {string} variantText
 * @param {string} movesText
 */
function showFeatured(variantText, movesText) {
  const board = /** @type {BoardElement} */ (find("#feature ff-board"));
  const variant = parseVariant(variantText);
  const moves = parseMoves(movesText);
  board.show({ variant, moves, line: winningLine(variant, moves), seated: false, playable: false, pending: null });
}

/** @param {import("../types/protocol").ResultFeed} result */
function showResult(result) {
  if (result.end.game === featured) {
    showFeatured(result.variant, result.end.moves);
    find("#feature-badge").hidden = true;
    setText(find("#feature-link"), text("lobby.look_again"));
  }
  ends.unshift(result.end.game);
  ends.length = Math.min(ends.length, GAMES_MAX);
  const tiles = /** @type {HTMLElement[]} */ ([...find("#games").querySelectorAll(".game-tile")]);
  const live = tiles.filter((tile) => tile.querySelector(".badge.live") && tile.dataset.game !== result.end.game);
  const others = tiles.filter((tile) => !tile.querySelector(".badge.live"));
  showGames(live, [finishedTile(result), ...others]);
}

// 5. The puzzle of the day

/** Once it is wanted: its script comes then. A press with a key for another tab is for the browser. @param {MouseEvent} event */
async function wakePuzzle(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { wake } = await import("./lobby-puzzle.js");
  const root = find("#puzzle");
  if (root.dataset.status === "asleep") wake(root);
}

// 6. Events

for (const link of document.querySelectorAll("#puzzle [data-wake]")) link.addEventListener("click", (event) => wakePuzzle(/** @type {MouseEvent} */ (event)));

form.addEventListener("submit", (event) => {
  event.preventDefault();
  look(chosenTerms());
});
form.addEventListener("change", () => (hasChosen = true));
find("#make-link").addEventListener("click", invite);
find("#choose-bot").addEventListener("click", () => openPlayDialog());
// Whoever comes for the first time plays at once, and begins; everybody else against the first who is not beaten yet.
const next = nextRival();
if (playNext && next) {
  playNext.dataset.bot = next.bot;
  setText(find("small", playNext), next.words);
}
playNext?.addEventListener("click", () => {
  playBot(playNext.dataset.bot ?? "", "first", NO_CLOCK, { variant: chosenBoard(), moves: "" });
});
connection.on("bot_offer", showBotOffer);
connection.on("challenge_end", ({ challenge, how, reason }) => {
  if (challenge !== invitation) return;
  invitation = null;
  if (how === "accepted") return;
  stopWaiting();
  showChallengeEnd(how, reason);
});
connection.on("lobby", showLobby);
connection.on("result", showResult);
connection.on("synced", () => {
  connection.send({ type: "watch", feed: "lobby" });
  connection.send({ type: "watch", feed: "results" });
  saySeek();
});
