// A tournament that begins with the daemon: its page while it is played, when the daemon is killed, and at its end.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";

/** Six games of bots that move at a pace that people can follow, some seconds each. */
const TOURNAMENTS = `
[[tournaments]]
name = "Opening Cup"
at = "start"
format = "round-robin"
entrants = ["stupid", "random", "greedy"]
concurrency = 1
seed = 5

[[tournaments]]
name = "Friday Swiss"
at = "0 18 * * 5"
format = "swiss"
open_bots = true
`;

const arena = new Arena();
const browser = new Browser();

before(() => {
  const file = join(arena.data, "tournaments.toml");
  writeFileSync(file, TOURNAMENTS);
  arena.environment = { ...arena.environment, FOURFOLD_CONFIG: file };
  return Promise.all([arena.start(), browser.start()]);
});
after(() => Promise.all([browser.stop(), arena.stop()]));
// While the daemon is away, nothing answers.
afterEach(() => browser.endOfTest(/ERR_CONNECTION|ERR_EMPTY|WebSocket|Failed to load resource|fetching the script/));

test("a tournament is followed live, through the death of the daemon, to its end", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await page.goto("/");
  await page.click(".site-footer >> text=Tournaments");
  assert.match(await page.innerText("#main"), /Friday Swiss/);
  assert.equal(await page.getAttribute(".upcoming a", "href"), "/bots/new", "how a bot takes part");
  await page.click("text=Opening Cup");
  await page.waitForSelector("#tournament [data-live]");
  await page.evaluate(() => Object.assign(globalThis, { notReloaded: true }));
  const booked = () => page.waitForFunction(() => /[1-6] of 6 games/.test(document.querySelector(".tournament-status")?.textContent ?? ""));
  await booked();

  // At once: on a busy machine six games may be over before anything else is looked at.
  const tournament = page.url().split("/").pop();
  const viewer = await browser.visitor(arena.url, DESKTOP);
  await viewer.goto(page.url());
  await viewer.click(".page-head >> text=Watch");
  const shown = await viewer.getAttribute("#game[data-ply]", "data-game");
  assert.equal((await (await viewer.request.get(`/api/v1/games/${shown}`)).json()).pair.id.split("-")[0], tournament);
  assert.equal(await viewer.textContent('.segments [aria-current="page"]'), "Tournament");
  await viewer.context().close();
  await assertGood(page, "a tournament under way");

  await arena.crashAndRestart();
  await page.waitForSelector(".tournament-status:not([data-live])", { timeout: 240_000 });
  assert.equal(await page.evaluate(() => "notReloaded" in globalThis), true);
  assert.match(await page.innerText(".tournament-status"), /6 of 6 games/);
  const { schedule } = await (await page.request.get(page.url().replace("/tournament/", "/api/v1/tournaments/"))).json();
  assert.equal(new Set(schedule.map((/** @type {{ game: string }} */ { game }) => game)).size, 6);
  await page.click("#tournament tbody a[href^='/game/']");
  await page.waitForURL("**/game/*");
});

test("its pages suit a phone and readers without script", async () => {
  const phone = await browser.visitor(arena.url, PHONE);
  await phone.goto("/tournaments");
  await assertGood(phone, "the list on a phone");
  await phone.click("text=Opening Cup");
  await phone.waitForSelector("#tournament table");
  await assertGood(phone, "a tournament on a phone");
  const html = await (await phone.request.get(phone.url())).text();
  for (const name of ["stupid", "random", "greedy", "Wins as the first side"]) assert.ok(html.includes(name), name);
});

test("whoever has entered is called from any page a moment before it begins", async () => {
  const page = await browser.visitor(arena.url, PHONE);
  await page.addInitScript(() => {
    const told = /** @type {any} */ (globalThis);
    told.notices = [];
    told.Notification = class extends EventTarget {
      static permission = "granted";
      static requestPermission = async () => "granted";
      /** @param {string} title */
      constructor(title) {
        super();
        told.notices.push(title);
      }
    };
    Object.defineProperty(document, "hidden", { configurable: true, get: () => location.pathname === "/puzzles" });
  });
  await signUp(page, "Caller");
  await page.goto("/settings");
  await page.check('input[name="notices"]');
  await page.goto("/puzzles");
  const id = await page.evaluate(async () => {
    const body = JSON.stringify({ name: "Evening Cup", format: "round-robin", begins_in_s: 40 });
    const answer = await fetch("/api/v1/tournaments", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return (await answer.json()).id;
  });
  await page.waitForSelector("#toasts >> text=/Evening Cup begins in \\d+ s\\./");
  assert.match(await page.title(), /^\(1\) /);
  assert.match(await page.evaluate(() => /** @type {any} */ (globalThis).notices[0]), /^Evening Cup begins in/);
  await assertGood(page, "a call to a tournament");
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => false });
    document.dispatchEvent(new Event("visibilitychange"));
  });
  assert.doesNotMatch(await page.title(), /^\(/);
  await page.click("#toasts >> text=To the tournament");
  await page.waitForURL(`**/tournament/${id}`);
  await page.click("text=On the wall");
  await page.waitForURL("**/wall");
  await page.waitForSelector('#wall-tables li:has-text("Caller")');
  await assertGood(page, "the wall of a tournament that is to come");
});
