// Friends: following from somebody's page, the page of friends, the front page, the word that a friend has come.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
// A page whose time leaps gives its connection up now and then, and makes another.
afterEach(() => browser.endOfTest(/WebSocket is closed before/));

/** @param {Page} page */
const open = (page) => page.waitForSelector('html[data-connection="open"]');

/**
 * Presses a button that follows, or follows no more, and waits until it has.
 * @param {Page} page
 * @param {string} name
 * @param {string} then what it says after that
 */
async function pressFollow(page, name, then) {
  await page.click(`[data-follow="${name}"]`);
  // The whole text: "Follow" is in "Following" too, and a page that is left takes its request back.
  await page.waitForSelector(`[data-follow="${name}"]:text-is("${then}")`);
}

/**
 * Challenges somebody to the usual game.
 * @param {Page} page
 * @param {string} name
 */
async function challenge(page, name) {
  await page.click(`[data-invite="${name}"]`);
  await page.click("#send-invite");
}

test("two follow each other, see that they are there, and play", async () => {
  const [ada, bob] = await Promise.all([browser.visitor(arena.url, DESKTOP), browser.visitor(arena.url, PHONE)]);
  await ada.goto("/friends");
  assert.equal(await ada.getAttribute("#main .card a", "href"), "/account", "it takes an account");
  await signUp(ada, "Ada");
  await signUp(bob, "Bob");
  await ada.goto("/friends");
  await ada.waitForSelector("#nobody");
  await assertGood(ada, "the page of friends of somebody who follows nobody");
  await ada.fill("#find", "bob");
  await ada.press("#find", "Enter");
  await ada.waitForURL("**/player/Bob");
  await pressFollow(ada, "Bob", "Following");
  await assertGood(ada, "the page of somebody whom one follows");
  await bob.goto("/player/Ada");
  await pressFollow(bob, "Ada", "Following");
  await bob.reload();
  await bob.waitForSelector("h1 >> text=friend");
  await bob.goto("/account");
  await bob.click("#main >> text=Friends");
  await bob.waitForSelector("#friends >> text=Ada");
  await assertGood(bob, "friends on a phone");

  await ada.goto("/");
  assert.match(await ada.innerText("#friends-online"), /Bob/);
  await assertGood(ada, "the front page with a friend who is there");
  await open(bob);
  await ada.goto("/friends");
  await open(ada);
  await challenge(ada, "Bob");
  await bob.click(".toast >> text=Accept");
  await Promise.all([ada.waitForURL("**/game/*"), bob.waitForURL("**/game/*")]);

  const eve = await browser.visitor(arena.url, DESKTOP);
  await signUp(eve, "Eve");
  await eve.goto("/player/Ada");
  await pressFollow(eve, "Ada", "Following");
  await eve.goto("/friends");
  assert.match(await eve.innerText("#followed"), /Ada[^]*plays now/);
  await eve.click("#followed >> text=Watch");
  await eve.waitForURL("**/game/*");
  await eve.goto("/friends");
  await pressFollow(eve, "Ada", "Follow");
  await eve.reload();
  await eve.waitForSelector("#nobody");
});

test("whoever looks is told when a friend comes, once in a while", async () => {
  const [cleo, dan] = await Promise.all([browser.visitor(arena.url, DESKTOP), browser.visitor(arena.url, DESKTOP)]);
  await Promise.all([signUp(cleo, "Cleo"), signUp(dan, "Dan")]);
  await cleo.goto("/player/Dan");
  await pressFollow(cleo, "Dan", "Following");
  await dan.goto("/player/Cleo");
  await pressFollow(dan, "Cleo", "Following");
  await dan.goto("about:blank");
  await cleo.clock.install();
  await cleo.goto("/friends");
  await cleo.waitForSelector("#friends >> text=not here");
  await open(cleo);
  await cleo.clock.fastForward(61_000);
  assert.equal(await cleo.locator(".toast").count(), 0, "nobody has come");
  await dan.goto(`${arena.url}/rules`);
  await open(dan);
  await cleo.clock.fastForward(61_000);
  await cleo.waitForSelector(".toast >> text=Dan is here");
  await assertGood(cleo, "the word that a friend has come");
  await cleo.clock.fastForward(61_000);
  assert.equal(await cleo.locator(".toast").count(), 0, "it goes by itself, and comes no second time");
});

test("whoever is blocked cannot challenge, and the list has a way back", async () => {
  const [fay, gus] = await Promise.all([browser.visitor(arena.url, PHONE), browser.visitor(arena.url, DESKTOP)]);
  await Promise.all([signUp(fay, "Fay"), signUp(gus, "Gus")]);
  await gus.goto("/");
  await open(gus);
  await fay.goto("/player/Gus");
  await fay.click('[data-block="Gus"]');
  await fay.click('[data-block="Gus"]:has-text("Really block?")');
  await fay.waitForSelector(".toast >> text=Gus is blocked");
  await fay.waitForSelector('[data-blocks]:has-text("Unblock")');
  assert.equal(await fay.locator("[data-follow]").count(), 0);
  await assertGood(fay, "the page of somebody whom one blocks");
  await open(fay);
  await gus.goto("/player/Fay");
  await open(gus);
  await challenge(gus, "Fay");
  await gus.waitForSelector(".toast >> text=/does not|not accept/i");
  await fay.waitForTimeout(300);
  assert.equal(await fay.locator(".toast >> text=/Gus challenges/").count(), 0);
  await fay.goto("/account");
  await fay.waitForSelector("#blocked >> text=Gus");
  await assertGood(fay, "the account of somebody who blocks");
  await fay.click('#blocked [data-block="Gus"]');
  await fay.waitForSelector(".toast >> text=Gus is blocked no more");
  assert.equal(await fay.locator("#blocked").count(), 0);
  await open(fay);
  await challenge(gus, "Fay");
  await fay.click(".toast >> text=Accept");
  await Promise.all([fay.waitForURL("**/game/*"), gus.waitForURL("**/game/*")]);
  await fay.waitForSelector('[data-block="Gus"]');
});
