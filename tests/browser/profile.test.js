// A player's page: games chosen by opponent, result, length and first moves; what people show of themselves.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { pair, playMoves } from "./support/people.js";

const arena = new Arena({ store: true });
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** The bot of the fixed store with the most games, and one that it has beaten. */
async function somebody() {
  const { items } = await (await fetch(`${arena.url}/api/v1/games?limit=200&rated=true`)).json();
  const won = items.find((/** @type {{ result: string }} */ game) => game.result === "first");
  return { name: won.players.first.name, opponent: won.players.second.name };
}

/** @param {import("playwright-core").Page} page */
const rows = (page) => page.locator(".games-table tbody tr");

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`the games of a player are chosen by a form that works without script (${name})`, async () => {
    const { name: player, opponent } = await somebody();
    const page = await browser.visitor(arena.url, { ...form, javaScriptEnabled: false });
    await page.goto(`/player/${player}`);
    await page.click("text=Choose games");
    await page.selectOption("#choose-outcome", "won");
    await page.fill("#choose-opponent", opponent);
    await page.fill("#choose-plies_min", "7");
    await page.click("text=Show games");
    const { searchParams } = new URL(page.url());
    assert.deepEqual([searchParams.get("outcome"), searchParams.get("opponent"), searchParams.get("plies_min")], ["won", opponent, "7"]);
    assert.ok(await rows(page).count() > 0);
    for (const row of await rows(page).all()) {
      const text = (await row.textContent()) ?? "";
      assert.ok(text.includes("Won") && text.includes(opponent), text);
    }
    assert.equal(await page.inputValue("#choose-opponent"), opponent, "the form says what is chosen");
    await page.fill("#choose-plies_min", "99");
    await page.click("text=Show games");
    assert.match((await page.textContent("#choose-problem")) ?? "", /from 0 to 64/);
    assert.equal(await page.getAttribute("#choose-plies_min", "aria-invalid"), "true");
    await page.click("text=All games");
    assert.equal(await page.inputValue("#choose-opponent"), "");
  });

  test(`a choice is kept from page to page, and is easy to read (${name})`, async () => {
    const { name: player } = await somebody();
    const page = await browser.visitor(arena.url, form);
    await page.goto(`/player/${player}?rated=true#games`);
    await assertGood(page, "a player's page with games that are chosen");
    await page.click("text=Older games");
    assert.equal(new URL(page.url()).searchParams.get("rated"), "true");
    assert.equal(await page.inputValue("#choose-rated"), "true");
    await page.goto(`/player/${player}`);
    await page.locator(".crosstable tbody td a[href*='opponent=']").first().evaluate((link) => /** @type {HTMLElement} */ (link).click());
    await page.waitForURL(/opponent=/);
    assert.ok(await rows(page).count() > 0);
  });
}

for (const [name, form] of /** @type {const} */ ([["desktop", DESKTOP], ["phone", PHONE]])) {
  test(`a person chooses a picture, a country and a line, which others see (${name})`, async () => {
    const page = await browser.visitor(arena.url, form);
    const own = `Shown${name}`;
    await signUp(page, own);
    await page.locator('#set-portrait input[value="owl"]').check({ force: true });
    await page.selectOption("#own-flag", { label: "Netherlands" });
    await page.fill("#own-line", "I play in the middle.");
    await page.click("#set-portrait button");
    await page.waitForSelector("#portrait-saved >> text=Saved.");
    await assertGood(page, "the account");
    const other = await browser.visitor(arena.url, form);
    await other.goto(`/player/${own}`);
    assert.match((await other.locator(".player-head .avatar use").getAttribute("href")) ?? "", /#owl$/);
    assert.equal(await other.textContent(".player-head .flag"), "NL");
    assert.equal(await other.textContent("#line"), "I play in the middle.");
    await assertGood(other, "the page of a person who shows something");
    await page.reload();
    assert.equal(await page.inputValue("#own-line"), "I play in the middle.");
    assert.equal(await page.inputValue("#own-flag"), "NL");
  });
}

test("the picture stands beside the name where people wait and play", async () => {
  const page = await browser.visitor(arena.url, DESKTOP);
  await signUp(page, "Pictured");
  await page.locator('#set-portrait input[value="fox"]').check({ force: true });
  await page.click("#set-portrait button");
  await page.waitForSelector("#portrait-saved >> text=Saved.");
  const other = await browser.visitor(arena.url, PHONE);
  await signUp(other, "Unpictured");
  await pair(page, other);
  for (const [who, seen] of /** @type {const} */ ([["Pictured", other], ["Unpictured", page]])) {
    const picture = seen.locator(`.seat-bar > img.avatar[src="/api/v1/players/${who}/picture.svg"]`);
    await picture.waitFor();
    const width = await picture.evaluate((image) => /** @type {HTMLImageElement} */ (image).naturalWidth);
    assert.ok(width > 0, `the picture of ${who} is drawn`);
    await assertGood(seen, "a game of two with pictures");
  }
  const drawn = await (await fetch(`${arena.url}/api/v1/players/Pictured/picture.svg`)).text();
  const watcher = await browser.visitor(arena.url, DESKTOP);
  await watcher.goto(page.url());
  await watcher.waitForSelector('.seat-bar > img.avatar[src*="/Pictured/"]');
  assert.match(drawn, /^<svg xmlns/);
  await watcher.goto("/");
  await watcher.waitForSelector('#feature .player > img.avatar[src*="/Pictured/"], .game-tile .player > img.avatar[src*="/Pictured/"]');
  await assertGood(watcher, "the lobby with pictures");
});

for (const [name, form, zone, locale] of /** @type {const} */ ([
  ["desktop", DESKTOP, "Pacific/Kiritimati", "en"],
  ["phone", PHONE, "America/St_Johns", "de"],
])) {
  test(`moments are told in the time of whoever reads (${name})`, async () => {
    const { name: player } = await somebody();
    const plain = await browser.visitor(arena.url, { ...form, javaScriptEnabled: false });
    await plain.goto(`/player/${player}`);
    const first = plain.locator(".games-table time").first();
    assert.match((await first.textContent()) ?? "", /\d{4}, \d\d:\d\d UTC$/);
    const at = (await first.getAttribute("datetime")) ?? "";
    const page = await browser.visitor(arena.url, { ...form, timezoneId: zone, locale });
    await page.goto(`/player/${player}`);
    const told = page.locator(`.games-table time[datetime="${at}"][title]`).first();
    await told.waitFor({ state: "attached" });
    const words = (await told.textContent()) ?? "";
    const there = new Date(at).toLocaleTimeString("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit" });
    assert.ok(words.endsWith(there) && !words.includes("UTC"), `${at} is ${there} there, not ${words}`);
    assert.match((await told.getAttribute("title")) ?? "", /UTC$/);
    await assertGood(page, "a page with moments");
  });
}

test("what a person did is told by days", async () => {
  const [one, two] = [await browser.visitor(arena.url, DESKTOP), await browser.visitor(arena.url, PHONE)];
  await signUp(one, "Active");
  await signUp(two, "Opponent");
  const pages = await pair(one, two);
  await playMoves(pages, "1212121");
  await one.waitForSelector("#game[data-status=over]");
  const { items } = await (await fetch(`${arena.url}/api/v1/players/Active/activity`)).json();
  assert.equal(items.length, 1);
  assert.deepEqual([items[0].opponents, items[0].played.length, items[0].played[0].sort], [1, 1, "rated"]);
  for (const page of [one, two]) {
    await page.goto("/player/Active");
    const day = page.locator("#activity .activity > li");
    assert.equal(await day.count(), 1);
    const words = (await day.innerText()).replaceAll("\n", " ");
    assert.match(words, /one opponent.*Rated · 7 × 6.*1 (won|lost).*→/);
    await assertGood(page, "a page with activity");
  }
  await one.goto("/player/negamax-2");
  assert.equal(await one.locator("#activity").count(), 0, "a bot plays all day");
});
