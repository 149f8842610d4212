// The texts of the page for tests without a browser: import this before any module of the page.

import { readdirSync, readFileSync } from "node:fs";
import { parse } from "smol-toml";

const FOLDER = new URL("../../../web/texts/", import.meta.url);

/** @type {Record<string, unknown>} */
const texts = {};
for (const file of readdirSync(FOLDER)) {
  const area = parse(readFileSync(new URL(file, FOLDER), "utf8"));
  for (const [name, languages] of Object.entries(area)) {
    texts[`${file.replace(".toml", "")}.${name}`] = /** @type {Record<string, unknown>} */ (languages).en;
  }
}
Object.assign(globalThis, { fourfoldTexts: { language: "en", texts } });
