// Making a bot, and the page on which its owner looks after it. Secrets are shown once and kept nowhere.
//
// The server draws everything. While the page is seen, it asks how the bot stands, and when that has changed, it takes
// over the parts of the page that are marked as live.

import { Problem, call, handle } from "./account-call.js";
import { announce } from "./announce.js";
import { find } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";
import { toast } from "./shell.js";
import { copy } from "./start.js";

/** How often to ask, in milliseconds. */
const ASK_EVERY_MS = 2_000;

/** What the server said last. */
let state = "";
/** Games that were told of. @type {Set<string>} */
let told = new Set();
/** The token that is shown, for the lines that start a bot. */
let token = "";

/** The bot of this page, if it is of one. */
function bot() {
  return document.querySelector("#own-bot")?.getAttribute("data-bot") ?? null;
}

/** What the next token may be used for. */
const scope = () => /** @type {HTMLSelectElement} */ (find("#token-scope")).value;

const path = () => `/api/v1/bots/${bot()}`;

/** Takes over the live parts; the focus stays on the button of the same name. */
async function refresh() {
  const fresh = await fetchedPage(location.pathname);
  if (!fresh) return; // the next look asks again
  const focused = document.activeElement?.id;
  for (const part of document.querySelectorAll("[data-live]")) {
    const replacement = fresh.getElementById(part.id);
    if (replacement && replacement.innerHTML !== part.innerHTML) part.replaceWith(document.adoptNode(replacement));
  }
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

async function ask() {
  if (!bot() || document.hidden) return;
  const answer = await fetch(path());
  if (!answer.ok) return; // the next look asks again
  const text = await answer.text();
  if (text === state) return;
  const isFirst = state === "";
  state = text;
  /** @type {{ games: string[] }} */
  const { games } = JSON.parse(text);
  if (!isFirst && games.some((game) => !told.has(game))) announce(find("#own-bot").dataset.begun ?? "");
  told = new Set(games);
  if (!isFirst) await refresh();
}

/** @param {string} secret */
function showToken(secret) {
  for (const code of document.querySelectorAll("[data-start]")) {
    code.textContent = (code.textContent ?? "").replaceAll(token || "c4b_…", secret);
  }
  token = secret;
  find("#token-value").textContent = secret;
  find("#put-token").hidden = true;
  const box = find("#token");
  box.hidden = false;
  box.scrollIntoView({ block: "nearest" });
  box.focus();
  announce(find("#token-title").textContent ?? "");
}

handle("#new-bot", async ({ name }) => {
  const made = await call("POST", "/api/v1/bots", { name });
  const fresh = await fetchedPage(`/bot/${made.name}`);
  if (!fresh) throw new Problem({ code: "internal" });
  // From here on this is the bot's own page: a reload shows it without the token.
  find("#main").replaceChildren(...find("#main", fresh).childNodes);
  document.title = fresh.title;
  history.replaceState(null, "", `/bot/${made.name}`);
  showToken(made.token);
  await ask();
});

handle("#new-duel", async ({ opponent, pairs, test }) => {
  const wanted = { opponent, pairs: Number(pairs), ...(test ? { test: { elo0: 0, elo1: 30 } } : {}) };
  location.href = `/duel/${(await call("POST", `${path()}/duels`, wanted)).id}`;
});

handle("#reset-rating", async ({ reason }) => {
  await call("POST", `${path()}/rating-resets`, { reason });
  location.reload();
});

/** What the buttons of the page do. @type {[string, (button: HTMLElement) => Promise<void>][]} */
const ACTIONS = [
  ["#begin-test", async () => call("POST", `${path()}/self-test`)],
  ["#new-token", async () => showToken((await call("POST", `${path()}/tokens?scope=${scope()}`)).token)],
  ["[data-rotate]", async ({ dataset }) => showToken((await call("POST", `${path()}/tokens/${dataset.rotate}/rotate`)).token)],
  ["[data-revoke]", async ({ dataset }) => call("DELETE", `${path()}/tokens/${dataset.revoke}`)],
];

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (!button) return;
  if (button.dataset.copy) {
    copy(button, find(`#${button.dataset.copy}`).textContent ?? "");
    return;
  }
  const action = ACTIONS.find(([selector]) => button.matches(selector));
  if (!action) return;
  try {
    await action[1](button);
    await refresh();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toast(error.message);
  }
});

setInterval(ask, ASK_EVERY_MS);
ask();
