// The leaderboard and the page of a player, by real games of the house's bots, with the keyboard, on a desk and on a phone.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { LOOKS, assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

/** Bots that the fit must know before anything is looked at, and rated games of any of them: a pair. */
const BOTS_MIN = 4;
const GAMES_MIN = 2;

const arena = new Arena({ ladder: true });
const browser = new Browser();

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
  const page = await browser.visitor(arena.url);
  await page.goto("/leaderboard?list=bots");
  // House bots play pairs by themselves; a pair counts when both games are there.
  await page.evaluate(
    async ([bots, games]) => {
      for (;;) {
        const ranking = await (await fetch("/api/v1/leaderboard?list=bots")).json();
        if (ranking.items.length >= bots && ranking.items[0].games >= games) return;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    },
    [BOTS_MIN, GAMES_MIN],
  );
  await page.context().close();
});
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

for (const { size, viewport, colorScheme, rules } of LOOKS) {
  test(`from the list to a bot and its numbers, ${size}, ${colorScheme}`, async () => {
    const page = await browser.visitor(arena.url, { ...viewport, colorScheme, reducedMotion: "reduce" });
    await page.goto("/leaderboard");
    await page.getByRole("link", { name: "Bots", exact: true }).and(page.locator(".segments a")).press("Enter");
    await page.waitForURL(/list=bots/);
    await page.getByRole("link", { name: "House", exact: true }).press("Enter");
    await page.waitForURL(/by=house/);
    const ranks = await page.locator("table.ranking tbody td.rank").allTextContents();
    assert.ok(ranks.length >= BOTS_MIN);
    assert.deepEqual(ranks.map(Number), ranks.map(Number).sort((a, b) => a - b));
    await assertGood(page, "the leaderboard", rules);

    await page.locator("table.ranking tbody a.player").first().press("Enter");
    await page.waitForURL(/\/player\//);
    assert.ok(await page.getByRole("table").first().isVisible());
    assert.ok((await page.locator(".form a").count()) >= GAMES_MIN);
    const chart = page.locator("svg.chart");
    assert.match((await chart.getAttribute("aria-label")) ?? "", /between \d+ and \d+, now \d+/);
    const summary = page.locator("details.numbers summary");
    await summary.focus();
    await page.keyboard.press("Enter");
    assert.ok(await page.locator("details.numbers table").isVisible());
    assert.ok((await page.locator(".crosstable tbody tr").count()) >= 1);
    await assertGood(page, "the page of a player", rules);
    await page.context().close();
  });
}

test("both pages read without script", async () => {
  const page = await browser.visitor(arena.url, { ...DESKTOP, javaScriptEnabled: false });
  await page.goto("/leaderboard?list=bots");
  await page.locator("table.ranking tbody a.player").first().click();
  await page.locator("details.numbers summary").click();
  assert.ok(await page.locator("details.numbers table").isVisible());
  assert.ok(await page.locator(".crosstable").isVisible());
  await page.context().close();
});

test("a list that is empty says so, in another language too", async () => {
  const page = await browser.visitor(arena.url, PHONE);
  await page.goto("/leaderboard?list=people");
  assert.ok(await page.getByText("Nobody is listed here yet").isVisible());
  await page.goto("/leaderboard?list=bots&variant=9x6&lang=de");
  assert.ok(await page.getByText("Noch steht hier niemand").isVisible());
  await assertGood(page, "an empty list");
  await page.context().close();
});
