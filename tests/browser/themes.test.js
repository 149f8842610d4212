// Puzzles of one theme: chosen on the page of all, kept over pages and at the next puzzle, with and without scripts.

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

/**
 * What the puzzle on the page is about, as the interface says it.
 * @param {import("playwright-core").Page} page
 */
async function themesOf(page) {
  const id = new URL(page.url()).pathname.split("/").pop();
  return (await (await fetch(`${arena.url}/api/v1/puzzles/${id}`)).json()).puzzle.themes;
}

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`a theme is chosen and stays from puzzle to puzzle (${name})`, async () => {
    const page = await browser.visitor(arena.url, form);
    await page.goto("/puzzles");
    const chip = page.locator(".puzzle-choices a", { hasText: "Sacrifice" });
    const count = Number(((await chip.locator(".number").textContent()) ?? "").replace(/\D/g, ""));
    await chip.click();
    await page.waitForURL("**/puzzles?theme=sacrifice");
    assert.equal(await page.getAttribute('.puzzle-choices a[aria-current="page"]', "href"), "/puzzles?theme=sacrifice");
    await assertGood(page, "the puzzles of a theme");
    const words = (await page.textContent(".puzzle-pages")) ?? "";
    const pages = Number(/of (\d+)/.exec(words)?.[1]);
    assert.ok((pages - 1) * 24 < count && count <= pages * 24, `${count} puzzles on ${pages} pages`);
    await page.click('.puzzle-pages a[rel="next"]');
    await page.waitForURL("**/puzzles?theme=sacrifice&page=2");
    await page.click(".puzzle-tile >> nth=0");
    for (let n = 0; n < 3; n += 1) {
      await page.waitForSelector('#puzzle[data-status="open"]');
      assert.ok((await themesOf(page)).includes("sacrifice"));
      const before = page.url();
      await page.click("#puzzle-next");
      await page.waitForURL((url) => String(url) !== before && url.search === "?theme=sacrifice");
    }
    await assertGood(page, "a puzzle of a theme");
    await page.click(".side-panel .spread a");
    await page.waitForURL("**/puzzles?theme=sacrifice");
    await page.click("text=What is that?");
    await page.waitForURL("**/learn/glossary#sacrifice");
    assert.ok(await page.isVisible("#sacrifice"));
  });
}

test("without scripts a theme leads on as well, and a bad one is told with those that there are", async () => {
  const page = await browser.visitor(arena.url, { ...DESKTOP, javaScriptEnabled: false });
  await page.goto("/puzzles?theme=odd");
  await page.click("text=A puzzle at your level");
  assert.match(page.url(), /\/puzzle\/p[^?]+\?theme=odd$/);
  await page.click("#puzzle-next");
  assert.match(page.url(), /\/puzzle\/p[^?]+\?theme=odd$/);
  const refused = await page.goto("/puzzles?theme=zugzwang");
  assert.equal(refused?.status(), 400);
  assert.match((await page.textContent('[role="alert"]')) ?? "", /no puzzles about “zugzwang”/);
  await page.click('.puzzle-choices a[href="/puzzles?theme=fork"]');
  assert.equal(await page.locator(".puzzle-tile").count(), 24);
  await browser.endOfTest(/400/);
});
