// Without a connection: a page that browsers keep, with a small bot; and how much the first visit loads.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import "./support/texts.js";
import { chooseColumn } from "../../web/static/offline-bot.js";
import { parseVariant, winningLine } from "../../web/static/rules.js";
import { Arena } from "./support/arena.js";
import { Browser } from "./support/browser.js";
import { until } from "./support/until.js";

/** What a first visit may load, compressed, in bytes. */
const FIRST_LOAD_MAX = 100_000;

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/WebSocket connection|ERR_CONNECTION_REFUSED/));

const moves = (/** @type {string} */ text) => [...text].map(Number);
const first = () => 0;

test("the bot of the page wins and blocks when it can", () => {
  const variant = parseVariant("7x6");
  assert.equal(chooseColumn(variant, moves("414141"), 1, first), 4, "wins");
  assert.equal(chooseColumn(variant, moves("41414"), 2, first), 4, "blocks");
  assert.ok([2, 5].includes(chooseColumn(variant, moves("3747"), 4, first)), "makes a double threat");
});

test("the bot of the page fills a board without an illegal move, on other sizes too", () => {
  for (const size of ["7x6", "4x4", "9x6x5"]) {
    const variant = parseVariant(size);
    /** @type {number[]} */
    let played = [];
    while (played.length < variant.width * variant.height && !winningLine(variant, played)) {
      const column = chooseColumn(variant, played, 2, first);
      assert.ok(played.filter((move) => move === column).length < variant.height, `${size}: ${played} ${column}`);
      played = [...played, column];
    }
  }
});

test("the first visit is light", async () => {
  const page = await browser.visitor(arena.url);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  let bytes = 0;
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.goto("/", { waitUntil: "networkidle" });
  await page.waitForSelector('html[data-connection="open"]');
  await page.context().close();
  console.log(`# the first visit loads ${bytes} bytes`);
  assert.ok(bytes > 10_000 && bytes <= FIRST_LOAD_MAX, `the first visit loads ${bytes} bytes`);
});

test("nothing on the page moves while it loads", async () => {
  const page = await browser.visitor(arena.url);
  await page.addInitScript(() => {
    const shifts = /** @type {number[]} */ ([]);
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => list.getEntries().forEach((entry) => shifts.push(/** @type {any} */ (entry).value))).observe({
      type: "layout-shift",
      buffered: true,
    });
  });
  for (const path of ["/", "/leaderboard", "/bots", "/account", "/offline"]) {
    await page.goto(path, { waitUntil: "networkidle" });
    const shifts = await page.evaluate(() => /** @type {any} */ (globalThis).shifts);
    const sum = shifts.reduce((/** @type {number} */ all, /** @type {number} */ one) => all + one, 0);
    assert.ok(sum < 0.02, `${path} shifts by ${sum}`);
  }
});

test("two people play at one device, with names and a score", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/offline#two");
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.notEqual(await ground(), "rgba(0, 0, 0, 0)", "a page of its own has its own ground, unlike a frame");
  const [ann, ben] = await page.locator("#offline-two input").all();
  await ann.fill("Ann");
  await ben.fill("<b>Ben</b>");
  await ben.blur();
  for (const column of "4151617") await page.keyboard.press(column);
  await page.waitForSelector('#offline[data-turn="none"]');
  assert.equal(await page.textContent("#offline-status"), "Ann wins");
  assert.equal(await page.textContent("#offline-score"), "Ann 1 : 0 <b>Ben</b>");
  await page.click("#offline-new");
  assert.match((await page.textContent("#offline-status")) ?? "", /^<b>Ben<\/b>/, "the other one begins");
  for (const column of "4151617") await page.keyboard.press(column);
  assert.equal(await page.textContent("#offline-score"), "Ann 1 : 1 <b>Ben</b>", "the series goes on with colours changed");
  await page.reload();
  assert.deepEqual(await page.locator("#offline-two input").evaluateAll((inputs) => inputs.map((input) => /** @type {HTMLInputElement} */ (input).value)), ["Ann", "<b>Ben</b>"]);
});

test("against the small bot who begins changes by turns, its strength is chosen, and a new choice begins anew", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/offline");
  const state = () => page.evaluate(() => ({ .../** @type {HTMLElement} */ (document.querySelector("#offline")).dataset }));
  assert.equal((await state()).turn, "yours", "the person begins the first game");
  await page.keyboard.press("4");
  await page.waitForSelector('#offline[data-turn="yours"][data-ply="2"]');
  await page.click("#offline-new");
  assert.equal((await state()).turn, "theirs", "the bot begins the next one");
  await page.waitForSelector('#offline[data-turn="yours"][data-ply="1"]');
  await page.locator('#offline .tile:has(input[value="8"])').click();
  assert.deepEqual([(await state()).turn, (await state()).ply], ["yours", "0"]);
  // The strong one stops three in a column, above them or between them.
  for (const [move, reply] of [["1", 2], ["1", 4], ["1", 6]]) {
    await page.keyboard.press(String(move));
    await page.waitForSelector(`#offline[data-turn="yours"][data-ply="${reply}"]`);
  }
  // The first one is the corner of the headings.
  const first = await page.locator("ff-board td").evaluateAll((cells) => cells.filter((_, at) => at % 7 === 1).map((cell) => cell.textContent ?? ""));
  assert.equal(first.filter((cell) => cell === "Coral").length, 3);
  assert.ok(first.includes("Gold"), `three in a column are stopped: ${first}`);
});

test("the page without a connection plays", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.evaluate(() => navigator.serviceWorker.ready);
  await until(page, async () => (await caches.match("/offline")) !== undefined, null);
  await arena.stop();
  await page.goto("/leaderboard");
  await page.waitForSelector('#offline[data-turn="yours"]');
  await page.keyboard.press("4");
  await page.waitForSelector('#offline[data-turn="yours"][data-ply="2"]');
  assert.equal(await page.locator("ff-board .stones > g").count(), 2);
});
