// What a game's page has beside the moves: planning the next one, sound, sharing, the frame for other pages.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { clickColumn, gameId, myTurn, playOut, reached, startBotGame } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { pair, playMoves } from "./support/people.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** @param {number} n */
const visitors = (n) => Promise.all(Array.from({ length: n }, () => browser.visitor(arena.url)));

test("a move planned ahead is played as soon as it is one's turn", async () => {
  const [ana, bob] = await visitors(2);
  const pages = await pair(ana, bob);
  await pages.second.keyboard.press("5");
  await pages.second.waitForSelector(".ghost-landing.planned .stone.second");
  await playMoves(pages, "4");
  await Promise.all([pages.first, pages.second].map((page) => reached(page, 2)));
  const label = await pages.first.getAttribute(".moves button >> nth=1", "aria-label");
  assert.match(label ?? "", /column 5$/);
});

test("a planned move is called off by Escape, or replaced by another", async () => {
  const [ana, bob] = await visitors(2);
  const pages = await pair(ana, bob);
  await pages.second.keyboard.press("5");
  await pages.second.waitForSelector(".ghost-landing.planned .stone");
  await pages.second.keyboard.press("Escape");
  await pages.second.waitForSelector(".ghost-landing.planned .stone", { state: "detached" });
  await playMoves(pages, "4");
  assert.equal(await myTurn(pages.second), true);
  assert.equal(await pages.second.getAttribute("#game", "data-ply"), "1", "nothing was played");
});

test("a planned move into a column that has filled up is forgotten", async () => {
  const [ana, bob] = await visitors(2);
  const pages = await pair(ana, bob);
  await playMoves(pages, "11111");
  const { first, second } = pages;
  // It is second's turn; first plans column 1, which second fills.
  // Not so soon after the last move that it would be a double click.
  await first.waitForFunction((since) => performance.now() > since + 450, await first.evaluate(() => performance.now()));
  await first.keyboard.press("1");
  await first.waitForSelector(".ghost-landing.planned .stone.first");
  await second.keyboard.press("1");
  await reached(first, 6);
  assert.equal(await myTurn(first), true);
  assert.equal(await first.getAttribute("#game", "data-ply"), "6");
});

test("sound can be turned off, and stays off", async () => {
  const [page] = await visitors(1);
  await startBotGame(page);
  await page.click("#sound");
  assert.equal(await page.getAttribute("#sound", "aria-label"), "Sound on");
  await page.reload();
  await page.waitForSelector("#sound:not([hidden])");
  assert.equal(await page.getAttribute("#sound", "aria-label"), "Sound on");
});

test("a disc is heard from where it fell, and as the settings say", async () => {
  const [page] = await visitors(1);
  // Browsers of tests have no sound: what would be played is written down.
  await page.addInitScript(() => {
    const heard = /** @type {{ shape: string, pan: number }[]} */ ([]);
    const value = () => ({ setValueAtTime() {}, linearRampToValueAtTime() {}, exponentialRampToValueAtTime() {} });
    class Part {
      frequency = value();
      gain = value();
      /** @param {any} _ @param {any} how */
      constructor(_, how) {
        this.how = how;
      }
      /** @param {any} next */
      connect(next) {
        if (this.how?.type) this.shape = this.how.type;
        if (this.shape) next.shape = this.shape;
        if (this.how?.pan !== undefined) heard.push({ shape: String(this.shape), pan: this.how.pan });
        return next;
      }
      start() {}
      stop() {}
    }
    const [OscillatorNode, GainNode, StereoPannerNode] = [Part, Part, Part];
    Object.assign(globalThis, { heard, OscillatorNode, GainNode, StereoPannerNode });
    Object.assign(globalThis, { AudioContext: class { state = "running"; currentTime = 0; destination = {}; } });
  });
  const heard = () => page.evaluate("heard.splice(0)");
  await page.goto("/settings");
  for (const [pack, shape] of [["glass", "sine"], ["wood", "triangle"], ["arcade", "square"]]) {
    await page.check(`input[name="sounds"][value="${pack}"]`);
    assert.equal((await heard())[0].shape, shape, pack);
  }
  await page.goto("/analysis");
  for (const key of ["1", "7"]) await page.keyboard.press(key);
  await page.waitForSelector('#analysis[data-ply="2"]');
  const [left, , right] = await heard();
  assert.equal(left.shape, "square", "what was chosen is kept");
  assert.ok(left.pan < -0.4 && right.pan > 0.4, `${left.pan} and ${right.pan}`);
});

test("a finished game is shared by link, frame and picture, and the frame shows it elsewhere", async () => {
  const [page] = await visitors(1);
  await startBotGame(page);
  await playOut(page, clickColumn);
  const id = gameId(page);
  await page.click(".actions >> text=Share");
  assert.equal(await page.inputValue("#share-link"), `${arena.url}/game/${id}`);
  const frame = await page.inputValue("#share-frame");
  const still = await page.request.get(await page.inputValue("#share-still"));
  assert.equal(still.headers()["content-type"], "image/png");
  const picture = await page.request.get(await page.inputValue("#share-picture"));
  assert.match(picture.headers()["content-type"], /^image\/svg\+xml/);
  const moving = await page.request.get(await page.inputValue("#share-moving"));
  assert.equal(moving.headers()["content-type"], "image/gif");
  const drawn = await page.evaluate(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  }, await page.inputValue("#share-moving"));
  assert.deepEqual(drawn, [480, 416], "browsers read it");
  const told = await page.inputValue("#share-told");
  assert.match(told, /(wins|Draw)[^]*\n([🔴🟡⚪]{7}\n){6}http/u);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog.share", { state: "detached" });

  const other = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end(`<!doctype html><link rel="icon" href="data:,"><title>x</title>${frame}`));
  await new Promise((listening) => other.listen(0, "127.0.0.1", () => listening(null)));
  const address = /** @type {import("node:net").AddressInfo} */ (other.address());
  await page.goto(`http://127.0.0.1:${address.port}/`);
  const board = page.frameLocator("iframe").locator(".watched");
  await board.locator(".stone.in-line").first().waitFor();
  assert.match((await board.locator(".watched-foot a").textContent()) ?? "", /wins|draw/);
  const grounds = await page.frameLocator("iframe").locator("html, body").evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  assert.deepEqual(grounds, ["rgba(0, 0, 0, 0)", "rgba(0, 0, 0, 0)"], "the page around the frame shows through");
  other.close();
});

test("no other page may be framed", async () => {
  const [page] = await visitors(1);
  for (const path of ["/", "/account", "/tv", "/offline"]) {
    const headers = (await page.request.get(path)).headers();
    assert.match(headers["content-security-policy"], /frame-ancestors 'none'/, path);
    assert.equal(headers["x-frame-options"], "DENY", path);
  }
});

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`a finished game plays itself from the start, and stops where one looks (${name})`, async () => {
    const [ana, bob] = await Promise.all([browser.visitor(arena.url, form), browser.visitor(arena.url, form)]);
    const pages = await pair(ana, bob);
    await playMoves(pages, "4545454");
    const page = pages.first;
    await page.waitForSelector("#replay:not([hidden])");
    const stones = () => page.locator("#game ff-board .stones > g").count();
    await page.selectOption("#replay-pace", "400");
    await page.click("#replay-play");
    await page.waitForFunction(() => document.querySelectorAll("#game ff-board .stones > g").length === 1);
    await page.waitForSelector('#replay-play[aria-pressed="true"] >> text=Pause');
    await page.waitForSelector("#replay-time >> text=/\\d s/");
    await page.waitForFunction(() => document.querySelectorAll("#game ff-board .stones > g").length === 7);
    await page.waitForSelector('#replay-play[aria-pressed="false"]');
    await page.click("#replay-play");
    await page.waitForFunction(() => document.querySelectorAll("#game ff-board .stones > g").length === 2);
    await page.click("#scrub-first");
    await page.waitForSelector('#replay-play[aria-pressed="false"]');
    assert.equal(await stones(), 0);
    await assertGood(page, "a replay");
  });
}
