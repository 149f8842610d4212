// How a game with somebody is to be: the dialog for invitations and challenges, what is read of it before one accepts,
// and what players say to each other without a chat.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { atGame, signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { pair, toLobby } from "./support/people.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** @param {Page} page */
const open = (page) => page.waitForSelector('html[data-connection="open"]');

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`all terms of an invitation are chosen, remembered, and read before somebody accepts (${name})`, async () => {
    const [ann, ben] = await Promise.all([1, 2].map(() => browser.visitor(arena.url, form)));
    await toLobby(ann);
    await ann.click("#make-link");
    await ann.check('[value="own"]');
    await ann.fill('[name="invite-minutes"]', "7");
    await ann.fill('[name="invite-seconds"]', "4");
    await ann.check('[name="invite-side"][value="second"]');
    await ann.selectOption('[name="invite-opening"]', "balanced");
    await ann.selectOption('[name="invite-games"]', "4");
    await assertGood(ann, "the dialog of an invitation");
    await ann.click("#send-invite");
    const url = await ann.inputValue("#invite-url");
    const words = "7 min + 4 s · Casual · You play Gold · Balanced opening by lot · 4 games, sides swapped each time";
    assert.ok((await ann.textContent("#waiting-detail"))?.startsWith(words), (await ann.textContent("#waiting-detail")) ?? "");

    await ben.goto(url);
    await open(ben);
    const terms = await ben.innerText(".challenge-terms");
    for (const said of [/7 min \+ 4 s/, /Casual/, /You play Coral/, /Balanced opening by lot/, /4 games/, /Begins\s+You/]) assert.match(terms, said);
    const preview = await ben.getAttribute('meta[property="og:description"]', "content");
    assert.match(preview ?? "", /invites you to a game · 7 min \+ 4 s · Casual · You play Coral · Balanced opening by lot · 4 games/);
    await assertGood(ben, "an invitation with all its terms");

    await ann.click("#waiting-cancel");
    await ann.click("#make-link");
    assert.equal(await ann.inputValue('[name="invite-minutes"]'), "7");
    assert.equal(await ann.isChecked('[name="invite-side"][value="second"]'), true);
    assert.equal(await ann.inputValue('[name="invite-opening"]'), "balanced");
    await ann.click("#invite-dialog >> text=Not now");
    await ann.waitForSelector("#invite-dialog", { state: "detached" });
    assert.equal(await ann.isVisible("#quick"), true, "nothing was asked for");
  });
}

test("the dialog offers nothing that does not go together, and says why", async () => {
  const page = await browser.visitor(arena.url);
  await toLobby(page);
  await page.click("#make-link");
  assert.equal(await page.isDisabled('[value="days"]'), true, "guests have no games by days");
  assert.match(await page.innerText("#invite-no-days"), /both players need an account/);
  assert.equal(await page.isDisabled('[name="invite-rated"]'), true);
  await page.click("#invite-dialog >> text=Not now");

  await signUp(page, "Una");
  await toLobby(page);
  await page.click("#make-link");
  const rated = page.locator('[name="invite-rated"]');
  assert.equal(await rated.isChecked(), true);
  await page.check('[name="invite-time"][value="none"]');
  assert.deepEqual([await rated.isDisabled(), await rated.isChecked()], [true, false]);
  assert.equal(await page.isVisible("text=Without a clock the game is casual."), true);
  await page.check('[name="invite-time"][value="days"]');
  assert.deepEqual([await rated.isDisabled(), await rated.isChecked()], [false, true]);
  assert.equal(await page.isDisabled('[name="invite-games"]'), true);
  await page.selectOption('[name="invite-board"]', "8x7");
  assert.equal(await page.locator('option[value="balanced"]').isDisabled(), true, "there are none for that board");
  await page.selectOption('[name="invite-opening"]', "given");
  assert.equal(await rated.isChecked(), false);
  for (const [moves, fits] of /** @type {const} */ ([["", false], ["9", false], ["4444444", true], ["44444444", false], ["1212121", false], ["4453", true]])) {
    await page.fill('[name="invite-moves"]', moves);
    assert.equal(await page.locator('[name="invite-moves"]').evaluate((input) => /** @type {HTMLInputElement} */ (input).checkValidity()), fits, moves);
  }
  await page.check('[name="invite-time"][value="own"]');
  await page.fill('[name="invite-minutes"]', "0.5");
  await page.fill('[name="invite-seconds"]', "40");
  await page.click("#send-invite");
  assert.equal(await page.isVisible("#invite-dialog"), true, "a move adds no more than the whole time");
  await page.fill('[name="invite-seconds"]', "20");
  await page.click("#send-invite");
  await page.waitForSelector("#invite-url");
  assert.match((await page.textContent("#waiting-detail")) ?? "", /^30 s \+ 20 s · Casual · 8 × 7 · Colours by lot · After 4453/);
});

test("somebody who is away is challenged by days, finds it after coming back, and nobody is interrupted twice", async () => {
  const [vera, walt] = await Promise.all([browser.visitor(arena.url), browser.visitor(arena.url, PHONE)]);
  await signUp(vera, "Vera");
  await signUp(walt, "Walt");
  await walt.goto("about:blank");
  await vera.goto("/player/Walt");
  await vera.waitForFunction(async () => !(await (await fetch("/player/Walt")).text()).includes('class="won"'));
  await vera.reload();
  await open(vera);
  await vera.click(".player-head button");
  assert.match(await vera.innerText("#invite-dialog"), /Walt is not here now/);
  assert.equal(await vera.isDisabled('[name="invite-time"][value="own"]'), true);
  await vera.check('[name="invite-side"][value="first"]');
  await assertGood(vera, "the dialog of a challenge by days");
  await vera.click("#send-invite");
  await vera.waitForSelector("#toasts >> text=Walt has a week to answer.");
  await vera.goto("/correspondence");
  assert.match(await vera.innerText("#asked"), /To:\s+Walt[^]*3 days a move · Rated · You play Coral/);

  await walt.goto("/");
  await walt.waitForSelector("#toasts >> text=Vera challenges you: 3 days a move · Rated · You play Gold.");
  await walt.goto("/puzzles");
  await open(walt);
  assert.equal(await walt.locator("#toasts >> text=Vera").count(), 0, "once is enough");
  await walt.goto("/correspondence");
  await open(walt);
  await assertGood(walt, "a challenge that waits for an answer");
  await walt.click("#asked [data-take]");
  await atGame(walt);
  assert.equal(await walt.getAttribute("#game", "data-you"), "second");
});

test("a game is followed by another one on other terms", async () => {
  const pages = await pair(await browser.visitor(arena.url), await browser.visitor(arena.url));
  await pages.first.click(".actions >> text=Abort");
  await pages.first.click(".actions >> text=Other terms");
  await open(pages.first);
  assert.match(await pages.first.innerText("h1"), /^Challenge guest-\w{6}$/);
  await assertGood(pages.first, "the page of a challenge");
  await pages.first.check('[name="invite-time"][value="600000+5000"]');
  await pages.first.click("#send-invite");
  await pages.second.click("#toasts >> text=Accept");
  assert.equal(await atGame(pages.first), await atGame(pages.second));
  assert.match(await pages.second.innerText(".terms"), /10 min \+ 5 s/);
});

test("two people of two languages say something to each other, and whoever wants none of it sees none", async () => {
  const [en, de] = await Promise.all([browser.visitor(arena.url), browser.visitor(arena.url, { ...PHONE, locale: "de" })]);
  await pair(en, de);
  await en.click('[aria-controls="phrases"]');
  await assertGood(en, "phrases");
  await en.click("#phrases >> text=Well played!");
  assert.equal(await en.isHidden("#phrases"), true);
  await de.waitForSelector(".floating.phrase >> text=Gut gespielt!");
  await de.waitForFunction(() => /Gut gespielt!/.test(document.querySelector("#announcer")?.textContent ?? ""));
  await de.click('[aria-controls="phrases"]');
  await assertGood(de, "phrases on a phone");
  await de.keyboard.press("Tab");
  await de.keyboard.press("Escape");
  assert.equal(await de.isHidden("#phrases"), true);
  await de.click('[aria-controls="phrases"]');
  await de.click("#phrases >> text=Danke!");
  await en.waitForSelector(".floating.phrase >> text=Thank you!");

  const game = en.url();
  await en.goto("/settings");
  await en.uncheck('[name="reactions"]');
  await en.goto(game);
  await en.waitForSelector("#game[data-turn]");
  assert.equal(await en.isHidden(".reactions"), true);
  await de.click(".reactions button >> nth=0");
  await de.waitForSelector(".floating");
  await en.waitForTimeout(300);
  assert.equal(await en.locator(".floating").count(), 0);
});

test("a game that begins is told by the system to whoever has asked for it and does not look", async () => {
  const [una, vic] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  const aside = await una.context().newPage();
  await aside.addInitScript(() => {
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
    Object.defineProperty(document, "hidden", { get: () => location.pathname === "/puzzles" });
  });
  await aside.goto("/settings");
  await aside.check('input[name="notices"]');
  await aside.goto("/puzzles");
  await open(aside);
  await pair(una, vic);
  await aside.waitForFunction(() => /^You are playing guest-\w{6}\.$/.test(/** @type {any} */ (globalThis).notices[0]));
});

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`one cuts and the other chooses (${name})`, async () => {
    const [ann, ben] = await Promise.all([browser.visitor(arena.url, form), browser.visitor(arena.url, form)]);
    await toLobby(ann);
    await ann.click("#make-link");
    assert.equal(await ann.isHidden('[data-with="opponent"]'), true);
    await ann.check('[name="invite-side"][value="opponent"]');
    assert.match(await ann.innerText('[data-with="opponent"]'), /whoever accepts chooses a side/);
    await ann.selectOption('[name="invite-opening"]', "given");
    await ann.fill('[name="invite-moves"]', "41");
    await assertGood(ann, "the dialog with the pie rule");
    await ann.click("#send-invite");
    const url = await ann.inputValue("#invite-url");
    await ben.goto(url);
    await open(ben);
    assert.match(await ben.innerText(".challenge-terms"), /You choose your side/);
    assert.equal(await ben.locator(".challenge-position .mini").count(), 1);
    await assertGood(ben, "an invitation with the pie rule");
    await ben.click('[data-accept="second"]');
    assert.equal(await atGame(ann), await atGame(ben));
    await ben.waitForSelector('#game[data-you="second"][data-ply="2"]');
    await ann.waitForSelector('#game[data-you="first"]');
  });
}

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`a stranger learns the rules from an invitation, comes back to it and plays (${name})`, async () => {
    const [ann, stranger] = await Promise.all([DESKTOP, form].map((options) => browser.visitor(arena.url, { ...options, reducedMotion: "reduce" })));
    await toLobby(ann);
    await ann.click("#make-link");
    await ann.click("#send-invite");
    const url = await ann.inputValue("#invite-url");
    await stranger.goto(url);
    await stranger.click("text=The rules in a minute");
    await stranger.waitForURL(/\/learn\/rules\?from=\/challenge\//);
    await assertGood(stranger, "the rules for whoever is invited");
    for (const [place, column] of [1, 2, 4, 4, 1].entries()) {
      await stranger.waitForSelector('html[data-connection="open"] #lesson[data-status="open"]');
      await stranger.keyboard.press(String(column));
      await stranger.waitForSelector('#lesson[data-status="right"]');
      if (place < 4) await stranger.keyboard.press("Enter");
    }
    // The way back is where the keyboard is after the last exercise.
    await stranger.waitForFunction(() => document.activeElement?.id === "lesson-back");
    await stranger.keyboard.press("Enter");
    await stranger.waitForURL(url);
    await open(stranger);
    await stranger.click("[data-accept]");
    await Promise.all([atGame(ann), atGame(stranger)]);
  });
}

test("the rules lead back to invitations alone", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/learn/rules?from=//evil.example/challenge/");
  assert.equal(await page.locator("#lesson-back").count(), 0);
  await page.goto("/class");
  await page.click("text=The rules in a minute >> nth=0");
  await page.waitForURL("**/learn/rules?from=/class");
  assert.equal(await page.getAttribute("#lesson-back", "href"), "/class");
});
