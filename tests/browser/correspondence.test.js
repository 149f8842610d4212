// A game with days for each move: its link, the page of one's own games, the number in the header, a restart.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { clickColumn, signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";
import { inviteByLink, playMoves } from "./support/people.js";

/** @typedef {import("playwright-core").Page} Page */

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
// A page that has lost the daemon tries again until it is back.
afterEach(() => browser.endOfTest(/ERR_CONNECTION|fetching the script|status of 422/));

/** @param {Page} page */
const open = (page) => page.waitForSelector('html[data-connection="open"]');

/**
 * Both players at the board, the one who moves first before the other.
 * @param {Page} one
 * @param {Page} other
 */
async function inOrder(one, other) {
  return (await one.getAttribute("#game", "data-you")) === "first" ? [one, other] : [other, one];
}

test("two people play with a week for each move, and the game outlives the daemon", async () => {
  const ada = await browser.visitor(arena.url, DESKTOP);
  await ada.goto("/correspondence");
  assert.equal(await ada.getAttribute("#main .card a", "href"), "/account", "it takes an account");
  await signUp(ada, "Ada");
  await ada.goto("/");
  await ada.click("#quick >> text=Days for each move");
  await ada.waitForSelector("#none");
  await open(ada);
  await ada.click("#make-link");
  await ada.selectOption('[name="invite-days"]', "604800000");
  await ada.click("#send-invite");
  const link = new URL(await ada.inputValue("#invite-url")).pathname;
  await assertGood(ada, "the page of games by correspondence with a link");

  const guest = await browser.visitor(arena.url, PHONE);
  await guest.goto(link);
  assert.match(await guest.innerText("#challenge"), /7 days a move[^]*an account/);
  assert.equal(await guest.locator("[data-accept]").count(), 0);
  await signUp(guest, "Bob");
  const bob = guest;
  await bob.goto(link);
  await open(bob);
  await bob.click("[data-accept]");
  await bob.waitForURL("**/game/*");
  await ada.waitForSelector(".game-tile");
  assert.match(await ada.innerText(".game-tile"), /6 days left · 7 days a move/);
  assert.equal(await ada.locator(".toast").count(), 0, "nobody is called to the board");

  await ada.goto(new URL(bob.url()).pathname);
  await open(ada);
  const [first, second] = await inOrder(ada, bob);
  await first.waitForFunction(() => document.querySelector("#open-turns")?.textContent === "1");
  assert.match(await first.innerText("#game"), /(7 d 0|6 d 23) h[^]*(7 d 0|6 d 23) h/);
  assert.doesNotMatch(await first.innerText("#game"), /called off/, "nobody is hurried");
  await clickColumn(first, 4);
  await second.waitForFunction(() => document.querySelector("#open-turns")?.textContent === "1");
  await first.waitForSelector("#open-turns", { state: "hidden" });
  assert.equal(await second.getAttribute("#open-turns", "aria-label"), "Your turn in 1 game by correspondence");

  await arena.crashAndRestart();
  await second.goto("/correspondence");
  await second.waitForSelector("#my-turn .game-tile");
  await assertGood(second, "one's own games by correspondence");
  await second.click("#take-vacation button");
  assert.match((await second.textContent("#vacation-until")) ?? "", /^Your clocks stand until \d+ \w+ \d{4}, /);
  assert.match(await second.innerText(".vacation"), /21 days are left/);
  await second.click("#my-turn .game-tile");
  await open(second);
  await second.waitForSelector("text=The clock stands: whoever is to move is on vacation.");
  await second.goBack();
  await second.click("#end-vacation");
  await second.waitForSelector("#take-vacation");
  await second.click("#my-turn .game-tile");
  await open(second);
  await second.waitForFunction(() => document.querySelector("#open-turns")?.textContent === "1");
  await clickColumn(second, 4);
  await first.goto("/correspondence");
  await first.waitForSelector("#my-turn .game-tile");
  await first.goto("/");
  await first.waitForSelector("#quick");
  assert.equal(await first.locator("#games .game-tile").count(), 0, "it is no game that anybody watches");
});

test("who gives up by correspondence sees another rating move", async () => {
  const cleo = await browser.visitor(arena.url, DESKTOP);
  await signUp(cleo, "Cleo");
  await cleo.goto("/correspondence");
  await open(cleo);
  const link = new URL(await inviteByLink(cleo)).pathname;
  const dan = await browser.visitor(arena.url, DESKTOP);
  await signUp(dan, "Dan");
  await dan.goto(link);
  await open(dan);
  await dan.click("[data-accept]");
  await dan.waitForURL("**/game/*");
  await cleo.goto(new URL(dan.url()).pathname);
  await Promise.all([open(cleo), open(dan)]);
  const [first, second] = await inOrder(cleo, dan);
  await playMoves({ first, second }, "4445536");
  const name = second === cleo ? "Cleo" : "Dan";
  await second.click(".actions >> text=Resign");
  await second.click(".actions >> text=Really resign?");
  await second.waitForSelector("text=It counts for the rating by correspondence.");
  await second.goto(`/player/${name}`);
  assert.match(await second.innerText("#main"), /By correspondence, 7x6\s+730\?/);
});

test("an offer to everybody stands in the list, is withdrawn, and is taken by a press", async () => {
  const eve = await browser.visitor(arena.url, DESKTOP);
  await signUp(eve, "Eve");
  await eve.goto("/correspondence");
  await open(eve);
  const offer = async () => {
    await open(eve);
    await eve.click("#make-link");
    await eve.check('[name="invite-listed"]');
    assert.equal((await eve.innerText("#send-invite")).trim(), "Put it on the list");
    await eve.click("#send-invite");
    await eve.waitForSelector("[data-withdraw]");
  };
  await offer();
  await assertGood(eve, "one's own offer in the list");
  await open(eve);
  await eve.click("[data-withdraw]");
  await eve.waitForSelector("text=Nobody offers a game to everybody at the moment.");
  await offer();

  const stranger = await browser.visitor(arena.url, PHONE);
  await stranger.goto("/correspondence");
  assert.match(await stranger.innerText(".open-offers"), /Eve[^]*3 days a move · Rated · Colours by lot/);
  assert.equal(await stranger.locator("[data-take]").count(), 0);
  await signUp(stranger, "Finn");
  const finn = stranger;
  await finn.goto("/correspondence");
  await open(finn);
  await assertGood(finn, "somebody else's offer in the list");
  await finn.click("[data-take]");
  await finn.waitForURL("**/game/*");
  await eve.waitForSelector(".game-tile");
  assert.equal(await eve.locator("[data-withdraw]").count(), 0);
});

test("what somebody says in advance is played at once, and stands over a crash", async () => {
  const [ada, bob] = await Promise.all([browser.visitor(arena.url, DESKTOP), browser.visitor(arena.url, PHONE)]);
  await Promise.all([signUp(ada, "Cora"), signUp(bob, "Dora")]);
  await ada.goto("/correspondence");
  await open(ada);
  await bob.goto(new URL(await inviteByLink(ada)).pathname);
  await open(bob);
  await bob.click("[data-accept]");
  await bob.waitForURL("**/game/*");
  await ada.goto(new URL(bob.url()).pathname);
  await Promise.all([open(ada), open(bob)]);
  const [first, second] = await inOrder(ada, bob);
  await first.waitForSelector("#conditional", { state: "hidden" });
  await second.waitForSelector("#conditional");
  /** @param {string} they @param {string} me */
  const say = async (they, me) => {
    await second.selectOption("#conditional-they", they);
    await second.selectOption("#conditional-me", me);
    await second.click("#conditional-add button[type=submit]");
  };
  await say("4", "4");
  await second.click("#conditional-lines >> text=Go on");
  await second.waitForSelector("text=After 4 → 4:");
  await say("3", "5");
  await second.waitForSelector("#conditional-lines >> text=4 → 4, 3 → 5");
  await say("4", "1");
  await second.waitForSelector("#conditional .problem >> text=two lines answer the same in two ways");
  await assertGood(second, "what is answered if the opponent plays so");
  await arena.crashAndRestart();
  await Promise.all([open(first), open(second)]);
  await clickColumn(first, 4);
  await first.waitForSelector('#game[data-ply="2"]');
  await second.waitForSelector("#conditional-lines >> text=3 → 5");
  await clickColumn(first, 3);
  await first.waitForSelector('#game[data-ply="4"]');
  await second.waitForFunction(() => !document.querySelector("#conditional-lines li"));
});
