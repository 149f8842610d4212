// Takes pictures of every page in all forms that people meet, and puts those of each page beside each other: what one
// looks through before a change of style is called done. `npm run sheets -- DIRECTORY PATH…`; without paths, all pages.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ADDRESSES } from "./support/addresses.js";
import { Arena } from "./support/arena.js";
import { Browser } from "./support/browser.js";

/** @typedef {import("playwright-core").BrowserContextOptions} ContextOptions */
/** @typedef {import("playwright-core").Page} Page */

const phone = { hasTouch: true, isMobile: true };
const upright = { ...phone, viewport: { width: 360, height: 740 } };
const laptop = { width: 1440, height: 900 };

/** Each form with its name. @type {Array<[string, ContextOptions]>} */
const FORMS = [
  ["light", { viewport: laptop }],
  ["dark", { viewport: laptop, colorScheme: "dark" }],
  ["low window", { viewport: { width: 1366, height: 640 } }],
  ["tablet", { viewport: { width: 768, height: 1024 } }],
  ["phone", upright],
  ["phone, dark", { ...upright, colorScheme: "dark" }],
  ["phone, German", { ...upright, locale: "de" }],
  ["phone, Japanese", { ...upright, locale: "ja" }],
  ["phone on its side", { ...phone, viewport: { width: 844, height: 390 } }],
  ["forced colours", { viewport: { width: 1024, height: 768 }, forcedColors: "active" }],
];
/** Pictures are shown so high at most, in CSS pixels: what is longer is read on the page itself. */
const SHOWN_MAX = 2_400;
/** Pictures stand at this part of their size. */
const SCALE = 0.4;

const [directory = "sheets", ...named] = process.argv.slice(2);
const paths = named.length ? named : ADDRESSES;
mkdirSync(directory, { recursive: true });
const arena = new Arena({ store: true, learning: true });
const browser = new Browser();
await Promise.all([arena.start(), browser.start()]);
const { session } = JSON.parse(readFileSync(new URL("../data/arena/credentials.json", import.meta.url), "utf8"));

/** One page in one form. @param {string} path @param {ContextOptions} options */
async function picture(path, options) {
  const page = await browser.visitor(arena.url, { reducedMotion: "reduce", ...options });
  const [name, value] = session.split("=");
  if (/^\/(account|bot\/|bots\/new)/.test(path)) await page.context().addCookies([{ name, value, url: arena.url }]);
  await page.goto(path, { waitUntil: "networkidle" }).catch(() => {});
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const { width = 0 } = options.viewport ?? {};
  const clip = { x: 0, y: 0, width, height: Math.min(height, SHOWN_MAX) };
  const image = await page.screenshot({ fullPage: true, clip });
  await page.context().close();
  return { width, height: clip.height, source: `data:image/png;base64,${image.toString("base64")}` };
}

for (const path of paths) {
  const figures = [];
  for (const [name, options] of FORMS) {
    const { width, height, source } = await picture(path, options);
    const size = `width="${Math.round(width * SCALE)}" height="${Math.round(height * SCALE)}"`;
    figures.push(`<figure><figcaption>${name}</figcaption><img ${size} src="${source}"></figure>`);
  }
  const sheet = await browser.visitor(arena.url, { viewport: { width: 2400, height: 800 } });
  const style = "body{display:flex;flex-wrap:wrap;gap:12px;margin:12px;font:14px sans-serif;background:#888}figure{margin:0}";
  await sheet.setContent(`<style>${style}</style><h1 style="width:100%;margin:0">${path}</h1>${figures.join("")}`);
  const file = join(directory, `${path.replaceAll("/", "_").slice(1) || "lobby"}.png`);
  await sheet.screenshot({ path: file, fullPage: true });
  await sheet.context().close();
  console.log(file);
}
await Promise.all([browser.stop(), arena.stop()]);
