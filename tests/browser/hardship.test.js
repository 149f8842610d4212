// Hardship: a network that fails in the middle of a game, and text that means harm.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, PHONE } from "./support/browser.js";
import { myTurn, signUp } from "./support/game.js";
import { HOSTILE } from "./support/hostile.js";
import { Network } from "./support/network.js";
import { pair, playMoves } from "./support/people.js";

const arena = new Arena();
const browser = new Browser();
/** @type {Network} */
let network;

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
  network = await new Network(arena.url).start();
});
after(async () => {
  network.stop();
  await Promise.all([browser.stop(), arena.stop()]);
});
afterEach(() => browser.endOfTest(/fetching the script|WebSocket connection|ERR_(EMPTY_RESPONSE|CONNECTION_\w+)/));

test("a rated game goes on after the network of one side was gone for a while", async () => {
  const [near, far] = await Promise.all([network.url, arena.url].map((url) => browser.visitor(url)));
  await signUp(near, "Nora");
  await signUp(far, "Finn");
  const pages = await pair(near, far);
  await playMoves(pages, "44");
  // The one whose network fails is to move, so the other sees the absence run.
  if (pages.second === near) await playMoves(pages, "3", 2);
  const ply = pages.second === near ? 3 : 2;
  network.cut();
  await near.waitForSelector("#connection:not([hidden])");
  await far.waitForSelector(".offer-bar.alarm");
  await far.waitForSelector('[data-seat="top"] .away:not([hidden])');
  network.mend();
  await near.waitForSelector('html[data-connection="open"]');
  await far.waitForSelector(".offer-bar.alarm", { state: "detached" });
  assert.equal(await near.isHidden("#connection"), true);
  assert.equal(await myTurn(near), true);
  await playMoves(pages, "556", ply);
});

test("a move made while the network is gone arrives when it is back", async () => {
  const [near, far] = await Promise.all([network.url, arena.url].map((url) => browser.visitor(url)));
  const pages = await pair(near, far);
  if (pages.second === near) await playMoves(pages, "4");
  const ply = pages.second === near ? 1 : 0;
  assert.equal(await myTurn(near), true);
  network.cut();
  await near.waitForSelector('html:not([data-connection="open"])');
  await near.keyboard.press("7");
  network.mend();
  await far.waitForSelector(`#game[data-ply="${ply + 1}"]`);
});

test("a connection that falls silent is noticed while a move waits, and the move arrives", async () => {
  const [near, far] = await Promise.all([network.url, arena.url].map((url) => browser.visitor(url)));
  const pages = await pair(near, far);
  if (pages.second === near) await playMoves(pages, "4");
  const ply = pages.second === near ? 1 : 0;
  assert.equal(await myTurn(near), true);
  network.silence();
  await near.keyboard.press("7");
  await near.waitForSelector(".status-detail.late");
  // Long before heartbeats would have told.
  await near.waitForSelector("#connection:not([hidden])");
  network.mend();
  await far.waitForSelector(`#game[data-ply="${ply + 1}"]`);
  await near.waitForSelector(`#game[data-ply="${ply + 1}"]`);
  await near.waitForSelector(".status-detail:not(.late)");
});

test("hostile text stays text and breaks no page", async () => {
  assert.ok(HOSTILE.length >= 60, `${HOSTILE.length} texts`);
  const page = await browser.visitor(arena.url, PHONE);
  await signUp(page, "Mallory");
  await page.fill("#bot-name", "mallorys-bot");
  await page.click("#create-bot button[type=submit]");
  await page.waitForSelector("#token:not([hidden])");
  const token = (await page.textContent("#token-value")) ?? "";
  const bot = await browser.visitor(arena.url);
  await bot.goto("/docs");
  for (const about of HOSTILE) {
    const answer = await bot.evaluate(connectAs, { token, about });
    assert.match(answer, /synced|bad_field/, about);
    if (answer !== "synced") continue;
    for (const path of ["/bots", "/player/mallorys-bot"]) {
      await page.goto(path);
      const found = await page.evaluate(() => ({
        broken: "broken" in globalThis,
        wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
        intact: document.querySelector(".site-footer") !== null && document.title.includes("Fourfold"),
      }));
      assert.deepEqual({ ...found, wider: Math.max(0, found.wider) }, { broken: false, wider: 0, intact: true }, `${path}: ${about}`);
    }
  }
});

/**
 * Connects as a bot, from inside a page; answers with the last message's type, or its code if it is an error.
 * @param {{ token: string, about: string }} bot
 * @returns {Promise<string>}
 */
function connectAs({ token, about }) {
  const { resolve, promise } = Promise.withResolvers();
  const socket = new WebSocket(new URL("/api/v1/socket", location.href).href.replace("http", "ws"), "fourfold.v1");
  const bot = { version: about.slice(0, 16), about, url: about };
  const hello = (/** @type {object} */ more) => socket.send(JSON.stringify({ type: "hello", protocol: 1, token, client: { name: "x", version: "1" }, open: true, ...more }));
  socket.onopen = () => hello({ bot });
  socket.onmessage = ({ data }) => {
    const { type, code } = JSON.parse(data);
    if (type === "synced" || type === "error") resolve(type === "error" ? code : type);
  };
  // Keeps the connection, so that the bot is listed; the next one takes its place.
  Object.assign(globalThis, { socket });
  return promise;
}
