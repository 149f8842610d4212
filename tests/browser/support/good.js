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

/** All rules, and then that of contrast once more in dark colours, which come by a rule of style without a load. */
const IN_BOTH_COLORS = "all, and contrast in the dark";

/** @typedef {keyof typeof RULES} Rules */

/** How pages are looked at, so that each rule meets each colour and each width once: a dark phone would add nothing. */
export const LOOKS = /** @type {const} */ ([
  { size: "desktop", viewport: DESKTOP, rules: IN_BOTH_COLORS },
  { size: "phone", viewport: PHONE, rules: "all but contrast" },
]);

/**
 * Asserts that a page is not wider than the screen, and accessible.
 * @param {Page} page
 * @param {string} where
 * @param {Rules | typeof IN_BOTH_COLORS} [rules]
 */
export async function assertGood(page, where, rules = "all") {
  if (rules !== IN_BOTH_COLORS) return look(page, where, rules);
  await look(page, where, "all");
  await page.emulateMedia({ colorScheme: "dark" });
  await look(page, `${where}, in the dark,`, "contrast");
  await page.emulateMedia({ colorScheme: "light" });
}

/**
 * Looks at the page as it will be once colours that are on their way to others have arrived: in between anything may
 * be too pale.
 * @param {Page} page
 * @param {string} where
 * @param {Rules} rules
 */
async function look(page, where, rules) {
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
