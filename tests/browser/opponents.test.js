// Opponents of the house as one meets them: chosen by level, at the pace of people, without a clock, giving moves back.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { atGame, myTurn, openColumns, playOut, ply, reached } from "./support/game.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(async () => {
  await arena.start();
  await browser.start();
});
afterEach(() => browser.endOfTest());
after(async () => {
  await browser.stop();
  await arena.stop();
});

/**
 * Opens the dialog, chooses and starts, in two presses beside the choice.
 * @param {Page} page
 * @param {string} [bot]
 */
async function begin(page, bot = "random") {
  await page.goto("/");
  await page.waitForSelector('html[data-connection="open"]');
  await page.click("#choose-bot");
  await page.check(`#bot-dialog input[value="${bot}"]`);
  await page.check('#bot-dialog input[value="first"]');
  await page.click("#start-bot");
  return atGame(page);
}

test("eight levels with a face each stand in their order, whatever was played", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.click("#choose-bot");
  const programs = await page.$$eval('#bot-dialog .rival:not([hidden]) input[name="bot"]', (inputs) => inputs.map((input) => input.getAttribute("value")));
  assert.deepEqual(programs, ["random", "stupid", "montecarlo-50", "greedy", "perfect-4", "negamax-8", "mcts", "perfect"]);
  const faces = await page.$$eval("#bot-dialog .face", (all) => new Set(all.map((face) => face.outerHTML)).size);
  assert.equal(faces, 8);
  await page.check('#bot-dialog input[value="perfect"]');
  assert.match((await page.textContent("#bot-says")) ?? "", /how this ends/);
});

test("a friendly game has no clock, a name, a move back and a hint", async () => {
  const page = await browser.visitor(arena.url);
  await begin(page, "greedy");
  assert.equal(await myTurn(page), true);
  assert.match((await page.textContent(".terms")) ?? "", /No clock/);
  assert.equal(await page.locator("ff-clock:visible").count(), 0);
  const [, id] = page.url().split("/game/");
  const watcher = await browser.visitor(arena.url);
  for (const path of ["/wall", `/embed/${id}`]) {
    await watcher.goto(path);
    await watcher.waitForSelector(`.watched[data-game="${id}"][data-ply]`);
    assert.match((await watcher.textContent(".watched-foot")) ?? "", /No clock/, path);
    assert.equal(await watcher.locator(`[data-game="${id}"] ff-clock:visible`).count(), 0, path);
  }
  const plain = await browser.visitor(arena.url, { javaScriptEnabled: false });
  for (const path of [`/game/${id}`, `/embed/${id}`, "/wall"]) {
    await plain.goto(path);
    assert.equal(await plain.locator(`[data-game="${id}"] ff-clock:visible`).count(), 0, `${path} without script`);
  }
  assert.match((await page.textContent('[data-seat="top"] .name')) ?? "", /Grabby/);
  assert.match((await page.textContent("#speech")) ?? "", /take four/);
  await page.keyboard.press("4");
  await reached(page, 2);
  assert.equal(await myTurn(page), true);
  await page.click(".actions >> text=Take back");
  await page.waitForSelector('#game[data-ply="0"][data-turn="yours"]');
  await page.click(".actions >> text=Hint");
  await page.waitForSelector(".hints .hint");
  await page.keyboard.press("1");
  await reached(page, 1);
  assert.equal(await page.locator(".hints .hint").count(), 0, "a hint is for one position");
});

test("a face is worried by a line of three, and glad of its own, but not in rated games", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.evaluate(() => localStorage.setItem("settings", JSON.stringify({ pace: "human" })));
  await begin(page, "stupid");
  assert.equal(await myTurn(page), true);
  const mood = '[data-seat="top"][data-mood';
  // It fills the leftmost column, whatever happens.
  for (const [column, ply] of [["4", 2], ["5", 4]]) {
    await page.keyboard.press(String(column));
    await reached(page, Number(ply));
    await page.waitForSelector(`${mood}="calm"]`);
  }
  await page.keyboard.press("6");
  await page.waitForSelector(`${mood}="sad"]`);
  await reached(page, 6);
  await page.waitForSelector(`${mood}="happy"]`);
});

test("a bot of the house answers at the pace of people, unless it is asked not to", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.evaluate(() => localStorage.setItem("settings", JSON.stringify({ pace: "human" })));
  await begin(page, "random");
  assert.equal(await myTurn(page), true);
  const waited = await page.evaluate(async () => {
    const game = /** @type {HTMLElement} */ (document.querySelector("#game"));
    const until = (/** @type {number} */ ply) =>
      new Promise((resolve) => {
        const look = () => (Number(game.dataset.ply) >= ply ? resolve(performance.now()) : setTimeout(look, 5));
        look();
      });
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "4" }));
    const mine = Number(await until(1));
    return Number(await until(2)) - mine;
  });
  // The disc falls six cells in 564 ms; then a breath, and a thought of 300 ms at least.
  assert.ok(waited > 900, `it answered after ${waited} ms`);
});

test("a bot's answer does not take the question back whether one really resigns, nor the keyboard from it", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.evaluate(() => localStorage.setItem("settings", JSON.stringify({ pace: "human" })));
  await begin(page, "random");
  assert.equal(await myTurn(page), true);
  await page.keyboard.press("4");
  await reached(page, 2);
  await page.keyboard.press("4");
  await reached(page, 3);
  const resign = page.locator(".actions button", { hasText: "Resign" });
  await resign.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector(".actions >> text=Really resign?");
  assert.equal(await ply(page), 3, "the bot has not answered before the question");
  await reached(page, 4);
  await page.waitForSelector(".actions >> text=Hint");
  assert.equal(await page.isVisible(".actions >> text=Really resign?"), true);
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Really resign?");
  await page.keyboard.press("Enter");
  await page.waitForSelector('#game[data-status="over"]');
  assert.match((await page.textContent(".status-text")) ?? "", /You lost/);
});

test("whoever wins is told so over the board, and the opponent says something", async () => {
  const low = { ...PHONE, viewport: { width: 375, height: 700 } };
  const sideways = { ...PHONE, viewport: { width: 667, height: 375 } };
  for (const options of [DESKTOP, PHONE, low, sideways]) {
    const page = await browser.visitor(arena.url, options);
    await begin(page, "stupid");
    // The opponent fills the columns from the left: four upright on the right win.
    while (await myTurn(page)) {
      // Counted while nobody but the page is to move: an answer that comes in between would stand for its own disc.
      const before = await ply(page);
      await page.keyboard.press((await openColumns(page)).includes(7) ? "7" : "6");
      await reached(page, before + 1);
    }
    await page.waitForSelector(".ribbon:visible");
    assert.match((await page.textContent(".ribbon")) ?? "", /You w[io]n.*right side/s);
    const box = await page.locator(".ribbon").boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= (page.viewportSize()?.width ?? 0), "it fits");
    await page.waitForFunction(() => document.querySelector(".ribbon")?.getAnimations().length === 0);
    for (const disc of await page.locator(".stone.in-line").all()) {
      const { x = 0, y = 0, width = 0, height = 0 } = (await disc.boundingBox()) ?? {};
      const lies = await page.locator(".ribbon").boundingBox();
      const isFree = lies && (y + height / 2 < lies.y || y + height / 2 > lies.y + lies.height || x + width / 2 < lies.x || x + width / 2 > lies.x + lies.width);
      assert.ok(isFree, "the line that was won is to be seen");
    }
    assert.equal(await page.getAttribute(".ribbon-close", "aria-label"), "Close this message");
    await page.mouse.click(box.x + 20, box.y - 20);
    await page.waitForSelector(".ribbon", { state: "hidden" });
    await page.goto("/");
    assert.equal(await page.locator('[data-beaten="stupid"]:visible').count(), 1, "a star stands for it");
    await page.context().close();
  }
});

test("whoever loses reads that it lost, and there is no celebration", async () => {
  const page = await browser.visitor(arena.url);
  await begin(page, "perfect-4");
  await playOut(page, (shown, column) => shown.keyboard.press(String(column)));
  const result = await page.textContent(".status-text");
  await page.waitForSelector(".ribbon:visible");
  if (/lost/.test(result ?? "")) assert.equal(await page.getAttribute(".ribbon", "data-how"), "lost");
});

test("a row of games against the same opponent has its score at the end of each", async () => {
  const page = await browser.visitor(arena.url);
  await begin(page, "random");
  const giveUp = async () => {
    assert.equal(await myTurn(page), true);
    await page.keyboard.press("4");
    await reached(page, 2);
    await page.click(".actions >> text=Resign");
    await page.click("text=Really resign?");
    await page.waitForSelector(".ribbon:visible");
  };
  await giveUp();
  assert.equal(await page.locator(".ribbon .series").count(), 0, "one game is no series");
  const first = page.url();
  await page.click(".ribbon >> text=Rematch");
  await page.waitForURL((url) => url.href !== first);
  await atGame(page);
  await giveUp();
  assert.equal(await page.textContent(".ribbon .series"), "You 0 : 2 Dizzy");
});

test("settings are kept, drawn by the server, and used", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/settings");
  await page.check('input[name="board"][value="walnut"]');
  await page.check('input[name="confirm"]');
  await page.check('input[name="marks"]');
  await page.check('input[name="theme"][value="dark"]');
  const answer = await page.request.get("/");
  assert.match(await answer.text(), /data-theme="dark"\s*data-board="walnut"/);
  await begin(page, "random");
  assert.equal(await myTurn(page), true);
  await page.keyboard.press("4");
  await page.waitForSelector(".hints .hint");
  assert.equal(await ply(page), 0, "chosen once");
  await page.keyboard.press("4");
  await reached(page, 1);
  assert.equal(await page.locator(".stone.second .strong:visible").count() > 0, true);
});

test("whoever has asked for it is told by the system that it is one's turn, while the page is out of sight", async () => {
  const page = await browser.visitor(arena.url);
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
    Object.defineProperty(document, "hidden", { get: () => told.isAway === true });
  });
  await page.goto("/settings");
  await page.check('input[name="notices"]');
  await begin(page, "random");
  await page.keyboard.press("4");
  await page.waitForFunction(() => Number(document.querySelector("#game")?.getAttribute("data-ply")) >= 2);
  assert.deepEqual(await page.evaluate("notices"), [], "one looks at the page");
  await page.evaluate("isAway = true");
  await page.keyboard.press("3");
  await page.waitForFunction(() => /** @type {any} */ (globalThis).notices.length === 1);
  assert.deepEqual(await page.evaluate("notices"), ["Your turn"]);
});

test("a learner is met at any age", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/bots");
  assert.equal(await page.locator('[data-play-bot*="@"]').count(), 0, "no list has its frozen versions");
});
