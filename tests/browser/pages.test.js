// Every page in both colours, on a desk and on a phone: accessible by axe's rules, without complaints, not wider than
// the screen. `npm run sheets` makes pictures of all for the eye.

import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP } from "./support/browser.js";
import { clickColumn, gameId, playOut, signUp, startBotGame } from "./support/game.js";
import { LOOKS, assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena({ ladder: true, learning: false });
const browser = new Browser();
let finishedGame = "";

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
  const page = await browser.visitor(arena.url);
  await startBotGame(page);
  finishedGame = gameId(page);
  await playOut(page, clickColumn);
  await page.context().close();
});
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest(/status of 404/));

/** @type {Record<string, (page: Page) => Promise<unknown>>} */
const PAGES = {
  lobby: (page) => page.goto("/"),
  tv: async (page) => {
    await page.goto("/tv");
    // If nothing is played just now, the page loads itself anew with the next game.
    await page.waitForSelector("#game[data-ply]");
  },
  finished: (page) => page.goto(`/game/${finishedGame}`),
  leaderboard: (page) => page.goto("/leaderboard"),
  "leaderboard-people": (page) => page.goto("/leaderboard?list=people"),
  bots: (page) => page.goto("/bots"),
  player: async (page) => {
    await page.goto("/bots");
    await page.click("#main .player");
  },
  wall: async (page) => {
    await page.goto("/wall");
    await page.waitForSelector(".watched[data-ply]");
  },
  puzzles: (page) => page.goto("/puzzles"),
  "puzzle-of-the-day": (page) => page.goto("/puzzles/daily"),
  "puzzle-wrong": async (page) => {
    await page.goto("/puzzle/p4dwektmp");
    await page.waitForSelector('#puzzle[data-status="open"]');
    await page.keyboard.press("1");
    await page.waitForSelector('#puzzle[data-status="wrong"]');
  },
  "sign-in": (page) => page.goto("/account"),
  rules: (page) => page.goto("/rules"),
  settings: (page) => page.goto("/settings"),
  studies: (page) => page.goto("/studies"),
  "study-new": (page) => page.goto("/study/new"),
  docs: (page) => page.goto("/docs"),
  protocol: (page) => page.goto("/docs/protocol"),
  missing: (page) => page.goto("/game/nothing"),
  "bot-dialog": async (page) => {
    await page.goto("/");
    await page.click("#choose-bot");
  },
  invite: (page) => page.goto("/invite"),
  "invite-dialog": async (page) => {
    await page.goto("/");
    await page.click("#make-link");
    await page.check('#invite-dialog [value="own"]');
    await page.selectOption('#invite-dialog [name="invite-opening"]', "given");
  },
  invitation: async (page) => {
    await page.goto("/");
    await page.click("#make-link");
    await page.click("#send-invite");
    await page.waitForSelector("#invite-url");
  },
  share: async (page) => {
    await page.goto(`/game/${finishedGame}`);
    await page.click(".actions >> text=Share");
  },
  playing: async (page) => {
    await startBotGame(page);
    await page.keyboard.press("4");
    await page.waitForSelector('#game[data-turn="yours"][data-ply="2"], #game[data-status="over"]');
  },
};

test("a page that comes in the dark is good as well", async () => {
  const page = await browser.visitor(arena.url, { ...DESKTOP, colorScheme: "dark", reducedMotion: "reduce" });
  await page.goto(`/game/${finishedGame}`);
  await page.waitForSelector('html[data-connection="open"]');
  await assertGood(page, "a game that comes in the dark", "contrast");
});

for (const { size, viewport, rules } of LOOKS) {
  test(`every page is good, ${size}`, async () => {
    const page = await browser.visitor(arena.url, { ...viewport, reducedMotion: "reduce" });
    for (const [name, open] of Object.entries(PAGES)) {
      await open(page);
      await page.waitForSelector('html[data-connection="open"]');
      await assertGood(page, name, rules);
    }
    for (const [name, path] of Object.entries({ embed: `/embed/${finishedGame}`, offline: "/offline" })) {
      await page.goto(path);
      await assertGood(page, name, rules);
    }
    await page.context().close();
    const owner = await browser.visitor(arena.url, { ...viewport, reducedMotion: "reduce" });
    await signUp(owner, `own-${size}`);
    await owner.fill("#bot-name", `b-${size}`);
    await owner.click("#create-bot button[type=submit]");
    await owner.waitForSelector("#token:not([hidden])");
    await assertGood(owner, "account", rules);
  });
}
