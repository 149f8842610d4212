// Lessons: the rules on the board, wrong columns refuted and right ones kept, progress, practice, the glossary.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { assertGood } from "./support/good.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** Of a page whose scripts have run. @param {import("playwright-core").Page} page @param {string} status */
const reached = (page, status) => page.waitForSelector(`html[data-connection="open"] #lesson[data-status="${status}"]`);
/** @param {import("playwright-core").Page} page */
const said = (page) => page.locator("#lesson-said").textContent();

for (const [name, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`somebody new learns the rules on the board, from the navigation to the next lesson (${name})`, async () => {
    const page = await browser.visitor(arena.url, { ...options, reducedMotion: "reduce" });
    await page.goto("/");
    await page.click(".tabs >> text=Learn");
    await page.waitForURL("**/learn");
    assert.equal(await page.locator(".lesson-tiles > li").count(), 12);
    await assertGood(page, "the lessons");
    await page.click("text=Begin");
    for (const [place, column] of ["1", "2", "4", "4", "1"].entries()) {
      await reached(page, "open");
      if (place === 1) await assertGood(page, "a lesson");
      await page.keyboard.press(column);
      await reached(page, "right");
      if (place < 4) await page.keyboard.press("Enter");
    }
    assert.match((await said(page)) ?? "", /last exercise/);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/learn/block");
    await page.click("text=All lessons");
    await page.waitForSelector('[data-lesson="rules"] .lesson-done:text-is("✓ 5 / 5")');
    assert.equal(await page.isVisible('[data-lesson="block"] .lesson-done'), false);
  });
}

test("a wrong column is refuted on the board, a right one answered until the lesson is won", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  await page.goto("/learn/open-three");
  const stones = () => page.locator("ff-board .stones > g").count();
  await page.keyboard.press("7");
  await reached(page, "wrong");
  assert.match((await said(page)) ?? "", /Not column 7\./);
  await page.waitForFunction(() => document.querySelectorAll("ff-board .stones > g").length >= 7);
  await page.click("text=Try again");
  assert.equal(await stones(), 4);
  await page.keyboard.press("5");
  await page.waitForFunction(() => document.querySelectorAll("ff-board .stones > g").length === 6);
  await page.waitForSelector("#lesson-detail >> text=Right. Go on.");
  await page.keyboard.press((await page.locator("ff-board").getAttribute("data-moves"))?.endsWith("2") ? "6" : "2");
  await reached(page, "right");
  assert.match((await said(page)) ?? "", /Coral has won/);
});

test("a solution that was shown is not solved, and one plays on from the lesson against a bot", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  await page.goto("/learn/fork");
  await page.click("text=Show the solution");
  await reached(page, "shown");
  assert.equal(await page.evaluate(() => localStorage.getItem("lessons")), null);
  await page.click("#lesson-practice");
  await page.waitForURL("**/game/*");
  await page.waitForSelector('#game[data-ply="20"], #game[data-ply="21"]');
});

test("a column that wins later is no loss, and whoever comes back goes on where they were", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  await page.goto("/learn");
  assert.match((await page.textContent("#begin")) ?? "", /^\s*Begin\s*$/);
  await page.goto("/learn/open-three");
  await page.waitForSelector("#lesson-detail >> text=2 moves to find");
  await page.keyboard.press("1");
  await reached(page, "wrong");
  assert.equal(await page.textContent("#lesson-detail"), "This wins too, but later. Another column wins sooner.");
  assert.match((await page.textContent("#lesson-onward")) ?? "", /Next lesson: The fork/);
  await page.goto("/learn/rules");
  await reached(page, "open");
  await page.keyboard.press("4");
  await reached(page, "right");
  assert.match((await page.textContent("#lesson-practice")) ?? "", /Play a whole game against Dizzy/);
  await page.goto("/learn");
  await page.click("#begin >> text=Go on with 1. The rules in a minute");
  await page.waitForURL("**/learn/rules");
  await page.waitForSelector(".lesson-steps li:nth-child(2).current");
});

for (const [name, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`where a four may come is marked in lessons about it, and read in a list (${name})`, async () => {
    const page = await browser.visitor(arena.url, { ...options, reducedMotion: "reduce" });
    await page.goto("/learn/zugzwang");
    await reached(page, "open");
    const marks = () => page.locator(".threats .threat").count();
    assert.ok((await marks()) > 0);
    assert.equal(await page.locator("#lesson-threats li").count(), await marks());
    assert.match((await page.textContent("#lesson-threats")) ?? "", /(Coral|Gold): column \d, row \d/);
    assert.equal(await page.isVisible("text=○ Coral, ◇ Gold"), true);
    await assertGood(page, "a lesson with marks");
    await page.click("#lesson-solution");
    await reached(page, "shown");
    await page.click("#lesson-next");
    await reached(page, "open");
    // The question and the buttons have the room of what was read before.
    assert.equal(await page.isVisible(".lesson-text"), options === DESKTOP);
    assert.ok((await marks()) > 0);
  });
}

test("terms are explained, and statistics lead there", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/leaderboard");
  await page.click('main a[href="/learn/glossary#elo"]');
  assert.match((await page.locator("#elo").textContent()) ?? "", /playing strength/);
  await assertGood(page, "the glossary");
});
