// An arena of people and bots: made with the form, entered by a link, played on from game to game, left, come back to,
// read by a phone, taken up after a kill, ended by the clock, and its results as a file.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";

const TOURNAMENTS = `
[[tournaments]]
name = "Minute Arena"
at = "start"
format = "arena"
minutes = 1
entrants = ["stupid", "random", "greedy"]
open_people = true
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

/** Pages of somebody with an account. @param {string} name @param {import("playwright-core").BrowserContextOptions} form */
async function somebody(name, form) {
  const page = await browser.visitor(arena.url, form);
  await signUp(page, name);
  return page;
}

test("an arena goes on through a kill until its minute is up", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await page.goto("/tournaments");
  await page.click("text=Minute Arena");
  await page.waitForSelector("#arena .countdown[data-until]:not([hidden])");
  assert.match(await page.innerText(".page-head"), /arena of one minute/);
  await page.waitForFunction(() => /[1-9]\d* games?/.test(document.querySelector(".tournament-status")?.textContent ?? ""));
  assert.equal(await page.locator("#tournament thead >> text=Elo").count(), 0);
  await assertGood(page, "an arena under way");
  for (const form of [DESKTOP, PHONE]) {
    const wall = await browser.visitor(arena.url, form);
    await wall.goto(`${new URL(page.url()).pathname}/wall`);
    await wall.waitForSelector("#wall-boards .game-tile");
    await wall.waitForFunction(() => /\d:\d\d/.test(document.querySelector("#wall-status strong")?.textContent ?? ""));
    assert.equal(await wall.locator("#wall-standings").count(), 1);
    await wall.waitForSelector("#wall-tables .wall-pairings li");
    assert.match(await wall.innerText(".wall-address"), /^127\.0\.0\.1:\d+\/tournament\/\w+$/);
    assert.equal(await wall.locator(".wall-join .qr").evaluate((image) => /** @type {HTMLImageElement} */ (image).naturalWidth > 0), true);
    await assertGood(wall, "the wall of an arena");
    await wall.close();
  }
  await arena.crashAndRestart();
  await page.waitForSelector(".tournament-status:not([data-live])", { timeout: 150_000 });
  const id = page.url().split("/").pop();
  const one = await (await page.request.get(`/api/v1/tournaments/${id}`)).json();
  assert.equal(one.status, "complete");
  assert.equal(new Set(one.schedule.map((/** @type {{ number: number }} */ { number }) => number)).size, one.schedule.length);
  const points = one.standings.map((/** @type {{ score: number }} */ { score }) => score);
  assert.deepEqual(points, [...points].sort((a, b) => b - a));
  const file = await (await page.request.get(`/api/v1/tournaments/${id}/standings.csv`)).text();
  assert.match(file.split("\n")[1], new RegExp(`^1,${one.winner},${points[0]},`));
});

test("people make an arena, play on in it, leave, come back and call it off", async () => {
  const ada = await somebody("ada", DESKTOP);
  await ada.goto("/tournaments/new");
  await ada.fill("#new-title", "Evening Arena");
  assert.equal(await ada.inputValue("#new-form"), "arena");
  assert.equal(await ada.isVisible("#new-games"), false);
  await ada.selectOption("#new-minutes", "10");
  await assertGood(ada, "the form");
  await ada.click("#new-tournament button[type=submit]");
  await ada.waitForURL("**/tournament/*");
  const link = ada.url();
  assert.match(await ada.innerText(".page-head"), /arena of 10 minutes/);

  const bob = await somebody("bob", PHONE);
  await bob.goto(link);
  await bob.click('[data-do="enter"]');
  await bob.waitForSelector('[data-do="withdraw"]');
  await ada.reload();
  await ada.click('[data-do="begin"]');
  await ada.waitForURL("**/game/*");
  await bob.waitForURL("**/game/*", { timeout: 30_000 });
  const first = ada.url();

  // Whoever gives up meets the next one at once, from the page of the game.
  await bob.click(".actions >> text=Abort");
  await ada.waitForURL((url) => url.href !== first && url.pathname.startsWith("/game/"), { timeout: 30_000 });

  const withdraw = async () => {
    await ada.goto(link);
    await ada.waitForSelector("#arena .countdown[data-until]:not([hidden])");
    await ada.click('[data-do="withdraw"]');
    await ada.waitForSelector('#arena [data-do="enter"]');
    assert.match(await ada.innerText("#tournament"), /withdrawn/);
  };
  await withdraw();
  await ada.click('#arena [data-do="enter"]');
  // Whoever takes part may be taken to a game at any moment.
  await ada.waitForFunction(
    () => location.pathname.startsWith("/game/") || document.querySelector('#arena [data-do="withdraw"]'),
  );
  await withdraw();
  await assertGood(ada, "an arena of one's own");
  const guest = await browser.visitor(arena.url, PHONE);
  await guest.goto(link);
  await guest.waitForSelector("#arena a[href='/account']");
  await assertGood(guest, "an arena on a phone");

  await ada.click('summary:has-text("Call it off")');
  await ada.fill("#why", "It is late.");
  await ada.click('[data-do="cancel"]');
  await ada.waitForSelector(".notice >> text=It is late.");
  assert.equal(await ada.locator("[data-live]").count(), 0);
  await guest.reload();
  assert.match(await guest.innerText("#main"), /Called off:[\s\S]*It is late\./);
  await assertGood(guest, "an arena that was called off");
});
