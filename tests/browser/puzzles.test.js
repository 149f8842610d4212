// Puzzles: the list, right and wrong moves, hint and solution, by mouse and keyboard, on desktop and phone.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/**
 * The solution, as only somebody who gives up is told; asked by nobody that is known, so it counts for nobody.
 * @param {string} id
 */
async function solutionOf(id) {
  const answer = await fetch(`${arena.url}/api/v1/puzzles/${id}/solution`, { method: "POST" });
  return [...(await answer.json()).line].map(Number);
}

/** @param {import("playwright-core").Page} page */
const idOf = async (page) => (await page.getAttribute("#puzzle", "data-id")) ?? "";

/**
 * @param {import("playwright-core").Page} page
 * @param {string} status
 */
const reached = (page, status) => page.waitForSelector(`#puzzle[data-status="${status}"]`);

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`the puzzle of the day is found in the list and solved by keys (${name})`, async () => {
    const page = await browser.visitor(arena.url, form);
    await page.goto("/puzzles");
    await page.click("text=Solve it");
    await reached(page, "open");
    const line = await solutionOf(await idOf(page));
    for (let step = 0; step < line.length; step += 2) {
      await reached(page, "open");
      await page.keyboard.press(String(line[step]));
      await page.waitForFunction((n) => Number(document.querySelector("#puzzle")?.getAttribute("data-ply")) >= n, await plyAfter(page, step));
    }
    await reached(page, "solved");
    assert.match((await page.textContent("#puzzle-status")) ?? "", /Solved/);
    assert.match((await page.textContent("#puzzle-streak")) ?? "", /1 day in a row/);
    const shared = page.evaluate(() => new Promise((resolve) => (navigator.share = async ({ text } = {}) => resolve(text))));
    await page.click("#puzzle-share");
    assert.match(String(await shared), new RegExp(`^Fourfold · Puzzle of the day · \\d{4}-\\d\\d-\\d\\d\n(🟩){${Math.ceil(line.length / 2)}}\n${arena.url}/puzzles/daily$`));
    // Nobody reads "nobody has tried it yet" who has just solved it; a guest is not counted.
    await page.waitForFunction(() => /^difficulty \d+$/.test(document.querySelector("#puzzle-facts")?.textContent ?? ""));
    await page.goto("/puzzles");
    assert.match((await page.textContent("#yours-title")) ?? "", /1 day in a row/);
    await page.goto("/");
    assert.equal(await page.textContent("#streak"), "🔥 1 day in a row · Today’s is solved.");
  });
}

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`the puzzle of the day is played in the lobby, where nothing moves (${name})`, async () => {
    const page = await browser.visitor(arena.url, form);
    await page.goto("/");
    await page.waitForSelector('html[data-connection="open"]');
    const line = await solutionOf(await idOf(page));
    const places = () => page.evaluate(() => ["#streak", "#puzzle .lobby-board", "#puzzle .actions"].map((part) => {
      const { top, height } = /** @type {Element} */ (document.querySelector(part)).getBoundingClientRect();
      return [Math.round(top + scrollY), Math.round(height)];
    }));
    const before = await places();
    await page.focus("#puzzle a.button");
    await page.keyboard.press("Enter");
    await reached(page, "open");
    assert.deepEqual(await places(), before, "everything stays where it was");
    for (let step = 0; step < line.length; step += 2) {
      await reached(page, "open");
      if (form === PHONE) await page.tap(`#puzzle .columns button[data-column="${line[step]}"]`);
      else await page.keyboard.press(String(line[step]));
      await page.waitForFunction((n) => Number(document.querySelector("#puzzle")?.getAttribute("data-ply")) >= n, await plyAfter(page, step));
    }
    await reached(page, "solved");
    assert.deepEqual(await places(), before, "everything stays where it was");
    assert.equal(await page.textContent("#streak"), "🔥 1 day in a row · Today’s is solved.");
    const shared = page.evaluate(() => new Promise((resolve) => (navigator.share = async ({ text } = {}) => resolve(text))));
    await page.click("#puzzle-share");
    assert.match(String(await shared), /^Fourfold · Puzzle of the day · \d{4}-\d\d-\d\d\n🟩+\n/u);
    await assertGood(page, "the lobby with a puzzle that is solved");
    await page.goto("/puzzles");
    assert.match((await page.textContent("#yours-title")) ?? "", /1 day in a row/);
  });
}

test("without script the puzzle in the lobby is a link", async () => {
  const page = await browser.visitor(arena.url, { ...DESKTOP, javaScriptEnabled: false });
  await page.goto("/");
  await page.click("#puzzle .lobby-board a");
  assert.equal(new URL(page.url()).pathname, "/puzzles/daily");
});

/**
 * @param {import("playwright-core").Page} page
 * @param {number} step of the solution that was just played
 */
async function plyAfter(page, step) {
  const moves = (await page.getAttribute("#puzzle", "data-moves")) ?? "";
  return moves.length + step + 1;
}

test("a wrong move is refuted on the board, and one may try again", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await page.goto("/puzzles/daily");
  await reached(page, "open");
  const right = (await solutionOf(await idOf(page)))[0];
  const buttons = page.locator('ff-board button[data-column][aria-disabled="false"]');
  const columns = await buttons.evaluateAll((all) => all.map((button) => Number(button.dataset.column)));
  const wrong = columns.find((column) => column !== right);
  await page.click(`ff-board button[data-column="${wrong}"]`);
  await reached(page, "wrong");
  assert.match((await page.textContent("#puzzle-status")) ?? "", new RegExp(`column ${wrong}`));
  assert.match((await page.textContent("#puzzle-detail")) ?? "", /goes on/);
  await page.click("#puzzle-again");
  await reached(page, "open");
  assert.equal(await page.getAttribute("#puzzle", "data-ply"), String((await page.getAttribute("#puzzle", "data-moves"))?.length));
});

test("a hint names two columns, the solution is played, and the next puzzle is another", async () => {
  const page = await browser.visitor(arena.url, PHONE);
  await page.goto("/puzzles/next");
  await reached(page, "open");
  const id = await idOf(page);
  const line = await solutionOf(id);
  await page.click("#puzzle-hint");
  await page.waitForFunction(() => /column \d or column \d/.test(document.querySelector("#puzzle-detail")?.textContent ?? ""));
  assert.match((await page.textContent("#puzzle-detail")) ?? "", new RegExp(`column ${line[0]}\\b`));
  await page.click("#puzzle-solution");
  await reached(page, "shown");
  await page.waitForFunction((n) => document.querySelector("#puzzle")?.getAttribute("data-ply") === String(n), await plyAfter(page, line.length - 1));
  await page.click("#puzzle-next");
  await page.waitForSelector(`#puzzle:not([data-id="${id}"])`);
});

/** The column that keeps what is to be kept, by the solver. @param {string} moves */
async function rightColumn(moves) {
  const { best } = await (await fetch(`${arena.url}/api/v1/positions/${moves || "-"}`)).json();
  return Number(best[0]);
}

/** Plays the puzzle of a rush that is on show, or misses it. @param {import("playwright-core").Page} page @param {boolean} right */
async function rushOn(page, right) {
  await page.waitForSelector('#rush[data-status="open"]');
  const rush = page.locator("#rush");
  const number = await rush.getAttribute("data-number");
  const isOn = async () => (await rush.getAttribute("data-status")) !== "over" && (await rush.getAttribute("data-number")) === number;
  while (await isOn()) {
    await page.waitForFunction((before) => {
      const rush = /** @type {HTMLElement} */ (document.querySelector("#rush"));
      return rush.dataset.status === "open" || rush.dataset.status === "over" || rush.dataset.number !== before;
    }, number);
    if (!(await isOn())) break;
    const best = await rightColumn((await rush.getAttribute("data-shown")) ?? "");
    const open = await page.locator('ff-board button[data-column][aria-disabled="false"]').evaluateAll((all) => all.map((button) => Number(button.dataset.column)));
    await page.keyboard.press(String(right ? best : open.find((column) => column !== best)));
  }
}

test("a rush goes on with harder puzzles until three are missed, and the best is kept and listed", async () => {
  const page = await browser.visitor(arena.url, { ...PHONE, reducedMotion: "reduce" });
  await signUp(page, "Rusher");
  await page.goto("/puzzles/rush/board?kind=lives");
  await page.waitForSelector("text=Nobody stands here yet.");
  await page.goto("/puzzles");
  await page.click("text=Puzzle rush");
  await assertGood(page, "the rush");
  await page.click("#rush-lives");
  for (const right of [true, false, true, false, false]) await rushOn(page, right);
  await page.waitForSelector("#rush-said >> text=Solved: 2. Your best: 2. Your place today: 1.");
  assert.equal(await page.locator("#rush-missed li").count(), 3);
  assert.equal(await page.textContent("#rush-left"), "○○○");
  await assertGood(page, "a rush that is over");
  await page.click("#rush-places");
  assert.match((await page.textContent(".rush-board .own")) ?? "", /1\s*Rusher\s*You\s*2/);
  await assertGood(page, "the best runs");
  await page.goto("/puzzles/rush");
  await page.waitForSelector("#rush-lives >> text=★ 2");
});

test("a run that was begun in another tab ends this one", async () => {
  const first = await browser.visitor(arena.url, DESKTOP);
  await signUp(first, "Twotabs");
  const second = await first.context().newPage();
  for (const page of [first, second]) {
    await page.goto("/puzzles/rush");
    await page.click("#rush-minutes");
    await page.waitForSelector('#rush[data-status="open"]');
  }
  await first.bringToFront();
  await first.keyboard.press(String(await rightColumn((await first.getAttribute("#rush", "data-shown")) ?? "")));
  await first.waitForSelector("#rush-said >> text=This run has ended");
  await browser.endOfTest(/status of 404/);
});

test("three minutes are over after three minutes", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await page.clock.install();
  await page.goto("/puzzles/rush");
  await page.click("#rush-minutes");
  await page.waitForSelector('#rush[data-status="open"]');
  await page.clock.fastForward("03:01");
  await page.waitForSelector("#rush-said >> text=Solved: 0.");
  assert.equal(await page.textContent("#rush-left"), "0.0");
});

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`the calendar has the days on which the daily puzzle was solved (${name})`, async () => {
    const page = await browser.visitor(arena.url, form);
    await page.goto("/puzzles/daily");
    await reached(page, "open");
    const line = await solutionOf(await idOf(page));
    for (let step = 0; step < line.length; step += 2) {
      await reached(page, "open");
      await page.keyboard.press(String(line[step]));
      await page.waitForFunction((n) => Number(document.querySelector("#puzzle")?.getAttribute("data-ply")) >= n, await plyAfter(page, step));
    }
    await reached(page, "solved");
    await page.goto("/puzzles");
    assert.match((await page.textContent("#calendar .solved")) ?? "", /^●\d+ \w{3} \d{4}: solved$/);
    assert.match((await page.textContent("#calendar")) ?? "", /Days in a row now: 1. Best: 1./);
    await assertGood(page, "the puzzles with a calendar");
  });
}
