// What operators order is on every page at once, and gone when it holds no longer.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, PHONE } from "./support/browser.js";
import { startBotGame } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { toLobby } from "./support/people.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 403|WebSocket/));

const BECAUSE = ["--reason", "a new version", "--by", "grace"];

test("an announcement comes and goes without a reload, as text", async () => {
  const page = await browser.visitor(arena.url, PHONE);
  await toLobby(page);
  assert.equal(await page.isVisible("#announcement"), false);
  const words = "Cake <b>at</b> five, " + "unbreakable".repeat(9);
  arena.operate("announce", words, ...BECAUSE);
  await page.waitForSelector("#announcement:not([hidden])");
  assert.equal(await page.textContent("#announcement"), words);
  await assertGood(page, "an announcement");
  await page.goto("/rules?lang=de");
  assert.equal((await page.textContent("#announcement"))?.trim(), words);
  arena.operate("announce", "", ...BECAUSE);
  await page.waitForSelector("#announcement", { state: "hidden" });
});

test("while the arena is paused pages say why, and whoever asks for a game is told", async () => {
  const page = await browser.visitor(arena.url);
  await toLobby(page);
  arena.operate("pause", ...BECAUSE);
  await page.click("#play-now");
  await page.waitForSelector(".toast >> text=No new games can start right now");
  await page.reload();
  assert.match((await page.textContent("body")) ?? "", /No new games for now: a new version/);
  await assertGood(page, "a paused arena");
  arena.operate("resume", ...BECAUSE);
  await toLobby(page);
  await page.click("#play-now");
  await page.waitForSelector("#waiting:not([hidden])");
});

test("a drain counts down, for those who come later too, and is called off", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  arena.operate("drain", "--seconds", "3000", ...BECAUSE);
  await page.waitForSelector("#draining >> text=/pause in (50:00|49:\\d\\d)/");
  const late = await browser.visitor(arena.url, PHONE);
  await late.goto("/rules?lang=fr");
  await late.waitForSelector("#draining >> text=/s’arrête un moment dans (50:00|49:\\d\\d)/");
  await assertGood(late, "a drain");
  arena.operate("resume", ...BECAUSE);
  await late.waitForSelector("#draining", { state: "detached" });
  await page.waitForSelector("#draining", { state: "detached" });
});
