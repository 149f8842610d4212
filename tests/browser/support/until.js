// Waits for what a page says only later.

import { PATIENCE_MS } from "./patience.js";

/** @typedef {import("playwright-core").Page} Page */

/** Between two looks, in milliseconds. */
const LOOK_MS = 50;

/**
 * Waits until something that the page can say only asynchronously holds. `waitForFunction` takes the promise itself for a
 * yes, and waits for nothing.
 * @template Arg
 * @param {Page} page
 * @param {(arg: Arg) => Promise<boolean>} holds evaluated in the page
 * @param {Arg} arg
 */
export async function until(page, holds, arg) {
  const gaveUp = Date.now() + PATIENCE_MS;
  while (!(await page.evaluate(/** @type {any} */ (holds), arg))) {
    if (Date.now() > gaveUp) throw new Error(`it never came: ${holds}`);
    await page.waitForTimeout(LOOK_MS);
  }
}
