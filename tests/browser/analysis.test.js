// Values: the analysis board, the review of a finished game, and what watchers see of a live one. By mouse, by keys, on a
// phone, in both colours, without script, and with everything that one may type wrong.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { atGame, clickColumn, gameId, myTurn, ply, playOut, reached, signUp, startBotGame } from "./support/game.js";
import { LOOKS, assertGood } from "./support/good.js";
import { pair, playMoves } from "./support/people.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of (400|404)/));

/** @param {number} n */
const visitors = (n) => Promise.all(Array.from({ length: n }, () => browser.visitor(arena.url)));

/**
 * @param {Page} page
 * @param {string} path
 */
async function open(page, path) {
  await page.goto(path);
  await valued(page);
}

/** @param {Page} page waits for the values of the position on show */
async function valued(page) {
  await page.waitForSelector('#analysis[data-values="there"]');
}

/**
 * Waits until so many stones are shown, with their values.
 * @param {Page} page
 * @param {number} stones
 */
async function shows(page, stones) {
  await page.waitForSelector(`#analysis[data-ply="${stones}"][data-values="there"]`);
}

/** @param {Page} page */
const verdict = (page) => page.textContent(".verdict-text");

/** @param {Page} page what is said of each column */
const values = (page) => page.$$eval(".values .value .visually-hidden", (labels) => labels.map((label) => label.textContent));

/** @param {Page} page */
const arrows = (page) => page.locator("ff-board .hints path").count();

test("both sides are moved by mouse, and each column says what it is worth", async () => {
  const [page] = await visitors(1);
  await open(page, "/analysis");
  assert.equal(await verdict(page), "Coral wins in 21");
  const start = await values(page);
  assert.equal(start.length, 7);
  assert.equal(start[3], "Column 4: Coral wins in 21");
  assert.equal(start[2], "Column 3: A draw with best play");
  assert.equal(await arrows(page), 1);
  await clickColumn(page, 3);
  await shows(page, 1);
  assert.equal(await verdict(page), "A draw with best play");
  assert.equal(new URL(page.url()).pathname, "/analysis/3");
  await clickColumn(page, 3);
  await shows(page, 2);
  assert.equal(new URL(page.url()).pathname, "/analysis/33");
  await page.click('.explorer a[data-column="4"]');
  await shows(page, 3);
  assert.equal(new URL(page.url()).pathname, "/analysis/334");
  await page.reload();
  await shows(page, 3);
  assert.equal(await page.locator("ff-board .stones > g").count(), 3, "the address is the position");
});

test("keys move, take back and play again, and a new move takes the place of what was taken back", async () => {
  const [page] = await visitors(1);
  await open(page, "/analysis");
  for (const key of ["4", "4", "3"]) await page.keyboard.press(key);
  await shows(page, 3);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await shows(page, 1);
  await page.keyboard.press("ArrowRight");
  await shows(page, 2);
  await page.keyboard.press("End");
  await shows(page, 3);
  assert.equal(new URL(page.url()).pathname, "/analysis/443");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("7");
  await shows(page, 3);
  assert.equal(new URL(page.url()).pathname, "/analysis/447");
  await page.keyboard.press("Home");
  await shows(page, 0);
  // On the board itself, arrows choose a column.
  await page.focus('.columns button[tabindex="0"]');
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await shows(page, 1);
  assert.equal(new URL(page.url()).pathname, "/analysis/5");
});

test("every line that was tried stays in the list of moves, and one goes back to it", async () => {
  const [page] = await visitors(1);
  await open(page, "/analysis");
  assert.equal(await page.isVisible("#no-branches"), true);
  for (const key of "443") await page.keyboard.press(key);
  await shows(page, 3);
  await page.keyboard.press("ArrowLeft");
  for (const key of "71") await page.keyboard.press(key);
  await shows(page, 4);
  const told = () => page.$$eval("#branches .shown", (moves) => moves.map((move) => move.textContent));
  assert.deepEqual(await told(), ["1.4", "2.4", "3.3", "3.7", "4.1"]);
  assert.equal(await page.locator("#branches .aside button").count(), 2, "the second line stands where it left the first");
  assert.equal(await page.textContent("#branches [aria-current] .shown"), "4.1");
  assert.equal(await page.textContent("#branches [aria-current] .visually-hidden"), "Move 4, Gold: column 1");

  await page.click('#branches button:has-text("3.3")');
  await shows(page, 3);
  assert.equal(new URL(page.url()).pathname, "/analysis/443");
  await page.click('#branches button:has-text("3.7")');
  await shows(page, 3);
  await page.keyboard.press("End");
  await shows(page, 4);
  assert.equal(new URL(page.url()).pathname, "/analysis/4471", "the line goes on as it did");
  await page.reload();
  await shows(page, 4);
  assert.equal((await told()).length, 5, "nothing is lost with a reload");
  await page.click("#mirror");
  assert.deepEqual(await told(), ["1.4", "2.4", "3.5", "3.1", "4.7"]);
  await page.click("#empty");
  assert.deepEqual(await told(), []);
});

test("values can be hidden, and stay hidden", async () => {
  const [page] = await visitors(1);
  await open(page, "/analysis/44");
  await page.keyboard.press("h");
  assert.equal(await page.isVisible(".values"), false);
  assert.equal(await arrows(page), 0);
  assert.equal(await verdict(page), "Coral to move");
  await page.reload();
  await valued(page);
  assert.equal(await page.isVisible(".values"), false);
  await page.click("label:has(#hints)");
  assert.equal(await page.isVisible(".values"), true);
  assert.equal(await arrows(page), 1);
});

test("a position is mirrored, its colours are swapped, and a line is won", async () => {
  const [page] = await visitors(1);
  await open(page, "/analysis/112");
  await page.click("#mirror");
  assert.equal(new URL(page.url()).pathname, "/analysis/776");
  const coral = () => page.locator("ff-board .stones .stone.first").count();
  assert.equal(await coral(), 2);
  await page.click("#swap-colors");
  assert.equal(await coral(), 1);
  assert.match((await page.textContent(".verdict-detail")) ?? "", /^Coral to move$/);
  await page.click("#swap-colors");
  await page.click("#empty");
  for (const key of "1212121") await page.keyboard.press(key);
  await shows(page, 7);
  assert.equal(await verdict(page), "Coral has won");
  assert.equal(await page.locator("ff-board .stone.in-line").count(), 4);
  await page.keyboard.press("5");
  assert.equal(await page.getAttribute("#analysis", "data-ply"), "7", "nothing is played after the end");
});

test("other boards are shown, typed moves and links are read, and what is wrong is said", async () => {
  const [page] = await visitors(1);
  await open(page, "/analysis");
  await page.fill("#import-moves", "1 2 3");
  await page.selectOption("#import-board", "5x4");
  await page.click("#import button[type=submit]");
  await shows(page, 3);
  assert.match(page.url(), /\/analysis\/123\?variant=5x4$/);
  assert.equal((await values(page)).length, 5);
  await page.keyboard.press("4");
  await shows(page, 4);
  assert.match(page.url(), /\/analysis\/1234\?variant=5x4$/);

  await page.fill("#import-moves", "4448");
  await page.selectOption("#import-board", "7x6");
  await page.click("#import button[type=submit]");
  await page.waitForSelector("[role=alert]");
  assert.match((await page.textContent("[role=alert]")) ?? "", /Move 4: this board has no column 8/);
  assert.equal(await page.locator("ff-board .stones > g").count(), 3);

  await page.goto("/p/44?variant=9x6x5");
  await page.waitForURL(/\/analysis\/44\?variant=9x6x5$/);
  assert.match((await verdict(page)) ?? "", /^Too hard to solve here/);
  assert.equal(await page.inputValue("#import-board"), "9x6x5", "the form keeps the board");
});

test("a busy solver is asked again, visibly", async () => {
  const [page] = await visitors(1);
  let refusals = 0;
  await page.route("**/api/v1/positions/447*", (route) => {
    refusals += 1;
    if (refusals > 3) return route.continue();
    return route.fulfill({ status: 503, contentType: "application/json", body: '{"code":"busy","message":"busy","retry_ms":300}' });
  });
  await open(page, "/analysis/44");
  await page.keyboard.press("7");
  await page.waitForFunction(() => /busy/.test(document.querySelector(".verdict-text")?.textContent ?? ""));
  await shows(page, 3);
  assert.ok(refusals > 3);
});

test("a game begins from the position against a bot of the house", async () => {
  const [page] = await visitors(1);
  await open(page, "/analysis/4453");
  const opponents = await page.$$eval("#opponent option", (options) => options.map((option) => option.textContent));
  assert.match(opponents[2] ?? "", /^Level 3 · /, String(opponents));
  await page.selectOption("#opponent", "greedy");
  await page.check('#play-on input[value="second"]');
  await page.waitForSelector('html[data-connection="open"]');
  await page.click("#play-on button[type=submit]");
  await atGame(page);
  await reached(page, 5);
  assert.equal(await page.getAttribute("#game", "data-you"), "second");
  assert.equal(await myTurn(page), true);
  assert.ok((await ply(page)) >= 5);
});

test("a finished game is reviewed: the graph, the turning point, arrows, and another try", async () => {
  const [page] = await visitors(1);
  await startBotGame(page);
  await playOut(page, clickColumn);
  const last = await ply(page);
  assert.deepEqual(await page.locator("#game ff-board .stones title").allTextContents(), Array.from({ length: last }, (_, index) => String(index + 1)));
  const graph = page.locator(".graph");
  await graph.waitFor();
  assert.equal(await graph.getAttribute("aria-valuenow"), String(last));
  assert.match((await page.textContent(".review-verdict")) ?? "", new RegExp(`^Move ${last}: (Coral|Gold) has won\\.$`), "the last move speaks for itself");
  await graph.focus();
  await page.keyboard.press("Home");
  assert.equal(await page.locator("ff-board .stones > g").count(), 0);
  assert.equal(await graph.getAttribute("aria-valuetext"), "After move 0: Coral wins in 21");
  assert.equal(await arrows(page), 1, "the best column is the middle");
  await page.keyboard.press("ArrowRight");
  assert.equal(await page.locator("ff-board .stones > g").count(), 1);
  assert.match((await page.textContent(".review-verdict")) ?? "", /^Move 1: Coral wins in 21 before, .* after\. Best: 4\.$/);
  assert.equal(await page.locator(".review table tbody tr").count(), last, "the graph is there as a table");

  // First what happened, in words; somebody who plays the leftmost column only has given something away.
  assert.match((await page.textContent(".review-story")) ?? "", /move \d+.*column \d/);

  // Heading, board and sentence speak of one move, by the number that the list has too.
  const [, named] = /move (\d+)/.exec((await page.textContent(".review-turning")) ?? "") ?? [];
  await page.click(".review-turning");
  const turned = await page.locator("ff-board .stones > g").count();
  assert.equal(turned, Number(named));
  assert.match((await page.textContent(".review-verdict")) ?? "", new RegExp(`^Move ${turned}:`));
  const numbers = await page.locator(".moves .nr").allTextContents();
  assert.deepEqual(numbers.slice(0, 3), ["1.", "3.", "5."]);
  const analyse = await page.getAttribute(".review-analyse", "href");
  assert.match(analyse ?? "", new RegExp(`^/analysis/(\\d{${turned}}|-)$`));
  const id = gameId(page);
  await page.click(".review-again");
  await page.waitForURL((url) => url.pathname.startsWith("/game/") && !url.pathname.endsWith(id));
  await atGame(page);
  assert.ok((await ply(page)) >= turned - 1, "one tries again from before the mistake");
  assert.match((await page.textContent('[data-seat="top"]')) ?? "", /Oracle/);
});

test("watchers of a casual game see what is certain, players do not", async () => {
  const [ana, bob, eve] = await visitors(3);
  const pages = await pair(ana, bob);
  await eve.goto(`/game/${pages.id}`);
  await eve.waitForSelector('.truth-bar[data-ply="0"]');
  assert.match((await eve.textContent(".truth-words")) ?? "", /Coral wins in 21/);
  await playMoves(pages, "3");
  await eve.waitForSelector('.truth-bar[data-ply="1"]:not(.old)');
  assert.match((await eve.textContent(".truth-words")) ?? "", /A draw/);
  assert.match((await eve.textContent(".truth-note")) ?? "", /◆ Coral: win to draw/);
  await playMoves(pages, "3", 1);
  for (const player of [ana, bob]) assert.equal(await player.isVisible(".truth-bar"), false);
  await pages.second.click("text=Resign");
  await pages.second.click("text=Really resign?");
  await eve.waitForSelector('#game[data-status="over"]');
  assert.equal(await eve.isVisible(".truth-bar"), false);
  // Its module is fetched once the game is over.
  await eve.waitForSelector(".review");
});

test("nobody sees it in a rated game between people", async () => {
  const [ana, bob, eve] = await visitors(3);
  await signUp(ana, "truth-ana");
  await signUp(bob, "truth-bob");
  const pages = await pair(ana, bob);
  /** @type {string[]} */
  const heard = [];
  eve.on("websocket", (socket) => socket.on("framereceived", ({ payload }) => heard.push(String(payload))));
  await eve.goto(`/game/${pages.id}`);
  await playMoves(pages, "34");
  await reached(eve, 2);
  await pages.first.click("text=Resign");
  await pages.first.click("text=Really resign?");
  await eve.waitForSelector('#game[data-status="over"]');
  assert.ok(heard.some((frame) => frame.includes('"type":"moved"')));
  assert.ok(!heard.some((frame) => frame.includes('"type":"truth"')));
});

test("a position reads without script, and links lead on", async () => {
  const page = await browser.visitor(arena.url, { javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
  await page.goto("/analysis/44");
  assert.match((await verdict(page)) ?? "", /^Coral wins in 20$/);
  assert.equal((await values(page)).length, 7);
  await page.click('.explorer a[data-column="4"]');
  assert.match(page.url(), /\/analysis\/444$/);
  await page.click("#line-previous");
  assert.match(page.url(), /\/analysis\/44$/);
  await page.fill("#import-moves", "123");
  await page.click("#import button[type=submit]");
  assert.match(page.url(), /\/analysis\/123/);
});

for (const { size, viewport, rules } of LOOKS) {
  test(`every view is good, ${size}`, async () => {
    const page = await browser.visitor(arena.url, { ...viewport, reducedMotion: "reduce" });
    for (const path of ["/analysis", "/analysis/4453", "/analysis/448", "/analysis/12?variant=9x6x5", "/analysis/1212121"]) {
      await open(page, path);
      await assertGood(page, path, rules);
    }
    await startBotGame(page);
    await playOut(page, clickColumn);
    await page.waitForSelector(".graph");
    await page.keyboard.press("ArrowLeft");
    await assertGood(page, "the review", rules);
  });
}

test("on a phone the board is played by touch and its values are on the first screen", async () => {
  const page = await browser.visitor(arena.url, PHONE);
  await open(page, "/analysis");
  await page.tap('.columns button[data-column="4"]');
  await shows(page, 1);
  const box = await page.locator(".values").boundingBox();
  assert.ok(box && box.y + box.height < 844 - 58, "the values are above the tab bar");
});
