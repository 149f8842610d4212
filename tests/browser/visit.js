// Visits a fresh server as a newcomer would, by mouse, by touch on a phone and by keyboard: the first disc, a game to its
// end against three levels with moves as good as the solver's, and a friend who comes by a link. Says how many presses and
// seconds each took. `npm run visit -- mouse touch keyboard`, with FOURFOLD_BIN naming the binary; without words, all three.

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { atGame, clickColumn, gameId, headline, myTurn, ply, reached } from "./support/game.js";

/** @typedef {import("playwright-core").Page} Page */

const LEVELS = [1, 3, 8];
/** Presses after which something cannot be reached by the keyboard. */
const TABS_MAX = 120;
/** Where the solver is busy, the middle is a good move. */
const BY_HABIT = [4, 3, 5, 2, 6, 1, 7];
/** How long to let a busy solver be, in milliseconds, and how often. */
const WAIT_MS = 1_000;
const WAITS_MAX = 30;
/** How long a game may take, in milliseconds. */
const GAME_MS = 600_000;

const arena = await new Arena().start();
const browser = await new Browser().start();

/** Somebody who presses what they see, and counts it. */
class Visitor {
  presses = 0;
  #since = performance.now();

  /** @param {string} way @param {Page} page */
  constructor(way, page) {
    this.way = way;
    this.page = page;
  }

  /** @param {string} way @param {import("playwright-core").BrowserContextOptions} [more] */
  static async arrive(way, more = {}) {
    const page = await browser.visitor(arena.url, { ...(way === "touch" ? PHONE : DESKTOP), ...more });
    // As fast as a person plays: tests set another pace.
    await page.addInitScript(() => localStorage.setItem("settings", "{}"));
    return new Visitor(way, page);
  }

  start() {
    this.presses = 0;
    this.#since = performance.now();
  }

  get seconds() {
    return (performance.now() - this.#since) / 1_000;
  }

  /** Presses a button, or chooses one of several. @param {string} selector */
  async press(selector) {
    if (this.way === "keyboard") return this.#byKeys(selector);
    const target = this.page.locator(selector).first();
    // What one chooses by a dot is pressed at its words.
    const isDot = await target.evaluate((element) => element instanceof HTMLInputElement && element.type === "radio");
    const pressed = isDot ? target.locator("xpath=..") : target;
    await (this.way === "touch" ? pressed.tap() : pressed.click());
    this.presses += 1;
  }

  /** @param {string} selector */
  async #byKeys(selector) {
    const { keyboard } = this.page;
    const here = () => this.page.evaluate((wanted) => {
      const element = document.activeElement;
      if (element?.matches(wanted)) return element instanceof HTMLInputElement && element.checked ? "chosen" : "here";
      const target = document.querySelector(wanted);
      const isGroup = element instanceof HTMLInputElement && target instanceof HTMLInputElement && element.type === "radio";
      return isGroup && element.name === target.name ? "beside" : "elsewhere";
    }, selector);
    for (let presses = 0; presses < TABS_MAX; presses += 1) {
      const where = await here();
      if (where === "chosen") return;
      const key = { here: "Enter", beside: "ArrowRight", elsewhere: "Tab" }[where];
      await keyboard.press(key);
      this.presses += 1;
      if (where === "here") return;
    }
    throw new Error(`${selector} cannot be reached by the keyboard`);
  }

  /** @param {number} column */
  async drop(column) {
    this.presses += 1;
    if (this.way === "keyboard") return this.page.keyboard.press(String(column));
    if (this.way === "mouse") return clickColumn(this.page, column);
    const box = await this.page.locator(`.columns button[data-column="${column}"]`).boundingBox();
    if (!box) throw new Error(`column ${column} is not on the screen`);
    await this.page.touchscreen.tap(box.x + box.width / 2, box.y + box.height / 2);
  }

  /** Plays the game that is open to its end. */
  async playOut() {
    const until = performance.now() + GAME_MS;
    while ((await myTurn(this.page)) && performance.now() < until) {
      const before = await ply(this.page);
      await this.drop(await good(gameId(this.page)));
      await reached(this.page, before + 1);
    }
    return `${await headline(this.page)} after ${await ply(this.page)} moves`;
  }
}

/** A best column of the position in a game. @param {string} game */
async function good(game) {
  const { moves } = await (await fetch(`${arena.url}/api/v1/games/${game}`)).json();
  const ask = () => fetch(`${arena.url}/api/v1/positions/${moves || "-"}`);
  let answer = await ask();
  for (let waits = 0; answer.status === 503 && waits < WAITS_MAX; waits += 1) {
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    answer = await ask();
  }
  const { legal, best } = answer.ok ? await answer.json() : { legal: BY_HABIT, best: null };
  const fits = (/** @type {number} */ column) => (best ?? legal).includes(column);
  return BY_HABIT.find(fits) ?? legal[0];
}

/** @param {string} way @param {string} what @param {Visitor} visitor @param {string} [how] */
function tell(way, what, visitor, how = "") {
  console.log(way.padEnd(9), what.padEnd(30), String(visitor.presses).padStart(7), visitor.seconds.toFixed(1).padStart(8), "", how);
}

/** @param {Page} page */
const open = (page) => page.waitForSelector('html[data-connection="open"]');

/** From the address typed in to the first disc that the arena has acknowledged. @param {string} way */
async function firstDisc(way) {
  const visitor = await Visitor.arrive(way);
  visitor.start();
  await visitor.page.goto("/");
  await open(visitor.page);
  await visitor.press("#play-next");
  await atGame(visitor.page);
  await myTurn(visitor.page);
  await visitor.drop(4);
  await reached(visitor.page, 1);
  tell(way, "first visit to first disc", visitor);
  await visitor.page.context().close();
}

/** @param {string} way @param {number} level */
async function against(way, level) {
  const visitor = await Visitor.arrive(way);
  await visitor.page.goto("/");
  await open(visitor.page);
  visitor.start();
  const card = `.rival-shelf li:nth-child(${level}) .rival-card`;
  const name = await visitor.page.textContent(`${card} strong`);
  await visitor.press(card);
  await visitor.press('#bot-dialog input[name="side"][value="first"]');
  await visitor.press("#start-bot");
  await atGame(visitor.page);
  const how = await visitor.playOut();
  tell(way, `level ${level}, ${name}`, visitor, how);
  await visitor.page.context().close();
}

/** One invites, the other opens the link and sees the game for the first time. @param {string} way */
async function friend(way) {
  const [host, guest] = [await Visitor.arrive(way), await Visitor.arrive(way)];
  await host.page.goto("/");
  await open(host.page);
  host.start();
  await host.press("#make-link");
  await host.press("#send-invite");
  const link = await host.page.inputValue("#invite-url");
  tell(way, "an invitation's link", host);
  guest.start();
  await guest.page.goto(link);
  await open(guest.page);
  await guest.press("[data-accept]");
  await Promise.all([atGame(host.page), atGame(guest.page)]);
  const isFirst = (await guest.page.getAttribute("#game", "data-you")) === "first";
  if (!isFirst) {
    await myTurn(host.page);
    await host.drop(4);
  }
  await myTurn(guest.page);
  const before = await ply(guest.page);
  await guest.drop(3);
  await reached(guest.page, before + 1);
  tell(way, "a friend's link to first disc", guest);
  await Promise.all([host, guest].map(({ page }) => page.context().close()));
}

const named = process.argv.slice(2);
const ways = named.length ? named : ["mouse", "touch", "keyboard"];
console.log("by        what                           presses  seconds");
try {
  for (const way of ways) {
    await firstDisc(way);
    for (const level of LEVELS) await against(way, level);
    await friend(way);
  }
  await browser.endOfTest();
} finally {
  await Promise.all([browser.stop(), arena.stop()]);
}
