// Plays games through the page, as a person would see it.

import assert from "node:assert/strict";

/** @typedef {import("playwright-core").Page} Page */

/** @param {Page} page */
export async function atGame(page) {
  await page.waitForURL(/\/game\/\w+$/);
  await page.waitForSelector("#game[data-turn]");
  return gameId(page);
}

/** @param {Page} page */
export function gameId(page) {
  return /** @type {string} */ (new URL(page.url()).pathname.split("/").pop());
}

/**
 * Waits until it is the page's turn, or the game is over.
 * @param {Page} page
 * @returns {Promise<boolean>} whether it is its turn
 */
export async function myTurn(page) {
  await page.waitForSelector('#game[data-turn="yours"], #game[data-status="over"]', { state: "attached" });
  return (await page.getAttribute("#game", "data-status")) === "live";
}

/**
 * Waits for a ply, or the end of the game.
 * @param {Page} page
 * @param {number} ply
 */
export async function reached(page, ply) {
  await page.waitForFunction((wanted) => {
    const { ply: now, status } = /** @type {HTMLElement} */ (document.querySelector("#game")).dataset;
    return status === "over" || Number(now) >= wanted;
  }, ply);
}

/** @param {Page} page */
export async function ply(page) {
  return Number(await page.getAttribute("#game", "data-ply"));
}

/** @param {Page} page columns that are not full, from 1 */
export function openColumns(page) {
  return page.$$eval(".columns button", (buttons) =>
    buttons.flatMap((button, index) => (button.getAttribute("aria-disabled") === "true" ? [] : [index + 1])),
  );
}

/**
 * Plays to the end, always in the leftmost open column.
 * @param {Page} page
 * @param {(page: Page, column: number) => Promise<void>} drop
 */
export async function playOut(page, drop) {
  let moves = 0;
  while (await myTurn(page)) {
    const before = await ply(page);
    const [column] = await openColumns(page);
    assert.ok(column, "a column is open while it is one's turn");
    await drop(page, column);
    await reached(page, before + 1);
    moves += 1;
  }
  assert.ok(moves >= 1, "at least one move was played");
  return moves;
}

/** @param {Page} page */
export const headline = (page) => page.textContent(".status-text");

/**
 * @param {Page} page
 * @param {number} column
 */
export async function clickColumn(page, column) {
  const box = await page.locator(`.columns button[data-column="${column}"]`).boundingBox();
  if (!box) throw new Error(`column ${column} is not on the page`);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 3);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 3);
}

/**
 * Starts a game of three minutes and two seconds against the weakest house bot.
 * @param {Page} page
 * @param {"first" | "second" | "random"} [side]
 */
export async function startBotGame(page, side = "first") {
  await page.goto("/");
  await page.waitForSelector('html[data-connection="open"]');
  await page.click("#choose-bot");
  await page.check('#bot-dialog input[name="bot-time"][value*="180000"]');
  await page.check(`#bot-dialog input[value="${side}"]`);
  await page.click("#start-bot");
  return atGame(page);
}

/**
 * Signs up by the form.
 * @param {Page} page
 * @param {string} name
 */
export async function signUp(page, name) {
  await page.goto("/account");
  await page.fill("#up-name", name);
  await page.fill("#up-password", "correct horse battery");
  await page.click("#sign-up button[type=submit]");
  await page.waitForSelector("#sign-out");
}
