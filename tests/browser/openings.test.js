// Names of openings, on games and on the analysis board: they follow the moves, mirrored ones too, in the visitor's
// language, and nothing moves when they change. The explorer counts games of all levels or of one.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser } from "./support/browser.js";
import { clickColumn, gameId, playOut, startBotGame } from "./support/game.js";
import { LOOKS, assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 400/));

/** @param {Page} page the name on show, or null */
const opening = (page) =>
  page.$eval("#opening-name", (line) => (line.hasAttribute("data-unnamed") ? null : line.querySelector("b")?.textContent));

/**
 * @param {Page} page
 * @param {number} stones
 */
const shows = (page, stones) => page.waitForSelector(`#analysis[data-ply="${stones}"][data-values="there"]`);

test("the analysis board names the opening as far as the board has come", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/analysis");
  await shows(page, 0);
  assert.equal(await opening(page), null);
  const before = await page.locator("#opening-name").boundingBox();
  for (const key of ["4", "5"]) await page.keyboard.press(key);
  await shows(page, 2);
  assert.equal(await opening(page), "Centre, answered beside it", "as the mirror image is called");
  await page.keyboard.press("3");
  await shows(page, 3);
  assert.equal(await opening(page), "Row of two, cut short");
  await page.keyboard.press("7");
  await shows(page, 4);
  assert.equal(await opening(page), "Row of two, cut short", "what has no name is called after what came before");
  await page.keyboard.press("Home");
  await shows(page, 0);
  assert.equal(await opening(page), null);
  const after = await page.locator("#opening-name").boundingBox();
  assert.equal(after?.height, before?.height, "the line has its place before there is a name");
  const answered = await page.evaluate(async () => (await (await fetch("/api/v1/positions/453")).json()).opening_name);
  assert.deepEqual(answered, { key: "row_cut", name: "Row of two, cut short", ply: 3 });
});

test("without script the name stands there in the visitor's language, and other boards have none", async () => {
  const page = await browser.visitor(arena.url, { javaScriptEnabled: false, locale: "de-DE" });
  await page.goto("/analysis/4444");
  assert.equal(await page.textContent("#opening-name b"), "Turm aus vier");
  await page.goto("/analysis/44?variant=8x7");
  assert.equal(await page.getAttribute("#opening-name", "data-unnamed"), "");
});

test("a game is called by its opening while it is played, when it is over, and in lists", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  await playOut(page, clickColumn);
  const id = gameId(page);
  await page.waitForSelector("#opening-name:not([data-unnamed])");
  const record = await page.evaluate(async (game) => (await fetch(`/api/v1/games/${game}`)).json(), id);
  assert.equal(await opening(page), record.opening_name.name);
  await page.click("#scrub-first");
  assert.equal(await opening(page), null, "before the first move it has none");
  await page.click("#scrub-last");
  assert.equal(await opening(page), record.opening_name.name);
  await page.goto(`/game/${id}`);
  assert.equal(await opening(page), record.opening_name.name);
});

test("the explorer counts games of one level, by the address, by the choice that is kept, and without script", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  await playOut(page, clickColumn);
  await page.goto("/analysis");
  await shows(page, 0);
  const cells = () => page.$$eval(".explorer tbody tr:first-child td.right", (found) => found.map((cell) => cell.textContent?.trim()));
  assert.match((await cells())[0] ?? "", /^\d+ games?$/, "few games have no share");
  await page.selectOption("#level", "8");
  await page.waitForFunction(() => document.querySelector(".explorer tbody td.right")?.textContent === "–");
  assert.deepEqual(await cells(), ["–", "–"], "a guest has no level");
  assert.equal(new URL(page.url()).search, "?level=8");
  await page.click('.explorer a[data-column="4"]');
  await shows(page, 1);
  assert.equal(new URL(page.url()).search, "?level=8");
  await page.goto("/analysis");
  await page.waitForFunction(() => location.search === "?level=8");
  assert.equal(await page.inputValue("#level"), "8", "the choice is kept");
  await page.selectOption("#level", "");
  await page.waitForFunction(() => /game/.test(document.querySelector(".explorer tbody td.right")?.textContent ?? ""));
  const answered = await page.evaluate(async () => {
    const of = async (/** @type {string} */ level) => (await fetch(`/api/v1/positions/-?level=${level}`)).json();
    return [await of("3"), await of("9")];
  });
  assert.deepEqual([answered[0].level, answered[0].explored], [3, []]);
  assert.deepEqual([answered[1].code, answered[1].field], ["bad_parameter", "level"]);

  const plain = await browser.visitor(arena.url, { javaScriptEnabled: false });
  await plain.goto("/analysis/4");
  await plain.selectOption("#level", "2");
  await plain.click("#explorer-level button");
  assert.equal(new URL(plain.url()).searchParams.get("level"), "2");
  assert.equal(await plain.inputValue("#level"), "2");
});

for (const { size, viewport, rules } of LOOKS) {
  test(`names of openings are good on a ${size}`, async () => {
    const page = await browser.visitor(arena.url, viewport);
    await page.goto("/analysis/444442");
    await shows(page, 6);
    await assertGood(page, "/analysis/444442", rules);
  });
}
