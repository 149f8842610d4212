// Two people at a table.

import assert from "node:assert/strict";

import { atGame, myTurn, reached } from "./game.js";

/** @typedef {import("playwright-core").Page} Page */

/** @param {Page} page */
export async function toLobby(page) {
  await page.goto("/");
  await page.waitForSelector('html[data-connection="open"]');
}

/**
 * Makes a link to a game as the dialog proposes it, in the lobby or by days.
 * @param {Page} page
 * @returns {Promise<string>}
 */
export async function inviteByLink(page) {
  await page.click("#make-link");
  await page.click("#send-invite");
  return page.inputValue("#invite-url");
}

/**
 * Pairs two visitors by `Play a person`.
 * @param {Page} one
 * @param {Page} two
 * @returns {Promise<{ first: Page, second: Page, id: string }>}
 */
export async function pair(one, two) {
  await toLobby(one);
  await toLobby(two);
  await one.click("#play-now");
  await one.waitForSelector("#waiting:not([hidden])");
  await two.click("#play-now");
  const [id, other] = await Promise.all([atGame(one), atGame(two)]);
  assert.equal(id, other);
  await Promise.all([one, two].map((page) => page.waitForSelector('#game:not([data-you=""])')));
  const oneIsFirst = (await one.getAttribute("#game", "data-you")) === "first";
  return oneIsFirst ? { first: one, second: two, id } : { first: two, second: one, id };
}

/**
 * Plays moves, each by the page whose turn it is.
 * @param {{ first: Page, second: Page }} pages
 * @param {string} moves
 * @param {number} from the ply before them
 */
export async function playMoves({ first, second }, moves, from = 0) {
  for (const [index, digit] of [...moves].entries()) {
    const page = (from + index) % 2 === 0 ? first : second;
    assert.equal(await myTurn(page), true);
    await page.keyboard.press(digit);
    await Promise.all([first, second].map((each) => reached(each, from + index + 1)));
  }
}
