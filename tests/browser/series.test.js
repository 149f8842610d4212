// The best of three games: chosen in the dialog, its score on the page and in lists, and its end.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { atGame, gameId } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { playMoves, toLobby } from "./support/people.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** Gives a game up in which both have moved. @param {Page} page @param {{ first: Page, second: Page }} pages */
async function giveUp(page, pages) {
  await playMoves(pages, "44");
  await page.click(".actions >> text=Resign");
  await page.click("text=Really resign?");
  await page.waitForSelector('#game[data-status="over"]');
}

/** Waits until both are at the game behind this one. @param {Page[]} pages @param {string} id */
async function next(pages, id) {
  await Promise.all(pages.map((page) => page.waitForURL((url) => /\/game\/\w+$/.test(url.pathname) && !url.pathname.endsWith(id), { timeout: 20_000 })));
  await Promise.all(pages.map((page) => page.waitForSelector('#game:not([data-you=""])')));
  return gameId(pages[0]);
}

test("the best of three is offered, followed from game to game, and over when it is decided", async () => {
  const [ann, ben, eve] = await Promise.all([browser.visitor(arena.url, DESKTOP), browser.visitor(arena.url, PHONE), browser.visitor(arena.url, PHONE)]);
  await toLobby(ann);
  await ann.click("#make-link");
  await ann.selectOption('[name="invite-games"]', "3");
  await ann.check('[name="invite-side"][value="first"]');
  await ann.click("#send-invite");
  const url = await ann.inputValue("#invite-url");
  assert.match((await ann.textContent("#waiting-detail")) ?? "", /Best of 3/);
  await ben.goto(url);
  assert.match(await ben.innerText(".challenge-terms"), /Best of 3/);
  await ben.waitForSelector('html[data-connection="open"]');
  await ben.click("[data-accept]");
  const [first] = await Promise.all([atGame(ann), atGame(ben)]);
  assert.match(await ann.innerText(".terms"), /Best of 3\s+Game 1 of 3/);

  await eve.goto(`/game/${first}`);
  await eve.waitForSelector('html[data-connection="open"]');
  await giveUp(ben, { first: ann, second: ben });
  await ann.waitForSelector(".ribbon:not([hidden])");
  assert.match(await ann.innerText(".ribbon .series"), /^You 1 : 0 /);
  assert.match(await ann.innerText(".status-detail"), /The next game begins in a few seconds/);
  await assertGood(ann, "the end of a game within a series");
  const second = await next([ann, ben], first);
  assert.equal(await ann.getAttribute("#game", "data-you"), "second", "sides change");
  await eve.waitForURL(new RegExp(`/game/${second}$`), { timeout: 20_000 });
  assert.match(await ann.innerText(".terms"), /Best of 3\s+Game 2 of 3\s+You 1 : 0 /);
  assert.match(await ben.innerText(".terms"), /You 0 : 1 /);
  await assertGood(ben, "a game of a series on a phone");
  const live = await (await eve.request.get("/api/v1/live")).json();
  assert.deepEqual(live.items[0].series, { leg: 2, of: 3, half_points: { first: 0, second: 2 } });
  await eve.goto("/tv");
  await eve.waitForSelector('.terms:has-text("Game 2 of 3")');
  assert.match(await eve.innerText(".terms"), / 0 : 1 /);

  await giveUp(ben, { first: ben, second: ann });
  await ann.waitForSelector(".ribbon:not([hidden])");
  assert.match(await ann.innerText(".ribbon .series"), /^You 2 : 0 /);
  assert.match(await ann.innerText(".status-detail"), /You have won the series\./);
  assert.match(await ben.innerText(".status-detail"), /You have lost the series\./);
  await eve.goto(`/game/${second}`);
  assert.match(await eve.innerText(".status-detail"), /has won the series\./);
  await ann.waitForTimeout(9_000);
  assert.equal(gameId(ann), second, "no third game is played");
});
