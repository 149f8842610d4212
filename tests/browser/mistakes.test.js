// Mistakes of a finished game as puzzles: tried on the board, judged by what the solver knows, one after the other.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { clickColumn, playOut, startBotGame } from "./support/game.js";
import { assertGood } from "./support/good.js";

const arena = new Arena({ store: true });
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

for (const [name, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`a mistake is played better, after a wrong try and its answer (${name})`, async () => {
    const page = await browser.visitor(arena.url, { ...options, reducedMotion: "reduce" });
    await page.goto("/game/wcU6j8b7Sg");
    await page.click("text=Play the mistakes");
    const dialog = page.locator("dialog.mistakes");
    const stones = () => dialog.locator("ff-board .stones > g").count();
    const said = () => dialog.locator(".mistakes-said").textContent();
    assert.equal(await dialog.locator("#mistakes-count").textContent(), "1 of 7");
    assert.match((await said()) ?? "", /keeps the win\?Move 1: in the game it was column 3/);
    assert.equal(await stones(), 0, "the position is that before the mistake");
    await assertGood(page, "the mistakes");
    const place = await dialog.locator("ff-board").boundingBox();

    await page.keyboard.press("7");
    await page.waitForSelector('.mistakes[data-status="wrong"]');
    assert.equal(await said(), "Not column 7.With best play Gold wins in 20 moves.");
    await page.waitForFunction(() => document.querySelectorAll(".mistakes .stones > g").length >= 3);
    assert.deepEqual(await dialog.locator("ff-board").boundingBox(), place, "the board stays where it is");

    await dialog.locator("text=Try again").click();
    assert.equal(await stones(), 0);
    await page.keyboard.press("4");
    await page.waitForSelector('.mistakes[data-status="right"]');
    assert.equal(await said(), "Right: column 4.With best play Coral wins in 20 moves.");
    await page.keyboard.press("Enter");
    assert.equal(await dialog.locator("#mistakes-count").textContent(), "2 of 7", "the keyboard is on the way on");
    assert.equal(await stones(), 1);

    await dialog.locator("text=Show the solution").click();
    await page.waitForSelector('.mistakes[data-status="shown"]');
    assert.match((await said()) ?? "", /^Best: \d/);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.equal(await page.locator("ff-board .stones > g").count(), 9, "the game is as it was");
  });
}

test("a page counts the blunders that the interface counts", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/game/wcU6j8b7Sg");
  await page.waitForSelector(".review-skill");
  const { skill } = await (await page.request.get("/api/v1/games/wcU6j8b7Sg/review")).json();
  const shown = await page.$$eval('.review-skill [href$="#blunder"]', (links) => links.map((link) => Number.parseInt(link.textContent ?? "", 10)));
  assert.deepEqual(shown, [skill.first.blunders, skill.second.blunders]);
});

test("whoever played is asked about the mistakes of one's own side alone, to the last", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  await startBotGame(page, "second");
  await playOut(page, clickColumn);
  await page.click("text=Play your mistakes");
  const dialog = page.locator("dialog.mistakes");
  const all = Number(/of (\d+)/.exec((await dialog.locator("#mistakes-count").textContent()) ?? "")?.[1]);
  assert.ok(all >= 1);
  for (let n = 1; n <= all; n += 1) {
    assert.equal(await dialog.locator("#mistakes-count").textContent(), `${n} of ${all}`);
    assert.equal(await dialog.locator(".mistakes-said .stone.second").count(), 1);
    await dialog.locator("text=Show the solution").click();
    await page.waitForSelector('.mistakes[data-status="shown"]');
    if (n < all) await dialog.locator("text=Next mistake").click();
  }
  assert.match((await dialog.locator(".mistakes-said").textContent()) ?? "", new RegExp(`Found at once: 0 of ${all}`));
  await dialog.locator("#mistakes-done").click();
  await dialog.waitFor({ state: "detached" });
});
