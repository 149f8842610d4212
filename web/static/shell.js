// What every page has: the connection and how it stands, challenges and notices that come in, the way back to a game
// in progress, and the choice of light or dark.

import { announce } from "./announce.js";
import { isCorrespondence, takesDays, Turns } from "./correspondence.js";
import { el, find, icon } from "./dom.js";
import "./keys.js";
import { notify } from "./notices.js";
import { connection, Refused } from "./socket.js";
import { count, text } from "./texts.js";
import { challengeEnd, offerWords, refusal, spokenName } from "./words.js";

/** @typedef {import("../types/protocol").Offer} Offer */
/** @typedef {import("../types/protocol").Snapshot} Snapshot */

/** A broken connection shorter than this is not worth a word, in milliseconds. */
const QUIET_MS = 900;
/** How long a message without a question stays, in milliseconds. */
const TOAST_MS = 7_000;

/** Offers that are remembered as shown: more than wait for anybody at a time. */
const SHOWN_MAX = 64;

/** How long after loading the page for offline is fetched, in milliseconds. */
const KEEP_AFTER_MS = 3_000;

const toasts = find("#toasts");

/**
 * Shows a message over the page.
 * @param {string} words
 * @param {...Node} more
 * @returns {() => void} takes it away
 */
export function toast(words, ...more) {
  const close = () => box.remove();
  const cross = el("button", { type: "button", class: "icon-button toast-close", "aria-label": text("site.dismiss"), click: close }, icon("close"));
  const box = el("div", { class: "toast" }, el("p", {}, words), cross, ...more);
  toasts.append(box);
  announce(words);
  if (more.length === 0) setTimeout(close, TOAST_MS);
  return close;
}

/** What the last page leaves to be said by this one. */
const SAID = "said";

/** Has the next page show a message. @param {string} words */
export function sayThere(words) {
  try {
    sessionStorage.setItem(SAID, words);
  } catch {
    // It is done, though nobody says so.
  }
}

function sayHere() {
  try {
    const words = sessionStorage.getItem(SAID);
    sessionStorage.removeItem(SAID);
    if (words) toast(words);
  } catch {
    // Nothing was left.
  }
}

/** @param {unknown} error says a refusal; anything else is a fault of the page and is thrown on */
export function showRefusal(error) {
  if (!(error instanceof Refused)) throw error;
  if (error.code !== "disconnected") toast(refusal({ code: error.code, message: error.message }));
}

// 1. How the connection stands

const CONNECTION_WORDS = {
  connecting: "site.connecting",
  waiting: "site.lost",
  stopped: "site.stopped",
};

function watchConnection() {
  const pill = find("#connection");
  let timer = 0;
  connection.onState((state) => {
    clearTimeout(timer);
    document.documentElement.dataset.connection = state;
    if (state === "open") {
      pill.hidden = true;
      return;
    }
    timer = window.setTimeout(() => {
      pill.textContent = text(CONNECTION_WORDS[state]);
      pill.hidden = false;
    }, QUIET_MS);
  });
  connection.on("notice", ({ code, in_ms, text: said, tournament }) => {
    if (code === "restarting" || code === "resumed") stopCounting();
    if (code === "restarting") toast(text("site.restarting", { seconds: Math.ceil(in_ms / 1000) }));
    else if (code === "draining") countDown(in_ms);
    else if (code === "tournament") void import("./calls.js").then(({ tournamentSoon }) => tournamentSoon({ in_ms, text: said, tournament }));
    else if (code === "announcement") showAnnouncement(said ?? "");
  });
}

/** @type {number | undefined} */
let counting;

/** Shows how long the arena still runs, and tells it once. @param {number} ms */
function countDown(ms) {
  stopCounting();
  const end = performance.now() + ms;
  const line = el("p", { class: "announcement", id: "draining", role: "status", "aria-live": "off" });
  const show = () => {
    const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
    line.textContent = text("site.draining", { time: `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` });
  };
  show();
  counting = window.setInterval(show, 1000);
  document.querySelector("main")?.before(line);
  announce(line.textContent ?? "");
}

function stopCounting() {
  window.clearInterval(counting);
  document.querySelector("#draining")?.remove();
}

/** @param {string} words empty when it holds no longer */
function showAnnouncement(words) {
  const line = document.querySelector("#announcement");
  if (!(line instanceof HTMLElement)) return;
  line.textContent = words;
  line.hidden = !words;
}

// 2. Challenges from others

/** @type {Map<string, () => void>} */
const offers = new Map();

function watchChallenges() {
  connection.on("challenge", (offer) => {
    const mine = connection.welcome?.you.id === offer.from.id;
    if (mine || offers.has(offer.challenge) || !isNew(offer)) return;
    offers.set(offer.challenge, showOffer(offer));
    notify(received(offer), location.pathname);
  });
  connection.on("challenge_end", ({ challenge }) => {
    offers.get(challenge)?.();
    offers.delete(challenge);
  });
}

/** What is said of a challenge by somebody. @param {Offer} offer */
const received = (offer) => text("challenge.received", { name: spokenName(offer.from.name), terms: offerWords(offer, false) });

/** Offers that stand for days, and were shown in this tab: who has a week to answer need not read them on every page. */
const SHOWN = "offers-shown";

/** Whether an offer is shown here for the first time, or wants an answer now. @param {Offer} offer */
function isNew(offer) {
  if (!takesDays(offer.time)) return true;
  try {
    const shown = (sessionStorage.getItem(SHOWN) ?? "").split(" ");
    sessionStorage.setItem(SHOWN, [...shown, offer.challenge].slice(-SHOWN_MAX).join(" "));
    return !shown.includes(offer.challenge);
  } catch {
    return true;
  }
}

/** @param {Offer} offer */
function showOffer(offer) {
  const answer = (/** @type {"accept" | "decline"} */ type) => () => {
    if (type === "accept" && offer.side === "opponent") return location.assign(`/challenge/${offer.challenge}`);
    if (type === "accept") expectGame();
    connection.request({ type, challenge: offer.challenge }).catch(showRefusal);
    close();
  };
  const close = toast(
    received(offer),
    el(
      "div",
      { class: "row" },
      el("button", { type: "button", class: "button primary compact", click: answer("accept") }, text("challenge.accept")),
      el("button", { type: "button", class: "button compact", click: answer("decline") }, text("challenge.decline")),
    ),
  );
  setTimeout(close, offer.expires_ms);
  return close;
}

// 3. Games of one's own

/** Whether this tab has asked for a game, and goes to it when it begins. */
let expecting = false;

export function expectGame() {
  expecting = true;
}

export function expectNothing() {
  expecting = false;
}

/** Whether this page is being left for a game: a second navigation would abort the first. */
let leaving = false;
window.addEventListener("pageshow", () => (leaving = false)); // by the way back, too

/** @param {string} id */
export function goToGame(id) {
  if (leaving) return;
  leaving = true;
  location.assign(`/game/${id}`);
}

/** @type {Map<string, () => void>} */
const reminders = new Map();

function watchTurns() {
  const turns = new Turns();
  const show = () => {
    const link = find("#open-turns");
    link.hidden = turns.waiting === 0;
    link.textContent = String(turns.waiting);
    link.setAttribute("aria-label", count("correspondence.turns", turns.waiting));
    link.title = count("correspondence.turns", turns.waiting);
  };
  connection.on("game", (game) => (turns.note(game), show()));
  connection.on("moved", (moved) => (turns.moved(moved), show()));
  connection.on("game_end", (end) => (turns.ended(end), show()));
}

function watchGames() {
  connection.on("game", (game) => {
    if (!game.you || game.status !== "live" || showsItself(game.game)) return;
    // One that begins now, by a tournament or a search, for whoever does not look.
    if (game.event_seq === 0 && !isCorrespondence(game)) {
      notify(youPlay(game), `/game/${game.game}`);
      if (document.hidden) void import("./calls.js").then(({ count: wait }) => wait(`/game/${game.game}`));
    }
    if (expecting) goToGame(game.game);
    // The header says where one is to move by correspondence.
    else if (isCorrespondence(game)) return;
    else if (!reminders.has(game.game)) reminders.set(game.game, remind(game));
  });
  // Also of a game that the page shows: it is told to whoever does not look.
  connection.on("turn", ({ game }) => location.pathname === EDITOR || notify(text("game.your_turn"), `/game/${game}`));
  connection.on("game_end", ({ game }) => reminders.get(game)?.());
}

/** Where a program plays, which needs no notice. */
const EDITOR = "/bots/editor";

/** Whether the page shows the game, or, as the editor, has a program play it. @param {string} game */
const showsItself = (game) => [`/game/${game}`, EDITOR].includes(location.pathname);

/** @param {Snapshot} game */
function youPlay({ you, players }) {
  const opponent = you === "first" ? players.second : players.first;
  return text("challenge.you_play", { name: spokenName(opponent.name) });
}

/** @param {Snapshot} game */
function remind(game) {
  const link = el("a", { class: "button primary compact", href: `/game/${game.game}` }, text("challenge.go_to_game"));
  return toast(youPlay(game), el("div", { class: "row" }, link));
}

/**
 * Says how one's own challenge ended, unless by a game.
 * @param {string} how
 * @param {string} [reason]
 */
export function showChallengeEnd(how, reason) {
  const words = challengeEnd(how, reason);
  if (words) toast(words);
}

// 4. Light or dark: remembered in a cookie, so that the server draws the page right from the start

const THEME_SECONDS = 365 * 24 * 60 * 60;

/** Chooses light or dark, or what the system has. @param {string} theme empty for the latter */
export function chooseTheme(theme) {
  const root = document.documentElement;
  if (theme) root.dataset.theme = theme;
  else delete root.dataset.theme;
  document.cookie = `theme=${theme}; Path=/; Max-Age=${theme ? THEME_SECONDS : 0}; SameSite=Lax`;
  root.dispatchEvent(new Event("themed"));
}

function watchTheme() {
  const root = document.documentElement;
  const button = find("#theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
    button.replaceChildren(icon(dark ? "sun" : "moon"));
    button.setAttribute("aria-label", text(dark ? "site.light" : "site.dark"));
    return dark;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    chooseTheme(show() ? "light" : "dark");
  });
  root.addEventListener("themed", show);
  system.addEventListener("change", show);
  show();
}

// 5. A page for when there is no connection

/** Only once the page has all it needs: what is kept for later can wait. */
function keepOfflinePage() {
  if (!("serviceWorker" in navigator)) return;
  const version = new URL(".", import.meta.url).pathname.split("/").at(-2) ?? "";
  const address = `/service-worker.js?${version}`;
  const { trustedTypes } = /** @type {any} */ (window);
  const policy = trustedTypes?.createPolicy("service-worker", { createScriptURL: () => address });
  navigator.serviceWorker.register(policy?.createScriptURL("") ?? address).catch(() => {
    // Without it everything works but the page for offline.
  });
}

// 6. The row of pages of a part, which is wider than a phone: the one that is open is in sight

function showSubtab() {
  const here = document.querySelector(".subtabs [aria-current]");
  const row = here?.parentElement;
  if (!here || !row) return;
  const [tab, frame] = [here, row].map((each) => each.getBoundingClientRect());
  row.scrollLeft += tab.left + tab.width / 2 - (frame.left + frame.width / 2);
}

watchTheme();
showSubtab();
sayHere();
// What hardly anybody needs comes when it is asked for.
document.querySelector("#guest-name")?.addEventListener("toggle", () => import("./guest-name.js"), { once: true });
if (document.querySelector("time")) void import("./times.js");
try {
  if (localStorage.getItem("fourfold-class")) void import("./class-companion.js");
} catch {
  // Without storage nobody has joined a class.
}
addEventListener("load", () => setTimeout(keepOfflinePage, KEEP_AFTER_MS));
watchConnection();
watchChallenges();
watchTurns();
watchGames();
// Opens after all modules of the page have run and put up their listeners.
addEventListener("DOMContentLoaded", () => connection.open());
