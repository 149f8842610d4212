// One person against a house bot: by mouse, by keys, by touch, and through a crash of the arena.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, PHONE } from "./support/browser.js";
import { clickColumn, headline, myTurn, openColumns, playOut, ply, reached, startBotGame } from "./support/game.js";

const arena = new Arena();
const browser = new Browser();
/** What a page may complain of while the arena is down. */
const WHILE_DOWN = /WebSocket connection|ERR_CONNECTION_RE(FUSED|SET)|ERR_EMPTY_RESPONSE/;

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(WHILE_DOWN));

/** @param {import("playwright-core").Page} page */
async function assertOver(page) {
  assert.equal(await page.getAttribute("#game", "data-status"), "over");
  const text = await headline(page);
  assert.match(text ?? "", /^(You won|You lost|A draw)$/);
  const marked = await page.locator(".stone.in-line").count();
  assert.ok(text === "A draw" ? marked === 0 : marked >= 4, `${marked} stones are marked after: ${text}`);
}

test("a person plays a house bot by mouse to the end", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  await playOut(page, clickColumn);
  await assertOver(page);
  await page.waitForFunction(() => /won|lost|draw/i.test(document.querySelector("#announcer")?.textContent ?? ""));
});

test("a person plays a house bot by keys alone", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page, "second");
  assert.equal(await myTurn(page), true);
  // The first move by arrows on the board: the middle column is reached first, one to the right is 5.
  await page.focus('.columns button[tabindex="0"]');
  await page.keyboard.press("ArrowRight");
  const before = await ply(page);
  await page.keyboard.press("Enter");
  await reached(page, before + 1);
  const label = await page.getAttribute(`.moves button:nth-of-type(${before + 1})`, "aria-label");
  assert.match(label ?? "", /column 5$/);
  // The others by digits, wherever the focus is.
  await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
  await playOut(page, async (_, column) => page.keyboard.press(String(column)));
  await assertOver(page);
});

test("a person plays on a phone by touch", async () => {
  const page = await browser.visitor(arena.url, PHONE);
  await startBotGame(page);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} px wider than the phone`);
  const board = await page.locator("ff-board").boundingBox();
  assert.ok(board && board.y + board.height < 844, "the board is on the first screen");
  await playOut(page, async (_, column) => page.tap(`.columns button[data-column="${column}"]`));
  await assertOver(page);
});

test("a finger that slides to another column drops there", async () => {
  const page = await browser.visitor(arena.url, PHONE);
  await startBotGame(page);
  assert.equal(await myTurn(page), true);
  const middle = async (/** @type {number} */ column) => {
    const box = await page.locator(`.columns button[data-column="${column}"]`).boundingBox();
    assert.ok(box);
    return [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
  };
  const touch = await page.context().newCDPSession(page);
  await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: await middle(1) });
  for (const column of [2, 3, 4, 5]) {
    await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: await middle(column) });
  }
  // Between two columns the disc is where the finger is.
  const [five, six] = [(await middle(5))[0], (await middle(6))[0]];
  const finger = { x: five.x + 0.4 * (six.x - five.x), y: five.y };
  await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: [finger] });
  await page.waitForFunction((x) => {
    const disc = document.querySelector(".ghost .stone")?.getBoundingClientRect();
    return disc && Math.abs(disc.x + disc.width / 2 - x) < 2;
  }, finger.x);
  await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await reached(page, 1);
  assert.match((await page.getAttribute(".moves button >> nth=0", "aria-label")) ?? "", /column 5$/);
  await page.reload();
  assert.equal(await myTurn(page), true);
  const last = Number(await page.locator(".moves button").last().textContent());
  const [notch, column] = [await page.locator(".notch").boundingBox(), (await middle(last))[0]];
  assert.ok(notch && Math.abs(notch.x + notch.width / 2 - column.x) < 2, "a notch stands above the last move's column");
});

test("the same column chosen twice in haste is one move", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  assert.equal(await myTurn(page), true);
  await page.keyboard.press("4");
  await page.keyboard.press("4");
  await reached(page, 2);
  assert.equal(await myTurn(page), true);
  const mine = await page.$$eval('.moves button[aria-label*="Coral"]', (buttons) => buttons.length);
  assert.equal(mine, 1);
});

test("one can look back through a finished game", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  await playOut(page, clickColumn);
  const last = await ply(page);
  const stones = () => page.locator("ff-board .stones > g").count();
  assert.equal(await stones(), last);
  await page.click("#scrub-first");
  assert.equal(await stones(), 0);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.equal(await stones(), 2);
  await page.reload();
  await page.waitForSelector('#game[data-status="over"]');
  assert.equal(await stones(), last, "the page shows the game again without the socket's help");
});

test("a game goes on after the arena was killed and started again", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  assert.equal(await myTurn(page), true);
  await page.keyboard.press("1");
  await reached(page, 2);
  assert.equal(await myTurn(page), true);
  const before = await ply(page);
  await arena.crashAndRestart();
  await page.waitForSelector('html[data-connection="open"]');
  assert.equal(await myTurn(page), true);
  assert.equal(await ply(page), before, "no move was lost");
  const [column] = await openColumns(page);
  await page.keyboard.press(String(column));
  await reached(page, before + 1);
  await playOut(page, clickColumn);
  await assertOver(page);
});

test("pages read without script", async () => {
  const page = await browser.visitor(arena.url, { javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
  await page.goto("/");
  assert.match((await page.textContent("main")) ?? "", /Playing needs JavaScript/);
  await page.goto("/leaderboard");
  assert.match((await page.textContent("h1")) ?? "", /Ranking/);
  const games = await browser.visitor(arena.url);
  await games.goto("/");
  const link = await games.getAttribute("#feature-link", "href");
  await page.goto(link ?? "/");
  assert.ok((await page.locator("ff-board svg").count()) >= 1);
});
