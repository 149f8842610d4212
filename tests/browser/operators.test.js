// Somebody is reported, and an operator deals with it: from the button on the page to the log of what was done.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { LOOKS, assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 40[349]/));

/** The code of an authenticator now. @param {string} secret in base 32 */
function codeNow(secret) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0")).join("");
  const key = Buffer.from(bits.match(/.{8}/g)?.map((byte) => parseInt(byte, 2)) ?? []);
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  const start = hash[hash.length - 1] & 15;
  return String((hash.readUInt32BE(start) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

/** @param {Page} page @param {string} reason @param {string} note */
async function report(page, reason, note) {
  await page.goto("/player/Rudolf");
  await page.click("[data-report]");
  await page.selectOption("#report-reason", reason);
  await page.fill("#report-note", note);
  await assertGood(page, "the dialog of a report");
  await page.click("#report button[type=submit]");
}

test("somebody is reported from a page, and once", async () => {
  const [rude, page] = await Promise.all([browser.visitor(arena.url), browser.visitor(arena.url, PHONE)]);
  await signUp(rude, "Rudolf");
  await rude.goto("/player/Rudolf");
  assert.equal(await rude.locator("[data-report]").count(), 0, "nobody reports themselves");
  await report(page, "harassment", "Asks me <b>again</b> and again");
  await page.waitForSelector(".toast >> text=The operators will look into it.");
  await report(page, "name", "");
  await page.waitForSelector("#report .problem >> text=You have reported this player already.");
  await page.click("#report button[type=button]");
  await page.goto("/player/Rudolf?lang=de");
  await page.click("[data-report]");
  await page.waitForSelector("#report-title >> text=Jemanden melden");
});

test("an operator gives a code, deals with the report, and everybody else finds nothing", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Grace");
  await page.goto("/admin");
  assert.equal(await page.locator("#admin-code").count(), 0, "she is no operator yet");
  const said = arena.operate("operator", "add", "Grace", "--reason", "keeps order", "--by", "root");
  const secret = said.match(/Or typed: (\w+)/)?.[1] ?? "";
  const [recovery] = said.match(/[A-Z2-7]{4}(-[A-Z2-7]{4}){3}/) ?? [];
  await page.goto("/admin");
  await assertGood(page, "the page that asks for a code");
  await page.fill("#code", "12");
  await page.click("#admin-code button[type=submit]");
  await page.waitForSelector("#admin-code .problem:not(:empty)");
  await page.fill("#code", codeNow(secret));
  await page.click("#admin-code button[type=submit]");
  await page.waitForSelector("[data-report-number]");
  assert.match(await page.innerText("#decisions"), /Nobody has made a hard decision yet/);
  assert.match((await page.textContent("[data-report-number] blockquote")) ?? "", /Asks me <b>again<\/b> and again/);
  for (const { size, viewport, rules } of LOOKS) {
    await page.setViewportSize(viewport.viewport);
    await assertGood(page, `the operators' page, ${size}`, rules);
  }
  const form = page.locator("form[data-report]");
  await form.locator("select").selectOption("mute");
  await form.locator('input[name="reason"]').fill("asks again and again");
  await form.locator('input[name="days"]').fill("7");
  await form.locator("button").click();
  await page.waitForSelector("text=Nobody has reported anybody.");
  assert.match((await page.textContent("main")) ?? "", /mute Rudolf until [-\d]+ [:\d]+: asks again and again \(Grace\)/);

  const plan = { name: "Rough Cup", format: "arena", begins_in_s: 3_600, minutes: 10 };
  const planned = await page.evaluate(
    async (body) =>
      (await fetch("/api/v1/tournaments", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) })).json(),
    plan,
  );
  await page.locator("#act-what").selectOption("cancel_tournament");
  await page.fill("#act-subject", planned.id);
  await page.fill("#act-reason", "the name is rude");
  await page.click("#act button");
  await page.waitForSelector("text=the name is rude (Grace)");
  await page.goto(`/tournament/${planned.id}`);
  assert.match((await page.textContent("main")) ?? "", /the name is rude/);

  await page.goto("/admin");
  await page.click("#admin-leave");
  await page.waitForURL(/\/$/);
  await page.goto("/admin");
  await page.fill("#code", recovery ?? "");
  await page.click("#admin-code button[type=submit]");
  await page.waitForSelector("#act");
  arena.operate("operator", "remove", "Grace", "--reason", "has left", "--by", "root");
  await page.goto("/admin");
  assert.equal(await page.locator("#act").count(), 0);
});
