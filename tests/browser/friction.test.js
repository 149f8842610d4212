// What visitors once stumbled over and no other file tries: one test for each.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { startBotGame } from "./support/game.js";
import { pair, playMoves, toLobby } from "./support/people.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena({ store: true });
const browser = new Browser();
/** The smallest phone that is common. */
const SMALL = { ...PHONE, viewport: { width: 360, height: 740 } };
/** How long live pages are watched, in milliseconds: on a busy machine some games begin and end meanwhile. */
const WATCH_MS = 15_000;

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/**
 * @param {Page} page
 * @param {string} selector
 */
async function box(page, selector) {
  const found = await page.locator(selector).first().boundingBox();
  assert.ok(found, `${selector} is there`);
  return { ...found, right: found.x + found.width, bottom: found.y + found.height };
}

/** @typedef {Awaited<ReturnType<typeof box>>} Box */

/** @param {Box} a @param {Box} b */
const overlap = (a, b) => a.x < b.right && b.x < a.right && a.y < b.bottom && b.y < a.bottom;

for (const locale of ["en", "de", "fr"]) {
  test(`the first screen of a small phone has whoever waits and every way to play, ${locale}`, async () => {
    const [una, vic] = await Promise.all([browser.visitor(arena.url), browser.visitor(arena.url, { ...SMALL, locale })]);
    await toLobby(vic);
    const places = () => Promise.all(["#play-next", "#choose-bot", "#play-now", "#make-link", '[href="/offline#two"]'].map((way) => box(vic, way)));
    const before = await places();
    await toLobby(una);
    await una.click("#play-now");
    const row = await box(vic, "#seeks li");
    const tabs = await box(vic, ".tabs");
    for (const { bottom } of [row, ...before]) assert.ok(bottom <= tabs.y, `${bottom} is above ${tabs.y}`);
    assert.deepEqual(await places(), before, "nothing moved when somebody came");
  });
}

test("the others who wait are there too, and push nothing that one may press", async () => {
  const [vic, ...others] = await Promise.all([1, 2, 3].map(() => browser.visitor(arena.url, DESKTOP)));
  await toLobby(vic);
  const before = await box(vic, "#play-now");
  for (const [index, page] of others.entries()) {
    await toLobby(page);
    // Two of the same time would play each other.
    await page.locator("#quick .tile").nth(index).click();
    await page.click("#play-now");
  }
  await vic.waitForSelector("#more-seeks li");
  assert.equal(await vic.locator("#seeks li").count(), 1);
  assert.deepEqual(await box(vic, "#play-now"), before);
});

test("on a phone the row of pages shows the one that is open, and the page stays at its top", async () => {
  const page = await browser.visitor(arena.url, { ...PHONE, viewport: { width: 375, height: 700 } });
  for (const path of ["/class", "/learn/glossary", "/docs", "/studies", "/learning", "/bots"]) {
    await page.goto(path);
    await page.waitForSelector("html[data-connection]");
    const here = await box(page, ".subtabs [aria-current]");
    assert.ok(here.x >= 0 && here.right <= 375, `${path}: from ${here.x} to ${here.right}`);
    assert.equal(await page.evaluate(() => scrollY), 0, path);
  }
});

test("how a game is played again is read in full", async () => {
  const page = await browser.visitor(arena.url, { ...PHONE, viewport: { width: 375, height: 700 } });
  await page.goto("/game/wcU6j8b7Sg");
  await page.waitForSelector("#replay:not([hidden])");
  const [own, whole] = await page.$eval("#replay-pace", (select) => {
    const copy = /** @type {HTMLElement} */ (select.cloneNode(true));
    copy.style.flex = "none";
    select.after(copy);
    return [select, copy].map((each) => each.getBoundingClientRect().width);
  });
  assert.ok(own >= whole, `${own} px of ${whole}`);
});

test("nothing below moves when one looks for somebody and a bot is offered", async () => {
  const page = await browser.visitor(arena.url);
  await toLobby(page);
  assert.equal(await page.isVisible("#nobody-waits"), true);
  const places = async () => [(await box(page, "#feature")).y, (await box(page, ".rivals-section")).y];
  const before = await places();
  await page.click("#play-now");
  await page.waitForSelector("#waiting:not([hidden])");
  assert.deepEqual(await places(), before, "while one waits");
  assert.equal(await page.isVisible("#nobody-waits"), false, "one waits oneself");
  await page.waitForSelector("#bot-offer .primary");
  assert.deepEqual(await places(), before, "with the offer");
});

test("in a game on a phone, what one may do is under the thumb, and the site's parts are back afterwards", async () => {
  const [a, b] = await Promise.all([1, 2].map(() => browser.visitor(arena.url, SMALL)));
  const pages = await pair(a, b);
  await playMoves(pages, "44");
  assert.equal(await a.isVisible(".tabs"), false);
  const actions = await box(a, ".actions");
  assert.equal(Math.round(actions.bottom), 740);
  for (const words of ["Resign", "Take back"]) {
    const button = await box(a, `.actions button:has-text("${words}")`);
    assert.ok(button.y >= actions.y && button.bottom <= actions.bottom && button.height >= 44, `${words}: ${JSON.stringify(button)}`);
  }
  await a.click(".actions >> text=Resign");
  await a.click(".actions >> text=Really resign?");
  await a.waitForSelector('#game[data-status="over"]');
  assert.equal(await a.isVisible(".tabs"), true);
});

test("a reaction rises beside the clock, and neither it nor the word about the connection covers one", async () => {
  const [a, b] = await Promise.all([1, 2].map(() => browser.visitor(arena.url, SMALL)));
  await pair(a, b);
  const clocks = [await box(a, '[data-seat="top"] ff-clock'), await box(a, '[data-seat="bottom"] ff-clock')];
  await b.click(".reactions button >> nth=0");
  await a.waitForSelector(".floating");
  const rising = await box(a, ".floating");
  assert.ok(clocks.every((clock) => !overlap(clock, rising)), "the reaction");
  await a.evaluate(() => {
    const pill = /** @type {HTMLElement} */ (document.querySelector("#connection"));
    pill.textContent = "The connection is lost. Trying again …";
    pill.hidden = false;
  });
  const pill = await box(a, "#connection");
  assert.ok(clocks.every((clock) => !overlap(clock, pill)), "the word about the connection");
});

test("a message that asks nothing is dismissed", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  await page.goto("/docs");
  await page.waitForSelector(".toast >> text=You are playing");
  await page.click(".toast .toast-close");
  await page.waitForSelector(".toast", { state: "detached" });
});

test("the chart of a player's rating fills its card", async () => {
  const page = await browser.visitor(arena.url, { viewport: { width: 1440, height: 900 } });
  await page.goto("/player/memory");
  const [chart, card] = [await box(page, ".chart"), await box(page, ".card:has(.chart)")];
  assert.ok(chart.right >= card.right - 60, `${chart.right} of ${card.right}`);
});

test("no part of a player's page touches the next one", async () => {
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  const other = await browser.visitor(arena.url);
  for (const path of ["/player/random", "/player/adabot", "/player/ada"]) {
    await other.goto(path);
    if (path === "/player/random") assert.equal(await other.isVisible(".live-games .game-tile"), true, "it plays now");
    const gaps = await other.$$eval("#main > :is(.card, .live-games, .figures, .panels)", (parts) => parts.flatMap((part) => {
      const next = part.nextElementSibling;
      if (!next?.matches(".card, .live-games, .figures, .panels, h2")) return [];
      return [{ of: part.id || part.className, gap: next.getBoundingClientRect().top - part.getBoundingClientRect().bottom }];
    }));
    assert.ok(gaps.length > 0 && gaps.every(({ gap }) => gap >= 10), `${path}: ${JSON.stringify(gaps)}`);
  }
});

test("the empty analysis board has an address without a dash", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/analysis");
  await page.waitForSelector('html[data-connection="open"]');
  assert.equal(new URL(page.url()).pathname, "/analysis");
  await page.keyboard.press("4");
  await page.waitForURL("**/analysis/4");
  await page.keyboard.press("ArrowLeft");
  await page.waitForURL("**/analysis");
});

test("documents begin with playing, and what is said of one is not glued to its name", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/docs");
  const heads = await page.$$eval("main .card h2, main .card h3", (all) => all.map((head) => head.textContent?.trim() ?? ""));
  assert.equal(heads[0], "Playing", heads.join(", "));
  assert.ok(heads.every((head) => head.length < 60), heads.join(", "));
});

test("a long document has its parts beside it, each of which is there", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/docs/playing");
  const parts = await page.$$eval(".document-contents a[href^='#']", (links) => links.map((link) => link.getAttribute("href") ?? ""));
  assert.ok(parts.length > 5, parts.join(" "));
  for (const part of parts) assert.equal(await page.locator(`.prose h2${part}`).count(), 1, part);
  const [contents, text] = [await box(page, ".document-contents"), await box(page, ".prose")];
  assert.ok(contents.right <= text.x, "beside, not above");
  const phone = await browser.visitor(arena.url, SMALL);
  await phone.goto("/docs/playing");
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 360);
});

test("every page has what a link to it shows elsewhere, and a picture that is there", async () => {
  const page = await browser.visitor(arena.url);
  for (const path of ["/", "/game/wcU6j8b7Sg", "/puzzles", "/player/memory", "/rules"]) {
    await page.goto(path);
    const shown = await page.$$eval('meta[property^="og:"]', (all) => Object.fromEntries(all.map((one) => [one.getAttribute("property"), one.getAttribute("content")])));
    assert.ok(shown["og:title"] && shown["og:description"], path);
    const picture = await page.request.get(new URL(shown["og:image"] ?? "", page.url()).pathname);
    assert.equal(picture.headers()["content-type"], "image/png", path);
  }
});

test("somebody who never saw the game finds its household name and its rules", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/");
  await page.click(".newcomer a");
  await page.waitForURL("**/rules");
  assert.match((await page.textContent("main")) ?? "", /Connect Four/);
});

test("live pages do not move by themselves, however many games begin and end", async () => {
  const busy = new Arena({ ladder: true, learning: false });
  await busy.start();
  try {
    const paths = ["/", "/wall", "/tv"];
    const pages = await Promise.all(paths.map(() => browser.visitor(busy.url)));
    for (const page of pages) {
      await page.addInitScript(() => {
        const state = { shifts: 0 };
        Object.assign(globalThis, { state });
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => (state.shifts += /** @type {any} */ (entry).value))).observe({ type: "layout-shift", buffered: true });
      });
    }
    await Promise.all(pages.map((page, index) => page.goto(paths[index])));
    await pages[0].waitForTimeout(WATCH_MS);
    for (const [index, page] of pages.entries()) {
      const shifts = await page.evaluate(() => /** @type {any} */ (globalThis).state.shifts);
      console.log(`# ${paths[index]} shifts by ${shifts.toFixed(3)}`);
      assert.ok(shifts < 0.05, `${paths[index]} shifts by ${shifts}`);
    }
    await Promise.all(pages.map((page) => page.context().close()));
  } finally {
    await busy.stop();
  }
});
