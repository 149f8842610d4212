// What every page must be: accessible by axe's rules, and not wider than the screen.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { DESKTOP, PHONE } from "./browser.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ violations: { id: string, nodes: { html: string, failureSummary?: string }[] }[] }} AxeResult */

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe looks at. Contrast is half of its work, and follows from the colours alone. */
const RULES = {
  all: {},
  contrast: { runOnly: ["color-contrast"] },
  "all but contrast": { rules: { "color-contrast": { enabled: false } } },
};

/** @typedef {keyof typeof RULES} Rules */

/** How pages are looked at, so that each rule meets each colour and each width once: a dark phone would add nothing. */
export const LOOKS = /** @type {const} */ ([
  { size: "desktop", viewport: DESKTOP, colorScheme: "light", rules: "all" },
  { size: "desktop", viewport: DESKTOP, colorScheme: "dark", rules: "contrast" },
  { size: "phone", viewport: PHONE, colorScheme: "light", rules: "all but contrast" },
]);

/**
 * Looks at the page as it will be once colours that are on their way to others have arrived: in between anything may
 * be too pale.
 * @param {Page} page
 * @param {string} where
 * @param {Rules} [rules]
 */
export async function assertGood(page, where, rules = "all") {
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wider <= 0, `${where} is ${wider} px wider than the screen`);
  await page.evaluate(AXE);
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
  });
  const result = /** @type {AxeResult} */ (await page.evaluate(
    `axe.run(document, ${JSON.stringify({ resultTypes: ["violations"], ...RULES[rules] })})`,
  ));
  const found = result.violations.map(({ id, nodes }) => [id, ...nodes.map((node) => `${node.html} ${node.failureSummary}`)]);
  assert.deepEqual(found, [], `${where} is not accessible`);
}
