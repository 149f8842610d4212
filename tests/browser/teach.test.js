// A pattern memory that a visitor teaches: a trick that works twice and not a third time, what it learnt, its file.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { assertGood } from "./support/good.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
// A refusal is told on the page, and by the browser in its console.
afterEach(() => browser.endOfTest(/status of 422/));

/** What looks like a memory, but is torn. */
const TORN = JSON.stringify({ memory: "QzRQTQEABwYEAAAAAA", score: [0, 0, 0], patterns: [] });

/** @param {import("playwright-core").Page} page */
const ply = async (page) => Number(await page.getAttribute("#teach", "data-ply"));
/** @param {import("playwright-core").Page} page @param {"tap" | "click"} how @param {number} column */
const drop = (page, how, column) => page.locator("ff-board button").nth(column - 1)[how]();

/**
 * Stacks four discs in the first column, unless it blocks; says whether that won.
 * @param {import("playwright-core").Page} page
 * @param {"tap" | "click"} how
 */
async function stack(page, how) {
  await page.click("#teach-new");
  for (let stone = 1; stone <= 4; stone += 1) {
    await page.waitForSelector('#teach[data-turn="yours"]');
    const before = await ply(page);
    await drop(page, how, 1);
    if (stone === 4) break;
    await page.waitForFunction((plies) => Number(document.querySelector("#teach")?.getAttribute("data-ply")) === plies + 2, before);
    if (((await page.textContent("#teach-why p")) ?? "").includes("Its column: 1.")) return false;
  }
  await page.waitForSelector('#teach[data-turn="none"]');
  return true;
}

for (const [name, options, how] of /** @type {const} */ ([
  ["desktop", DESKTOP, "click"],
  ["phone", PHONE, "tap"],
])) {
  test(`whoever traps it twice with a trick does not do so a third time (${name})`, async () => {
    const page = await browser.visitor(arena.url, { ...options, reducedMotion: "reduce" });
    page.on("dialog", (dialog) => dialog.accept());
    await page.goto("/learning");
    await page.click("main >> text=Teach it");
    await page.waitForURL("**/teach");
    await page.waitForSelector('#teach[data-turn="yours"]');
    await assertGood(page, "a blank memory");
    let trapped = 0;
    for (let attempt = 0; trapped < 2; attempt += 1) {
      assert.ok(attempt < 40, "it never falls for the trick twice");
      if (!(await stack(page, how))) {
        // It has blocked by chance: another bot sits down, if this one has learnt anything.
        if (trapped > 0) await page.click("#teach-forget");
        trapped = 0;
        continue;
      }
      trapped += 1;
      await page.waitForSelector(`#teach-score:has-text("${trapped} won")`);
    }
    assert.match((await page.textContent("#teach-changed")) ?? "", /Patterns on the board/);
    assert.ok((await page.locator("#teach-changes .pattern").count()) > 0);
    await assertGood(page, "a taught memory");
    let why = "";
    for (let attempt = 0; attempt < 40 && !why.includes("has ended a game before"); attempt += 1) {
      // As long as it blocks by chance before there are three discs, nothing is shown either way.
      assert.equal(await stack(page, how), false, "it falls for the trick a third time");
      why = (await page.textContent("#teach-why")) ?? "";
    }
    assert.match(why, /has ended a game before.*seen.2, won.0, lost.2/s);

    await page.reload();
    assert.match((await page.textContent("#teach-score")) ?? "", /2 won/);
  });
}

test("a memory goes into a file and comes back, and forgets on demand", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  page.on("dialog", (dialog) => dialog.accept());
  await page.goto("/teach");
  while (!(await stack(page, "click")));
  await page.waitForSelector("#teach-patterns .pattern");
  const patterns = await page.locator("#teach-patterns .pattern").count();
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#teach-save")]);
  const xml = await readFile(await download.path());
  assert.match(xml.toString(), /<ConnectFourPattern>/);
  await page.click("#teach-forget");
  await page.waitForFunction(() => document.querySelectorAll("#teach-patterns .pattern").length === 0);
  assert.equal(await page.evaluate(() => localStorage.getItem("memory")), null);
  await page.setInputFiles("#teach-load", { name: "memory.xml", mimeType: "application/xml", buffer: xml });
  await page.waitForFunction((n) => document.querySelectorAll("#teach-patterns .pattern").length === n, patterns);
  await page.setInputFiles("#teach-load", { name: "memory.xml", mimeType: "application/xml", buffer: Buffer.from("<a/>") });
  await page.waitForSelector("#teach-why .problem");
  assert.equal(await page.locator("#teach-patterns .pattern").count(), patterns, "a bad file changes nothing");
});

test("what the browser keeps may be anything", async () => {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce" });
  const odd = JSON.stringify({ memory: "x", score: [0, 0, 0], patterns: [7, null] });
  for (const kept of ["", "null", "7", "{}", '{"memory":7}', odd, TORN]) {
    await page.goto("/teach");
    await page.evaluate((value) => localStorage.setItem("memory", value), kept);
    await page.reload();
    await page.waitForSelector('#teach[data-turn="yours"]');
  }
  // The last one looks like a memory, but nobody gave it out: it is told, and forgetting helps.
  page.on("dialog", (dialog) => dialog.accept());
  await drop(page, "click", 4);
  await page.waitForSelector("#teach-why .problem");
  await page.click("#teach-forget");
  await drop(page, "click", 4);
  await page.waitForSelector('#teach[data-ply="2"]');
});
