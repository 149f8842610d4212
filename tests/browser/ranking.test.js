// The leaderboard and the page of a player, by real games of the house's bots, with the keyboard, on a desk and on a phone.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { LOOKS, assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

/** Bots that the fit must know before anything is looked at, and rated games of any of them: a pair. */
const BOTS_MIN = 4;
const GAMES_MIN = 2;

/** One season that runs, under a name that must be written otherwise in an address, and one that comes. */
const SEASON = "Cup & <Spring> 100 %/1";
const YEAR = new Date().getUTCFullYear();
const SEASONS = `
[[seasons]]
name = "${SEASON}"
start = "${YEAR}-01-01"
end = "${YEAR + 1}-12-30"

[[seasons]]
name = "Later"
start = "${YEAR + 1}-12-31"
end = "${YEAR + 1}-12-31"
`;

const arena = new Arena({ ladder: true, learning: false });
const file = join(arena.data, "seasons.toml");
writeFileSync(file, SEASONS);
arena.environment = { ...arena.environment, FOURFOLD_CONFIG: file };
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
afterEach(() => browser.endOfTest(/status of 404/));

for (const { size, viewport, rules } of LOOKS) {
  test(`from the list to a bot and its numbers, ${size}`, async () => {
    const page = await browser.visitor(arena.url, { ...viewport, reducedMotion: "reduce" });
    await page.goto("/leaderboard");
    await page.getByRole("link", { name: "Bots", exact: true }).and(page.locator(".segments a")).press("Enter");
    await page.waitForURL(/list=bots/);
    await page.getByRole("link", { name: "House", exact: true }).press("Enter");
    await page.waitForURL(/by=house/);
    await page.locator("table.ranking tbody td.rank").nth(BOTS_MIN - 1).waitFor();
    const ranks = await page.locator("table.ranking tbody td.rank").allTextContents();
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

for (const { size, viewport, rules } of LOOKS) {
  test(`from the list to a season and from there to a player who came in, ${size}`, async () => {
    const page = await browser.visitor(arena.url, { ...viewport, reducedMotion: "reduce" });
    await page.goto("/leaderboard");
    await page.locator('main a[href="/seasons"]').press("Enter");
    await page.waitForURL(/\/seasons$/);
    const lines = await page.locator("tbody tr").allInnerTexts();
    assert.deepEqual(lines.map((line) => /Later.*coming|100 %.*running/is.test(line)), [true, true], lines.join());
    await assertGood(page, "the seasons", rules);

    await page.getByRole("link", { name: SEASON }).press("Enter");
    await page.waitForURL(/\/season\/Cup/);
    assert.equal(await page.locator("h1").innerText(), SEASON);
    await page.locator(".segments a", { hasText: "Bots" }).press("Enter");
    await page.waitForURL(/list=bots/);
    assert.ok((await page.locator("table.ranking tbody tr").count()) >= BOTS_MIN);
    await assertGood(page, "a season", rules);

    await page.locator("table.ranking tbody a.player").first().press("Enter");
    await page.waitForURL(/\/player\//);
    await page.getByRole("link", { name: SEASON }).press("Enter");
    await page.waitForURL(/\/season\/Cup/);
    await page.context().close();
  });
}

test("a season that has not begun has an empty table, and one that does not exist no page", async () => {
  const page = await browser.visitor(arena.url, { ...DESKTOP, javaScriptEnabled: false });
  await page.goto("/season/Later");
  assert.equal(await page.locator("table.ranking").count(), 0);
  assert.ok(await page.locator("main .empty").isVisible());
  assert.equal((await page.goto("/season/Never"))?.status(), 404);
  await page.context().close();
});
