// A class: a teacher opens it, pupils join by the code on the wall, are paired, taught and let go.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { LOOKS, assertGood } from "./support/good.js";
import { myTurn, ply, reached, signUp } from "./support/game.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
});
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 40[149]/));

/** @param {string} name */
async function openClass(name) {
  const teacher = await browser.visitor(arena.url, DESKTOP);
  await signUp(teacher, name);
  await teacher.goto("/class");
  await teacher.click("#open-class");
  await teacher.waitForURL(/\/class\/[A-Z0-9]{6}$/);
  const code = (await teacher.innerText(".class-code")).trim();
  return { teacher, code };
}

/** Plays a game in which whoever begins has four in a column. @param {Page} one @param {Page} two */
async function playFour(one, two) {
  for (const page of [one, two]) await page.waitForSelector('#game:not([data-you=""])');
  const isFirst = (await one.getAttribute("#game", "data-you")) === "first";
  const [first, second] = isFirst ? [one, two] : [two, one];
  for (let move = 0; move < 7; move += 1) {
    const page = move % 2 === 0 ? first : second;
    assert.equal(await myTurn(page), true);
    const before = await ply(page);
    await page.keyboard.press(move % 2 === 0 ? "1" : "2");
    await reached(page, before + 1);
  }
}

/** Without a name, one is drawn. @param {string} code @param {string} name */
async function join(code, name) {
  const pupil = await browser.visitor(arena.url, PHONE);
  await pupil.goto("/class");
  await pupil.fill("#class-code", code.toLowerCase());
  await pupil.fill("#pupil-name", name);
  await pupil.click("#join button[type=submit]");
  await pupil.waitForURL(`**/class/${code}`);
  await pupil.waitForSelector("#seat");
  return pupil;
}

for (const { size, viewport, rules } of LOOKS) {
  test(`door, desk and seat are good on a ${size}`, async () => {
    const { teacher, code } = await openClass(`Miss${size}`);
    await teacher.setViewportSize(/** @type {any} */ (viewport).viewport);
    const pupil = await join(code, `Zoe${size}`);
    await teacher.waitForSelector('#class-table td:has-text("Zoe")');
    await assertGood(teacher, "the desk", rules);
    await assertGood(pupil, "the seat", rules);
    const stranger = await browser.visitor(arena.url, viewport);
    await stranger.goto(`/class/${code}`);
    assert.equal(await stranger.inputValue("#class-code"), code, "whoever comes by the link need not type it");
    await assertGood(stranger, "the door", rules);
    await Promise.all([teacher, pupil, stranger].map((page) => page.context().close()));
  });
}

test("pupils are taken to their games, to a lesson, and look up; the teacher sees all of it", async () => {
  const { teacher, code } = await openClass("MrBean");
  const pupils = await Promise.all(["Anna", "Ben", "Carla"].map((name) => join(code, name)));
  await teacher.waitForFunction(() => document.querySelectorAll("#class-table tbody tr").length === 3);
  assert.match(await teacher.innerText("#class-address"), /^127\.0\.0\.1:\d+\/class$/, "the address that the browser uses");
  assert.equal(await teacher.locator(".class-head .qr").evaluate((image) => /** @type {HTMLImageElement} */ (image).naturalWidth > 0), true);

  await teacher.click('[data-do="round"]');
  await teacher.waitForSelector("#class-boards .game-tile");
  const atBoard = (/** @type {Page} */ page) => /\/game\//.test(page.url());
  while (pupils.filter(atBoard).length < 2) await teacher.waitForTimeout(50);
  const [one, two] = pupils.filter(atBoard);
  const rests = /** @type {Page} */ (pupils.find((page) => !atBoard(page)));
  assert.match(rests.url(), /\/class\//, "of three one rests");

  // All look up, at the board too; the key for closing does not help.
  await teacher.click("#hold");
  for (const page of pupils) await page.waitForSelector("dialog.class-cover[open]");
  await one.keyboard.press("Escape");
  assert.equal(await one.isVisible("dialog.class-cover[open]"), true);
  await assertGood(one, "a covered board");
  await teacher.waitForSelector('#hold[aria-pressed="true"]');
  // Their clocks stand, and a move is refused with a reason.
  await one.waitForSelector('#game .status-detail:has-text("Your clock stands")', { state: "attached" });
  const clocks = () => one.locator("ff-clock").allInnerTexts();
  const before = await clocks();
  await one.waitForTimeout(2_500);
  assert.deepEqual(await clocks(), before);
  // Whoever comes back meanwhile is asked for a move, and sees the same.
  for (const page of [one, two]) {
    await page.reload();
    await page.waitForSelector('#game .status-detail:has-text("Your clock stands")', { state: "attached" });
    await page.waitForTimeout(500);
    assert.match((await page.textContent("#game .status-detail")) ?? "", /Your clock stands/);
  }
  await teacher.click("#hold");
  for (const page of pupils) await page.waitForSelector("dialog.class-cover:not([open])", { state: "attached" });

  await playFour(one, two);
  await teacher.waitForSelector('#class-table tbody tr:first-child td:nth-child(3):has-text("2")');
  assert.equal(await teacher.locator("#class-boards .game-tile").count(), 0);

  await teacher.selectOption("#class-lesson", "fork");
  await teacher.click('[data-do="lesson"]');
  for (const page of pupils) await page.waitForURL(/\/learn\/fork$/);
  await teacher.click("#lesson-end");
  await teacher.waitForSelector("#lesson-end", { state: "hidden" });
  await rests.click(".class-home a");
  await rests.waitForURL(/\/class\//);

  const [download] = await Promise.all([teacher.waitForEvent("download"), teacher.click("a[download]")]);
  assert.equal(download.suggestedFilename(), `class-${code}.csv`);

  await teacher.click('#class-table button[data-remove="guest-Carla"]');
  await teacher.waitForFunction(() => document.querySelectorAll("#class-table tbody tr").length === 2);
  teacher.once("dialog", (dialog) => dialog.accept());
  await teacher.click('[data-do="end"]');
  await teacher.waitForURL(/\/class$/);
  await one.waitForSelector('.toast:has-text("The class is over")');
  assert.equal(await one.evaluate(() => localStorage.getItem("fourfold-class")), null);
  await Promise.all([teacher, ...pupils].map((page) => page.context().close()));
});

test("an arena seats whoever is free again and again", async () => {
  const { teacher, code } = await openClass("MrsHall");
  const pupils = await Promise.all(["Dora", "Emil"].map((name) => join(code, name)));
  await teacher.waitForFunction(() => document.querySelectorAll("#class-table tbody tr").length === 2);
  await teacher.selectOption("#class-minutes", "5");
  await teacher.click('[data-do="arena"]');
  await teacher.waitForSelector('#class-state:has-text("5 minutes")');
  const games = new Set();
  for (let round = 0; round < 2; round += 1) {
    for (const page of pupils) await page.waitForURL((url) => url.pathname.startsWith("/game/") && !games.has(url.pathname));
    games.add(new URL(pupils[0].url()).pathname);
    await playFour(pupils[0], pupils[1]);
    await teacher.waitForFunction((wanted) => [...document.querySelectorAll("#class-table tbody td:nth-child(4)")].some((cell) => (cell.textContent?.match(/\d+/g) ?? []).map(Number).reduce((sum, n) => sum + n, 0) >= wanted), round + 1);
  }
  await Promise.all([teacher, ...pupils].map((page) => page.context().close()));
});

test("whoever types no name is called after an animal, and the teacher may have all names drawn", async () => {
  const { teacher, code } = await openClass("Namer");
  await join(code, "");
  await teacher.waitForSelector("#class-table tbody tr");
  const name = /(Red|Blue|Green|Gold|Pink|White|Amber|Lilac)-[A-Z][a-z]+/;
  assert.match(await teacher.innerText("#class-table tbody"), name);
  await teacher.check("#names-drawn");
  assert.match(await teacher.innerText("#names-note"), /such as Red-Fox/);
  await teacher.waitForTimeout(500);
  await join(code, "Bobby");
  await teacher.waitForFunction(() => document.querySelectorAll("#class-table tbody tr").length === 2);
  assert.ok(!(await teacher.innerText("#class-table")).includes("Bobby"));
  await assertGood(teacher, "a desk with drawn names");
});
