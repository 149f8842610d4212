// The languages of the pages: the words of each page in each of them, chosen by the browser or in the footer; how wide
// they make it, of which `npm run languages` tries all; and what the page's own modules say while it is live.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { headline, myTurn, startBotGame } from "./support/game.js";

const LANGUAGES = ["en", "de", "fr", "es", "pt", "it", "nl", "pl", "ja", "zh"];
const PAGES = [
  ...["/", "/rules", "/settings", "/tv", "/wall", "/leaderboard", "/seasons", "/bots", "/bots/new", "/bots/gallery", "/account"],
  ...["/learn", "/learn/rules", "/learn/fork", "/learn/glossary", "/analysis", "/puzzles", "/puzzles/rush", "/puzzles/rush/board"],
  ...["/invite", "/correspondence", "/friends", "/tournaments", "/tournaments/new", "/class", "/player/perfect", "/learning"],
  ...["/teach", "/studies", "/study/new", "/status", "/docs", "/nothing"],
];

/** Pages that have the most to press and to fill in, where words of any language are tight. */
const TIGHT = ["/", "/settings", "/account", "/invite", "/tournaments/new", "/study/new"];
/** Every page in every language takes a minute or more: without `ALL_LANGUAGES` each page is tried in English, in German,
 * whose words are the longest, and in one more language by turns, the tight ones in all. */
const ALL = Boolean(process.env.ALL_LANGUAGES);
const OTHERS = LANGUAGES.slice(2);

/** What texts are called by: files of `web/texts`. No page shows a name for what it stands for. */
const KEYS = readdirSync(new URL("../../web/texts/", import.meta.url)).map((file) => file.replace(".toml", ""));
const RAW = new RegExp(`\\{\\w+\\}|(?<![\\w./-])(${KEYS.join("|")})\\.[a-z_]{3,}\\b(?!\\()`);

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 404/));

/** @param {string} language */
function pagesIn(language) {
  if (ALL || ["en", "de"].includes(language)) return PAGES;
  return PAGES.filter((path, index) => TIGHT.includes(path) || OTHERS[index % OTHERS.length] === language);
}

test("every page in every language is there, and no text is missing", async () => {
  const wrong = [];
  for (const language of LANGUAGES) {
    for (const path of PAGES) {
      const answer = await fetch(arena.url + path, { headers: { "Accept-Language": language } });
      const html = await answer.text();
      assert.equal(answer.status, path === "/nothing" ? 404 : 200, path);
      assert.match(html, new RegExp(`<html[^>]* lang="${language}"`), path);
      const words = html.replace(/<(script|style)\b.*?<\/\1>/gs, "").replace(/<[^>]*>/g, " ");
      const raw = words.match(RAW);
      if (raw) wrong.push(`${path} in ${language} shows ${raw[0]}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test("pages fit a phone in all languages, and show no name for what it stands for once they are live", async () => {
  const wrong = [];
  for (const language of LANGUAGES) {
    const page = await browser.visitor(arena.url, { ...PHONE, locale: language });
    for (const path of pagesIn(language)) {
      await page.goto(path);
      assert.equal(await page.getAttribute("html", "lang"), language, path);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wider > 0) wrong.push(`${path} in ${language} is ${wider} px wider than the screen`);
      const raw = ((await page.innerText("body")) ?? "").match(RAW);
      if (raw) wrong.push(`${path} in ${language} shows ${raw[0]}`);
    }
    await page.context().close();
  }
  assert.deepEqual(wrong, []);
});

test("words that one chooses by a press stay in their tiles, in all languages on phones and desktops", async () => {
  const wrong = [];
  for (const language of LANGUAGES) {
    const page = await browser.visitor(arena.url, { locale: language });
    for (const path of ["/invite", "/settings", "/offline", "/"]) {
      await page.goto(path);
      if (path === "/") {
        await page.waitForSelector('html[data-connection="open"]');
        await page.click("#choose-bot");
      }
      for (const [width, height] of [[320, 640], [375, 700], [1280, 800]]) {
        await page.setViewportSize({ width, height });
        const out = await page.$$eval(".tile > span", (tiles) => tiles.flatMap((tile) => {
          const range = document.createRange();
          range.selectNodeContents(tile);
          const [box, words] = [tile, range].map((each) => each.getBoundingClientRect());
          const isIn = words.left >= box.left - 1 && words.right <= box.right + 1 && words.top >= box.top - 1 && words.bottom <= box.bottom + 1;
          return box.width === 0 || isIn ? [] : [tile.textContent];
        }));
        wrong.push(...out.map((words) => `${path} in ${language} at ${width}: ${words}`));
      }
    }
    await page.context().close();
  }
  assert.deepEqual(wrong, []);
});

test("what modules say is in the language of the page", async () => {
  const page = await browser.visitor(arena.url, { ...DESKTOP, locale: "de-AT" });
  await startBotGame(page);
  await myTurn(page);
  assert.equal(await headline(page), "Du bist dran");
  await page.click(".actions >> text=Abbrechen");
  await page.waitForSelector('#game[data-status="over"]');
  assert.equal(await headline(page), "Ohne Ergebnis");
});

test("a language chosen in the footer stays", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/leaderboard?list=bots");
  await page.click(".languages >> text=日本語");
  await page.waitForSelector('html[lang="ja"]');
  assert.match(page.url(), /list=bots/);
  assert.equal(await page.textContent("h1"), "ランキング");
  await page.goto("/");
  assert.equal(await page.getAttribute("html", "lang"), "ja");
});
