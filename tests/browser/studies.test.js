// Studies: made from the analysis board or from a game, read by a link, changed in two windows, listed and deleted; by
// mouse, keys and on a phone, without script, and with text that has broken pages elsewhere.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, PHONE } from "./support/browser.js";
import { clickColumn, playOut, signUp, startBotGame } from "./support/game.js";
import { LOOKS, assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();
/** A study of Ada's that stays. */
let kept = "";

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
  const page = await browser.visitor(arena.url);
  await signUp(page, "Keeper");
  const comments = [{ ply: 2, text: "Two towers begin here." }, { ply: 4, text: "Both are two high.\nNow what?" }];
  kept = await page.evaluate(async (body) => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("/api/v1/studies", { method: "POST", headers, body: JSON.stringify(body) });
    return (await response.json()).id;
  }, { title: "Two towers", moves: "4433455", start: 2, comments, listed: true });
  await page.context().close();
});
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of (404|409|422)/));

/** @param {Page} page @param {number} ply */
const at = (page, ply) => page.waitForSelector(`#study[data-ply="${ply}"]`);

/** @param {Page} page @param {number} ply */
const deskAt = (page, ply) => page.waitForSelector(`#study-desk[data-ply="${ply}"]`);

/** @param {Page} page */
const comment = (page) => page.textContent("#study-comment");

test("a study is made from the analysis board, and read by whoever has its link", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Ada");
  await page.goto("/analysis");
  for (const key of ["4", "4", "3"]) await page.keyboard.press(key);
  await page.waitForSelector('#analysis[data-ply="3"]');
  await page.click("#make-study");
  await deskAt(page, 0);
  await page.fill("#study-name", "Centre first");
  await page.fill("#study-note", "An empty board.");
  await page.click("#line-last");
  await deskAt(page, 3);
  await page.fill("#study-note", "Beside it.");
  await clickColumn(page, 5);
  await deskAt(page, 4);
  assert.equal(await page.inputValue("#study-note"), "", "each position has a comment of its own");
  await page.click('#study-moves button[data-ply="3"]');
  assert.equal(await page.inputValue("#study-note"), "Beside it.");
  await page.click("#study-form button[type=submit]");
  await page.waitForURL(/\/study\/\w{10}$/);
  await at(page, 0);
  assert.equal(await comment(page), "An empty board.");

  const link = page.url();
  const reader = await browser.visitor(arena.url, PHONE);
  await reader.goto(link);
  await at(reader, 0);
  assert.equal(await reader.textContent("h1"), "Centre first");
  await reader.waitForFunction(() => document.querySelector("#study-value")?.textContent === "Coral wins in 21");
  await reader.tap("#line-last");
  await at(reader, 4);
  assert.equal(await reader.locator("ff-board .stones > g").count(), 4);
  await reader.tap("#line-previous");
  await at(reader, 3);
  assert.equal(await comment(reader), "Beside it.");
  assert.equal(await reader.locator("#study-delete").count(), 0, "only its maker deletes it");
  const listed = await reader.goto("/studies");
  assert.equal(listed?.status(), 200);
  assert.equal(await reader.locator("text=Centre first").count(), 0, "it is found by its link alone");
});

test("a line is gone through by keys, buttons and its list, with comments and values", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto(`/study/${kept}`);
  await at(page, 2);
  assert.equal(await comment(page), "Two towers begin here.");
  await page.keyboard.press("ArrowLeft");
  await at(page, 2);
  await page.keyboard.press("End");
  await at(page, 7);
  await page.keyboard.press("ArrowLeft");
  await at(page, 6);
  await page.click('#study-moves button[data-ply="4"]');
  await at(page, 4);
  assert.equal(await comment(page), "Both are two high.\nNow what?");
  await page.waitForFunction(() => /^Coral wins in/.test(document.querySelector("#study-value")?.textContent ?? ""));
  assert.equal(await page.textContent("#opening-name b"), "Two towers of two");
  assert.equal(await page.getAttribute("#study-analyse", "href"), "/analysis/4433");
  await page.click("#mirror");
  assert.equal(await page.getAttribute("#study-analyse", "href"), "/analysis/4455");
  await page.fill("#line", "7");
  await at(page, 7);
});

test("without script a study is a list of boards with what is said", async () => {
  const page = await browser.visitor(arena.url, { javaScriptEnabled: false });
  await page.goto(`/study/${kept}`);
  assert.equal(await page.locator(".study-steps li").count(), 3, "those of which something is said, and the last one");
  assert.ok(await page.isVisible("text=Both are two high."));
  assert.ok(await page.isVisible(".study-steps .mini >> nth=0"));
  await page.goto("/studies");
  assert.ok(await page.isVisible("text=Two towers"));
});

test("a finished game becomes a study, its maker edits and deletes it, and of two windows the second is told", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Cleo");
  await startBotGame(page);
  await playOut(page, clickColumn);
  await page.click("#make-study");
  await deskAt(page, 0);
  await page.fill("#study-name", "My game");
  await page.click("#line-next");
  await page.click("#line-next");
  await deskAt(page, 2);
  await page.click("#begin-here");
  await page.click("#line-next");
  await page.click("#end-here");
  await page.check("#study-listed");
  await page.click("#study-form button[type=submit]");
  await page.waitForURL(/\/study\/\w{10}$/);
  await at(page, 2);
  const link = new URL(page.url()).pathname;

  const other = await page.context().newPage();
  await Promise.all([page.goto(`${link}/edit`), other.goto(`${link}/edit`)]);
  await deskAt(page, 2);
  await deskAt(other, 2);
  await page.fill("#study-name", "First");
  await page.click("#study-form button[type=submit]");
  await page.waitForURL((url) => url.pathname === link);
  assert.equal(await page.textContent("h1"), "First");
  await other.fill("#study-name", "Second");
  await other.click("#study-form button[type=submit]");
  await other.waitForFunction(() => /another window/.test(document.querySelector(".problem")?.textContent ?? ""));
  await page.reload();
  assert.equal(await page.textContent("h1"), "First");

  await page.goto("/studies");
  assert.equal(await page.locator(".study-tile >> text=First").count(), 1, "among one's own, and not once more below");
  await page.goto(link);
  await page.click("#study-delete");
  assert.equal(await page.textContent("#study-delete span"), "Press again to delete");
  await page.click("#study-delete");
  await page.waitForURL(/\/studies$/);
  assert.equal((await page.goto(link))?.status(), 404);
});

test("whoever likes a study makes a copy, and a guest is told to sign in", async () => {
  const guest = await browser.visitor(arena.url);
  await guest.goto(`/study/${kept}`);
  await guest.click("text=Make a copy");
  await guest.waitForURL(/\/study\/new\?from=/);
  assert.ok(await guest.isVisible("text=guests have none"));
  await signUp(guest, "Copier");
  await guest.goto(`/study/new?from=${kept}`);
  await deskAt(guest, 2);
  assert.equal(await guest.inputValue("#study-note"), "Two towers begin here.");
  await guest.click("#study-form button[type=submit]");
  await guest.waitForURL(/\/study\/\w{10}$/);
  assert.notEqual(new URL(guest.url()).pathname, `/study/${kept}`);
  assert.match((await guest.textContent(".study-text")) ?? "", /by Copier.*by link only/s);
});

test("text that turns the direction of writing is refused, and markup stays text", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Mallory");
  await page.goto("/study/new?moves=44");
  await deskAt(page, 0);
  await page.fill("#study-name", "abc\u202Edef");
  await page.click("#study-form button[type=submit]");
  await page.waitForFunction(() => /1 to 80 ordinary characters/.test(document.querySelector(".problem")?.textContent ?? ""));
  await page.fill("#study-name", "<img src=x onerror=globalThis.broken=1>");
  await page.fill("#study-note", "</script><script>globalThis.broken=1</script>");
  await page.click("#study-form button[type=submit]");
  await page.waitForURL(/\/study\/\w{10}$/);
  await at(page, 0);
  assert.equal(await page.textContent("h1"), "<img src=x onerror=globalThis.broken=1>");
  assert.equal(await comment(page), "</script><script>globalThis.broken=1</script>");
  assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).broken), undefined);
});

for (const { size, viewport, rules } of LOOKS) {
  test(`pages of studies are good on a ${size}`, async () => {
    const page = await browser.visitor(arena.url, viewport);
    await signUp(page, `looks-${size}`);
    for (const path of ["/studies", `/study/${kept}`, `/study/new?from=${kept}`]) {
      await page.goto(path);
      await page.waitForSelector('html[data-connection="open"]');
      await assertGood(page, path, rules);
    }
  });
}
