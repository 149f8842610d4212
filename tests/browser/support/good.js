// What every page must be: accessible by axe's rules, and not wider than the screen.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ violations: { id: string, nodes: { html: string, failureSummary?: string }[] }[] }} AxeResult */

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * @param {Page} page
 * @param {string} where
 */
export async function assertGood(page, where) {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wider <= 0, `${where} is ${wider} px wider than the screen`);
  await page.evaluate(AXE);
  const result = /** @type {AxeResult} */ (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })"));
  const found = result.violations.map(({ id, nodes }) => [id, ...nodes.map((node) => `${node.html} ${node.failureSummary}`)]);
  assert.deepEqual(found, [], `${where} is not accessible`);
}
