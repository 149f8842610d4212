// Every page in every width that people have, in the languages with the longest words, with the longest names: nothing
// scrolls sideways, nothing reaches out of its container, nothing is cut. One browser, and one load for each page and
// language: the window changes its size under it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";

import { ADDRESSES } from "./support/addresses.js";
import { Arena } from "./support/arena.js";
import { Browser } from "./support/browser.js";
import { myTurn, startBotGame } from "./support/game.js";
import { strays } from "./support/strays.js";

/** @typedef {import("playwright-core").Page} Page */

/** Phones upright and on their side, tablets, laptops low and wide, and 200 % zoom on one of them (683 × 384). */
const SIZES = /** @type {const} */ ([
  [320, 640], [360, 740], [390, 844], [720, 1000], [768, 1024], [860, 1100], [1024, 768], [1366, 640], [1440, 900],
  [1920, 1080], [844, 390], [683, 384],
]);
const LANGUAGES = ["en", "de", "fr"];
/** The narrowest of each form of the pages, where long words hurt first; other languages are tried in these, and in all
 * sizes with `ALL_SIZES=1`. */
const TIGHT = SIZES.filter(([width]) => [320, 720, 768, 844].includes(width));
/** Documents are in English whatever the language. */
const DOCUMENTS = ["/docs/operating", "/docs/protocol"];
/** As long as names may be. */
const NAME = "Wolfgang-Memory_1000";

const arena = new Arena({ store: true, learning: true });
const browser = new Browser();
const { session } = JSON.parse(readFileSync(new URL("../data/arena/credentials.json", import.meta.url), "utf8"));

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));

/**
 * Opens a page as ada, who has an account and a bot, and gives everybody the longest name.
 * @param {Page} page
 * @param {string} path
 */
async function open(page, path) {
  const answer = await page.goto(path, { waitUntil: "load" });
  assert.equal(answer?.status(), path === "/nothing" ? 404 : 200, `${path} is in the store`);
  if (!/^\/(embed|offline)/.test(path)) await page.waitForSelector('html[data-connection="open"]');
  if (path.startsWith("/game")) await page.waitForSelector(".status-text");
  await page.$$eval(".name, .account-link span", (names, longest) => names.forEach((name) => (name.textContent = longest)), NAME);
}

for (const language of LANGUAGES) {
  test(`nothing reaches out of its container in any width, ${language}`, async () => {
    const [name, value] = session.split("=");
    const page = await browser.visitor(arena.url, { locale: language, reducedMotion: "reduce" });
    await page.context().addCookies([{ name, value, url: arena.url }]);
    const found = [];
    const sizes = language === "en" || process.env.ALL_SIZES ? SIZES : TIGHT;
    for (const path of language === "en" ? [...ADDRESSES, ...DOCUMENTS] : ADDRESSES) {
      await open(page, path);
      for (const [width, height] of sizes) {
        await page.setViewportSize({ width, height });
        found.push(...(await page.evaluate(strays)).map((what) => `${path} at ${width} × ${height}: ${what}`));
      }
    }
    assert.deepEqual(found, []);
  });
}

test("on a phone on its side and in a low window, the whole board is played without scrolling", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  await startBotGame(page);
  assert.equal(await myTurn(page), true);
  for (const [width, height] of [[844, 390], [667, 375], [932, 430], [1366, 640]]) {
    await page.setViewportSize({ width, height });
    const header = await page.locator(".site-header").boundingBox();
    const board = await page.locator("ff-board").boundingBox();
    assert.ok(board && header);
    assert.ok(board.y >= header.y + header.height, `${width} × ${height}: the board begins at ${board.y}`);
    assert.ok(board.y + board.height <= height, `${width} × ${height}: the board ends at ${board.y + board.height}`);
    assert.ok(board.height >= 0.75 * height, `${width} × ${height}: the board has ${board.height} px`);
    for (const seat of ["top", "bottom"]) {
      const box = await page.locator(`[data-seat="${seat}"]`).boundingBox();
      assert.ok(box && box.y + box.height <= height, `${width} × ${height}: the ${seat} seat is in sight`);
    }
  }
});

test("where there is room the board stands on two legs, clear of its numbers and of what lies below", async () => {
  const page = await browser.visitor(arena.url, { viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
  await startBotGame(page);
  const board = page.locator("#game ff-board");
  const legs = () => board.evaluate((element) => ["::before", "::after"].map((leg) => {
    const { content, left, right, width, bottom } = getComputedStyle(element, leg);
    return content === "none" ? null : { from: Math.min(parseFloat(left), parseFloat(right)), width: parseFloat(width), below: -parseFloat(bottom) };
  }));
  const box = await board.boundingBox();
  const number = await page.locator('.columns button[data-column="1"] span').evaluate((span) => {
    const range = document.createRange();
    range.selectNodeContents(span);
    return range.getBoundingClientRect().x;
  });
  const seat = await page.locator('#game .table [data-seat="bottom"]').boundingBox();
  for (const leg of await legs()) {
    assert.ok(leg && box);
    assert.ok(box.x + leg.from + leg.width < number, "the first column's number stands beside it");
    assert.ok(leg.below > 8 && (!seat || box.y + box.height + leg.below <= seat.y), "it ends above the seat");
  }
  await page.setViewportSize({ width: 390, height: 844 });
  assert.deepEqual(await legs(), [null, null], "phones have no room for them");
});

test("no disc of a finished game is dimmed", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  await page.goto("/game/wcU6j8b7Sg");
  assert.equal(await page.locator("ff-board .stone.in-line").count(), 4);
  const opacities = await page.$$eval("ff-board .stone", (stones) => stones.map((stone) => getComputedStyle(stone).opacity));
  assert.ok(opacities.every((opacity) => opacity === "1"));
});

test("where the system chooses the colours, switches are there", async () => {
  const page = await browser.visitor(arena.url, { forcedColors: "active" });
  await page.goto("/");
  const look = await page.$eval(".switch input", (input) => getComputedStyle(input).appearance);
  assert.equal(look, "auto");
  const [primary, plain] = await page.$$eval("#play-next, #play-now", (buttons) => buttons.map((button) => getComputedStyle(button).backgroundColor));
  assert.notEqual(primary, plain);
});
