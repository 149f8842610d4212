// People among themselves: pairing, two clocks, a reload in the middle, a watcher, invitations, rematches, offers.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, PHONE } from "./support/browser.js";
import { atGame, gameId, headline, myTurn, ply, reached, signUp } from "./support/game.js";
import { inviteByLink, pair, playMoves, toLobby } from "./support/people.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** A phone that is low: what is said below the board is soon below the screen. */
const LOW_PHONE = { ...PHONE, viewport: { width: 375, height: 700 } };

/** Writes down whatever is read to who cannot see. @param {Page} page */
const listen = (page) =>
  page.evaluate(() => {
    const region = /** @type {HTMLElement} */ (document.querySelector("#announcer"));
    const heard = /** @type {string[]} */ ([]);
    Object.assign(globalThis, { heard });
    new MutationObserver(() => heard.push(region.textContent ?? "")).observe(region, { childList: true });
  });

/** Waits until something is read. @param {Page} page @param {string} words */
const hears = (page, words) =>
  page.waitForFunction((wanted) => /** @type {any} */ (globalThis).heard.some((/** @type {string} */ line) => line.includes(wanted)), words);

/** @param {Page} page @param {string} selector whether all of it is on the screen, above what lies at its foot */
async function isInSight(page, selector) {
  const box = await page.locator(selector).boundingBox();
  const foot = await page.locator("#game .actions, .tabs").evaluateAll((bars) =>
    Math.min(...bars.filter((bar) => getComputedStyle(bar).position === "fixed" && bar.getClientRects().length).map((bar) => bar.getBoundingClientRect().top)));
  return box !== null && box.y >= 0 && box.y + box.height <= foot;
}

/** @param {Page} page the clock of one's own, in seconds */
async function ownClock(page) {
  const face = (await page.textContent('[data-seat="bottom"] ff-clock')) ?? "";
  return face.split(":").map(Number).reduce((sum, part) => sum * 60 + part, 0);
}

test("two people play a rated game to the end; one reloads, a third watches, the ranking has both", async () => {
  const [ann, ben, eve] = await Promise.all([1, 2, 3].map(() => browser.visitor(arena.url)));
  await signUp(ann, "Ann");
  await signUp(ben, "Ben");
  const pages = await pair(ann, ben);
  const name = (await pages.first.textContent('[data-seat="bottom"] .name')) ?? "";
  await eve.goto(`/game/${pages.id}`);
  await eve.waitForSelector('html[data-connection="open"]');
  await playMoves(pages, "4344");
  await reached(eve, 4);
  assert.equal(await eve.isHidden(".columns"), true, "watchers have nothing to play on");

  const clock = await ownClock(pages.first);
  await pages.first.waitForFunction((before) => {
    const face = document.querySelector('[data-seat="bottom"] ff-clock')?.textContent ?? "";
    return face.split(":").map(Number).reduce((sum, part) => sum * 60 + part, 0) < before;
  }, clock);

  await pages.first.reload();
  await pages.first.waitForSelector('#game[data-turn="yours"][data-ply="4"]');
  // Coral: 4 4 5 6 7 with 4 at the bottom; the last one completes the lowest row.
  await playMoves(pages, "53637", 4);
  await Promise.all([pages.first, pages.second, eve].map((page) => page.waitForSelector('#game[data-status="over"]')));
  assert.equal(await headline(pages.first), "You won");
  assert.equal(await headline(pages.second), "You lost");
  assert.equal(await headline(eve), `${name} wins`);
  for (const page of [pages.first, pages.second, eve]) {
    assert.equal(await page.locator(".stone.in-line").count(), 4);
  }
  assert.match((await pages.first.textContent('[data-seat="bottom"] .delta')) ?? "", /^\+\d+$/);

  await eve.goto("/leaderboard?list=people");
  const row = eve.locator("tr", { hasText: name });
  assert.equal(await row.locator(".rank").textContent(), "1");
  await eve.goto(`/player/${name}`);
  assert.match((await eve.textContent(".games-table")) ?? "", /Won/);
  await eve.click(".games-table .mini-link");
  assert.equal(await atGame(eve), pages.id);
});

test("a game that was to be rated and does not count says so, and why, to everybody", async () => {
  const [kay, lou, eve] = await Promise.all([1, 2, 3].map(() => browser.visitor(arena.url)));
  await signUp(kay, "Kay");
  await signUp(lou, "Lou");
  const { first, second, id } = await pair(kay, lou);
  await eve.goto(`/game/${id}`);
  await playMoves({ first, second }, "4433");
  assert.match((await first.textContent(".terms")) ?? "", /Rated/);
  await first.click(".actions >> text=Resign");
  await first.click("text=Really resign?");
  await Promise.all([first, second, eve].map((page) => page.waitForSelector('#game[data-status="over"]')));
  const assertSaid = async (/** @type {Page} */ page) => {
    assert.match((await page.textContent(".status-detail")) ?? "", /resigned\. Not rated: too short\.$/);
    assert.doesNotMatch((await page.textContent(".terms")) ?? "", /Rated/);
  };
  for (const page of [first, second, eve]) await assertSaid(page);
  await first.waitForSelector(".ribbon:visible >> text=Not rated: too short.");
  for (const page of [second, eve]) {
    await page.reload();
    await page.waitForSelector("#game[data-ply]");
    await assertSaid(page);
  }
  const html = await (await eve.request.get(`/game/${id}`)).text();
  assert.match(html, /status-detail">Resigned\. Not rated: too short\./, "and so it does without script");
});

test("what the other side asks on a phone is on the screen, and read out; a face is there once", async () => {
  const [mia, noa] = await Promise.all([1, 2].map(() => browser.visitor(arena.url, LOW_PHONE)));
  const pages = await pair(mia, noa);
  const { first, second } = pages;
  for (const seat of ["top", "bottom"]) assert.equal(await first.locator(`[data-seat="${seat}"] .avatar`).count(), 1);
  await Promise.all([listen(first), listen(second)]);
  await playMoves(pages, "12");
  await second.click("text=Take back");
  await hears(first, "would like to take back a move");
  assert.equal(await isInSight(first, ".offer-bar"), true, "the request");
  await first.click("text=Refuse");
  await hears(second, "did not let you take your move back");
  assert.equal(await isInSight(second, ".offer-bar"), true, "the refusal");
  await playMoves(pages, "12121", 2);
  await hears(second, "You lost. Four in a row");
  const lines = await second.evaluate(() => /** @type {any} */ (globalThis).heard.join("|"));
  assert.doesNotMatch(lines, /Your turn\.[^|]*You lost/, "nobody is to move in a game that is over");
  await second.waitForSelector(".ribbon:visible");
  assert.match((await second.innerText(".ribbon")) ?? "", /Rematch/);
  await first.waitForSelector(".ribbon:visible");
  await first.click(".ribbon >> text=Rematch");
  await hears(second, "wants a rematch");
  await second.waitForSelector(".ribbon:visible >> text=wants a rematch");
  assert.equal(await isInSight(second, '.ribbon button:has-text("Play again")'), true, "it is answered at once");
  await second.click(".ribbon-close");
  assert.equal(await isInSight(second, '.offer-bar button:has-text("Play again")'), true, "and still after the result is put away");
  await second.click('.offer-bar button:has-text("Play again")');
  await second.waitForSelector('#game[data-ply="0"]');
});

test("whoever is gone is missed on a phone's screen, and by who cannot see", async () => {
  const [pia, rex] = await Promise.all([1, 2].map(() => browser.visitor(arena.url, LOW_PHONE)));
  const { first, second } = await pair(pia, rex);
  await listen(first);
  await second.context().close();
  await hears(first, "has lost connection");
  assert.equal(await isInSight(first, ".offer-bar.alarm"), true);
});

test("a guest chooses a name on a phone, and friends read it on the invitation and at the board", async () => {
  const [anna, ben] = await Promise.all([1, 2].map(() => browser.visitor(arena.url, PHONE)));
  await toLobby(anna);
  assert.match((await anna.textContent("#guest-name summary")) ?? "", /You play as guest-\w{6}\./);
  await anna.tap("#guest-name summary");
  await anna.fill("#guest-name-field", "admin");
  await anna.tap("#guest-name button");
  await anna.waitForSelector("#guest-name .problem:not(:empty)");
  await anna.fill("#guest-name-field", "Anna");
  await Promise.all([anna.waitForEvent("load"), anna.tap("#guest-name button")]);
  await anna.waitForSelector('html[data-connection="open"]');
  assert.match((await anna.textContent("#guest-name summary")) ?? "", /You play as Anna\./);
  await anna.tap("#make-link");
  await anna.tap("#send-invite");
  const url = await anna.inputValue("#invite-url");
  assert.equal(await anna.isHidden("#guest-name"), true, "whoever waits keeps the name that others see");
  await ben.goto(url);
  await ben.waitForSelector('html[data-connection="open"]');
  assert.equal(await ben.textContent("h1"), "Anna invites you to a game");
  await ben.tap("[data-accept]");
  await Promise.all([atGame(anna), atGame(ben)]);
  assert.equal(await ben.textContent('[data-seat="top"] .name'), "Anna");
  assert.equal(await ben.textContent('[data-seat="top"] .badge.guest'), "guest");
  await browser.endOfTest(/status of 422/);
});

test("an invitation's link begins a game, which can be resigned and played again", async () => {
  const [fay, gus] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  await toLobby(fay);
  const url = await inviteByLink(fay);
  await gus.goto(url);
  await gus.waitForSelector('html[data-connection="open"]');
  await gus.click("[data-accept]");
  const [id] = await Promise.all([atGame(fay), atGame(gus)]);
  await fay.waitForSelector('#game:not([data-you=""])');
  const side = await fay.getAttribute("#game", "data-you");
  const pages = side === "first" ? { first: fay, second: gus } : { first: gus, second: fay };
  await playMoves(pages, "44");
  await fay.click("text=Resign");
  await fay.click("text=Really resign?");
  await gus.waitForSelector('#game[data-status="over"]');
  assert.equal(await headline(gus), "You won");
  await gus.click(".actions >> text=Rematch");
  await fay.click(".offers >> text=Play again");
  await Promise.all([fay, gus].map((page) => page.waitForURL((now) => /\/game\//.test(now.href) && !now.href.endsWith(id))));
  await fay.waitForSelector('#game:not([data-you=""])');
  assert.notEqual(await fay.getAttribute("#game", "data-you"), side, "a rematch swaps the sides");
});

test("a challenge from a player's page is shown to that player and accepted", async () => {
  const [nia, otto] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  await signUp(nia, "Nia");
  await signUp(otto, "Otto");
  await toLobby(otto);
  await nia.goto("/player/Otto");
  await nia.click(".player-head button");
  await nia.click("#send-invite");
  await nia.waitForSelector("#toasts >> text=Waiting for Otto");
  await otto.click("#toasts >> text=Decline");
  await nia.waitForSelector("#toasts >> text=Declined");
  await nia.click(".player-head button");
  await nia.click("#send-invite");
  await otto.click("#toasts >> text=Accept");
  const ids = await Promise.all([atGame(nia), atGame(otto)]);
  assert.equal(ids[0], ids[1]);
});

test("a move is taken back when the other side allows it", async () => {
  const [hal, ida] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  const pages = await pair(hal, ida);
  await playMoves(pages, "44");
  await pages.second.click("text=Take back");
  await pages.first.click("text=Allow");
  await Promise.all([pages.first, pages.second].map((page) => page.waitForSelector('#game[data-ply="1"]')));
  await playMoves(pages, "5", 1);
  assert.equal(await ply(pages.first), 2);
});

test("whoever asks for a move back is told that the other side refuses", async () => {
  const [hal, ida] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  const pages = await pair(hal, ida);
  await playMoves(pages, "44");
  await pages.second.click("text=Take back");
  await pages.second.waitForSelector(".offer-bar >> text=You asked");
  await pages.first.click("text=Refuse");
  await pages.second.waitForSelector(".offer-bar >> text=did not let you take your move back");
  assert.equal(await pages.second.locator(".offer-bar").count(), 1, "what was asked is answered");
  await playMoves(pages, "5", 2);
  await pages.second.waitForSelector(".offer-bar", { state: "detached" });
});

test("whoever waits is seen on a phone's first screen, and nothing that is pressed moves", async () => {
  const [una, vic] = await Promise.all([browser.visitor(arena.url), browser.visitor(arena.url, PHONE)]);
  await toLobby(una);
  await toLobby(vic);
  const before = await vic.locator("#play-now").boundingBox();
  assert.equal(await vic.isVisible("#nobody-waits"), true);
  const first = () => vic.locator("#quick .primary").getAttribute("id");
  assert.equal(await first(), "play-next", "alone one plays a bot");
  await una.click("#play-now");
  const join = vic.locator("#seeks button");
  await join.waitFor();
  const box = await join.boundingBox();
  const tabs = await vic.locator(".tabs").boundingBox();
  assert.ok(box && tabs && box.y + box.height <= tabs.y, `the button ends at ${box && box.y + box.height}, above ${tabs?.y}`);
  assert.deepEqual(await vic.locator("#play-now").boundingBox(), before);
  assert.equal(await first(), "play-now", "somebody waits");
  await join.click();
  assert.equal(await atGame(vic), await atGame(una));
});

test("who joins somebody that waits plays on the board that was chosen", async () => {
  const [wim, xia] = await Promise.all([browser.visitor(arena.url), browser.visitor(arena.url)]);
  await toLobby(wim);
  await toLobby(xia);
  await wim.selectOption('#quick select[name="board"]', "9x6x5");
  await wim.click("#play-now");
  await xia.waitForSelector("#seeks >> text=3 min + 2 s · 9 × 6, 5 in a row · Casual");
  await xia.click("#seeks button");
  assert.equal(await atGame(xia), await atGame(wim));
  assert.equal(await xia.locator("ff-board th[scope=col]").count(), 9);
});

test("a reaction appears at the other side", async () => {
  const [jim, kim] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  await pair(jim, kim);
  await jim.click(".reactions button >> nth=0");
  await kim.waitForFunction(() => /👍/.test(document.querySelector("#announcer")?.textContent ?? ""));
});

test("a second tab shows the same game and its moves", async () => {
  const [lea, max] = await Promise.all([1, 2].map(() => browser.visitor(arena.url)));
  const pages = await pair(lea, max);
  const tab = await pages.first.context().newPage();
  await tab.goto(`/game/${gameId(pages.first)}`);
  await tab.waitForSelector('#game[data-turn="yours"]');
  await tab.keyboard.press("3");
  await Promise.all([pages.first, pages.second, tab].map((page) => reached(page, 1)));
});

test("nobody comes, so a house bot is offered and can be played", async () => {
  const page = await browser.visitor(arena.url);
  await toLobby(page);
  await page.click("#play-now");
  await page.click("#bot-offer .primary");
  await atGame(page);
  assert.match((await page.textContent('[data-seat="top"]')) ?? "", /bot/);
});
