// The learners' pages: curves that read without script, versions, patterns; and why a learner moved as it did, live.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { LOOKS, assertGood } from "./support/good.js";
import { atGame, myTurn, openColumns, playOut, ply, reached } from "./support/game.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ violations: { id: string, nodes: { html: string, failureSummary?: string }[] }[] }} AxeResult */

/** All that a learner needs to have versions, curves and patterns within seconds. */
const EAGER = {
  FOURFOLD_LEARNING_CPU_PERCENT: "100",
  FOURFOLD_LEARNING_PRACTICE_PAUSE_MS: "0",
  FOURFOLD_LEARNING_FREEZE_AT: "0,4,12",
  FOURFOLD_LEARNING_TEACHERS: "random,greedy",
};

/** A learner stores what it learnt within two minutes, and the page looks every half. */
const STORED_MS = 180_000;

/** What a learner thought of its move follows the move by itself; on a busy machine not at once. */
const LAST_VOICE_MS = 10_000;

const arena = new Arena({ ladder: true, inMemory: true });
Object.assign(arena.environment, EAGER, { FOURFOLD_LADDER_ENABLED: "false" });
const browser = new Browser();

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
});
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 404/));

/** Between two looks at a page, in milliseconds: loading it all the time takes what learners need to get on. */
const LOOK_MS = 300;

/**
 * Loads a page again until it shows something.
 * @param {Page} page
 * @param {string} path
 * @param {string} selector
 */
async function shows(page, path, selector) {
  for (;;) {
    await page.goto(path);
    if (await page.locator(selector).count()) return;
    await page.waitForTimeout(LOOK_MS);
  }
}

/**
 * @param {Page} page
 * @param {string} bot
 */
async function startGameAgainst(page, bot) {
  await page.goto("/bots");
  await page.waitForSelector('html[data-connection="open"]');
  await page.click(`[data-play-bot="${bot}"]`);
  await page.check('#bot-dialog input[value="first"]');
  await page.click("#start-bot");
  return atGame(page);
}

test("curves and versions are there without script", async () => {
  const page = await browser.visitor(arena.url, { ...DESKTOP, javaScriptEnabled: false });
  for (const name of ["memory", "memory-spectator", "memory-windows", "ntuple-live"]) {
    await shows(page, "/learning", `section:has(#of-${name}) tr:has-text("${name}@12") >> text=/\\d %/`);
  }
  const charts = page.locator("section:has(#of-ntuple-live) svg.chart");
  assert.ok((await charts.count()) >= 1);
  assert.ok((await charts.last().locator("circle").count()) >= 3, "a dot for each version");
  assert.notEqual(await charts.last().getAttribute("aria-label"), "");
});

for (const { size, viewport, rules } of LOOKS) {
  test(`the learners' pages are good on a ${size}`, async () => {
    const page = await browser.visitor(arena.url, viewport);
    for (const [name, path] of [["learning", "/learning"], ["learner", "/learning/memory-windows"], ["network", "/learning/ntuple-live"]]) {
      await shows(page, path, 'tr:has-text("@12") >> text=/\\d %/');
      await assertGood(page, `${name} on a ${size}`, rules);
    }
  });
}

test("the page of a learner leads to its versions, games and patterns by the keyboard", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await page.goto("/learning");
  await page.focus("#of-memory a");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/learning\/memory$/);
  assert.ok((await page.locator(".patterns svg[role=img][aria-label]").count()) > 0);
  await page.locator(".lessons a").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/game\/\w+$/);
  assert.equal(await page.isVisible("#why"), true);
});

test("who is no learner has no page", async () => {
  const page = await browser.visitor(arena.url);
  for (const path of ["/learning/greedy", "/learning/memory%40999"]) {
    assert.equal((await page.goto(path))?.status(), 404, path);
  }
});

for (const bot of ["memory", "ntuple-live"]) {
  test(`a game against ${bot} says why it moved, as it moves`, async () => {
    const page = await browser.visitor(arena.url, PHONE);
    await shows(page, "/learning", `tr:has-text("${bot}@12")`);
    // A young memory may know nothing of the first moves, nor of a whole game that ends early: then there is another one.
    const voices = page.locator("#why-moves .voices li");
    while ((await voices.count()) === 0) {
      await startGameAgainst(page, bot);
      for (const key of ["4", "3", "5", "4", "3", "5", "2", "6"]) {
        if (!(await myTurn(page)) || (await voices.count()) > 0) break;
        const before = await ply(page);
        await page.keyboard.press(key);
        await reached(page, before + 2);
      }
      // The voices of the last move come with it or a moment later; a game that is left runs out by itself.
      await voices.first().waitFor({ timeout: LAST_VOICE_MS }).catch(() => page.goto("/"));
    }
    assert.match(await page.innerText("#why-moves .voices li >> nth=0"), /[+−]\d+\s+column [1-7]/);
    const drawn = (await page.getAttribute("#why-moves .voices svg >> nth=0", "aria-label")) ?? "";
    assert.match(drawn, /[a-g][1-6]|^an empty board$/, "the pattern in words");
    await assertGood(page, `the game of ${bot}`);
  });
}

test("a move without a choice is named as such, as it is made", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await startGameAgainst(page, "ntuple-live");
  const silent = page.locator('#why-moves p:has-text("No pattern decided")');
  // However the game goes, it has such a move: a win, a parry, a loss that cannot be parried, or the last column.
  while ((await myTurn(page)) && (await silent.count()) === 0) {
    const before = await ply(page);
    const [column] = await openColumns(page);
    await page.keyboard.press(String(column));
    await reached(page, before + 2);
  }
  await silent.first().waitFor();
  assert.equal(await page.locator("#why-moves h3 + p:has-text('No pattern decided') + ul").count(), 0, "nor a list of them");
  await page.reload();
  await silent.first().waitFor();
});

test("what a game taught comes to its page by itself", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await startGameAgainst(page, "memory");
  assert.equal(await page.locator("#taught").count(), 0);
  await playOut(page, (page, column) => page.keyboard.press(String(column)));
  await page.waitForSelector('#taught h3:has-text("memory")', { timeout: STORED_MS });
  const order = await page.evaluate(() => [...document.querySelectorAll("main > [id]")].map(({ id }) => id));
  assert.ok(order.indexOf("why") < order.indexOf("taught"), order.join());
});
