// Watching: the wall of boards, the frame with the best game, what goes on when games end.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP } from "./support/browser.js";
import { atGame, myTurn, reached, startBotGame } from "./support/game.js";
import { pair, playMoves } from "./support/people.js";

const arena = new Arena();
const browser = new Browser();

before(() => Promise.all([arena.start(), browser.start()]));
after(() => Promise.all([browser.stop(), arena.stop()]));
afterEach(() => browser.endOfTest());

/** @param {number} n */
const visitors = (n) => Promise.all(Array.from({ length: n }, () => browser.visitor(arena.url)));

test("the wall shows games as they are played, new ones too, on one connection", async () => {
  const watcher = await browser.visitor(arena.url, DESKTOP);
  let sockets = 0;
  watcher.on("websocket", () => (sockets += 1));
  await watcher.goto("/wall");
  await watcher.waitForSelector('html[data-connection="open"]');
  assert.equal(await watcher.isVisible("#wall-empty"), true);

  const players = await visitors(4);
  const one = await pair(players[0], players[1]);
  await watcher.waitForSelector(`.watched[data-game="${one.id}"]`);
  assert.equal(await watcher.isVisible("#wall-empty"), false);
  const two = await pair(players[2], players[3]);
  await watcher.waitForSelector(`.watched[data-game="${two.id}"]`);

  await playMoves(one, "44");
  await playMoves(two, "123");
  await watcher.waitForSelector(`.watched[data-game="${one.id}"][data-ply="2"]`);
  await watcher.waitForSelector(`.watched[data-game="${two.id}"][data-ply="3"]`);
  assert.equal(sockets, 1);
  // What the position is worth for certain stands under the board, once it is known.
  await watcher.waitForSelector(`.watched[data-game="${two.id}"] .truth-bar[data-ply="3"]:not(.old)`);
  const certain = await watcher.textContent(`.watched[data-game="${two.id}"] .truth-words`);
  assert.match(certain ?? "", /wins in|draw/i);

  // Whatever begins and ends, the places stay where they are, and as large as they are.
  const places = () =>
    watcher.$$eval(".watched", (boards) => boards.map((board) => JSON.stringify(board.getBoundingClientRect())));
  const before = await places();
  assert.equal(before.length, 4, "a row of them");
  await one.first.click("text=Resign");
  await one.first.click("text=Really resign?");
  await watcher.waitForSelector(`.watched[data-game="${one.id}"][data-status="over"]`);
  await watcher.waitForSelector(`.watched[data-game="${one.id}"][data-free]`);
  const [anna, boris] = await visitors(2);
  const three = await pair(anna, boris);
  await watcher.waitForSelector(`.watched[data-game="${three.id}"]`);
  assert.deepEqual(await places(), before);
  assert.equal(await watcher.locator(`.watched[data-game="${one.id}"]`).count(), 1, "the end is still to be seen");
});

test("a game of the lobby keeps its place until it goes", async () => {
  const quiet = new Arena({ store: true });
  await quiet.start();
  try {
    const [watcher, ...players] = await Promise.all([1, 2, 3, 4, 5].map(() => browser.visitor(quiet.url)));
    await watcher.goto("/");
    await watcher.waitForSelector('html[data-connection="open"]');
    const tiles = () => watcher.$$eval("#games .game-tile", (all) => all.map((tile) => tile.getAttribute("data-game")));
    const one = await pair(players[0], players[1]);
    const two = await pair(players[2], players[3]);
    for (const { id } of [one, two]) await watcher.waitForSelector(`.game-tile[data-game="${id}"], #feature-link[href$="${id}"]`);
    const before = await tiles();
    // One of them may be on the large board.
    const seen = [one, two].find(({ id }) => before.includes(id));
    assert.ok(seen, String(before));
    await playMoves(seen, "44");
    await seen.first.click("text=Resign");
    await seen.first.click("text=Really resign?");
    await watcher.waitForSelector(`.game-tile[data-game="${seen.id}"]:not(:has(.badge.live))`);
    const after = await tiles();
    assert.deepEqual(after, before, "where it was it ended, and nothing else moved");
    await Promise.all([watcher, ...players].map((page) => page.context().close()));
  } finally {
    await quiet.stop();
  }
});

test("a page with script loaded later shows the wall's games from the start", async () => {
  const [player, watcher] = await visitors(2);
  await startBotGame(player);
  const html = await (await watcher.request.get("/wall")).text();
  assert.match(html, new RegExp(`data-game="${await atGame(player)}"`));
});

test("the frame with the best game follows the moves", async () => {
  // An arena of its own: while a game goes on, the frame stays with it, whatever begins beside it.
  const quiet = new Arena();
  await quiet.start();
  try {
    const [player, watcher] = await Promise.all([1, 2].map(() => browser.visitor(quiet.url)));
    await startBotGame(player);
    assert.equal(await myTurn(player), true);
    await watcher.goto("/embed/tv");
    await watcher.waitForSelector(".watched[data-ply]");
    await player.keyboard.press("4");
    await reached(player, 2);
    await watcher.waitForFunction(() => Number(document.querySelector(".watched")?.getAttribute("data-ply")) >= 1);
    await watcher.waitForSelector(".watched .truth-bar[data-ply]:not(.old)");
    await Promise.all([player, watcher].map((page) => page.context().close()));
  } finally {
    await quiet.stop();
  }
});

test("whoever has a face has it on the wall, in tiles and on the screen, by the name that people know", async () => {
  // Its own arena, where no other game of people goes on.
  const quiet = new Arena();
  await quiet.start();
  try {
    const [player, watcher] = await Promise.all([1, 2].map(() => browser.visitor(quiet.url)));
    await startBotGame(player);
    const id = await atGame(player);
    const html = await (await watcher.request.get("/wall")).text();
    assert.match(html, new RegExp(`data-game="${id}"[^]*class="face"[^]*Dizzy`), "from the start");
    await watcher.goto("/wall");
    const seat = watcher.locator(`.watched[data-game="${id}"] .player:has(.face)`);
    assert.match((await seat.textContent()) ?? "", /Dizzy/);
    await watcher.goto("/tv?channel=people");
    await watcher.waitForSelector("#game[data-ply] .seat-bar .face");
    assert.equal(await watcher.textContent('.segments [aria-current="page"]'), "People");
    await watcher.goto("/tv?channel=bots");
    assert.equal(await watcher.locator(`#game[data-game="${id}"]`).count(), 0, "no game of people");
    await Promise.all([player, watcher].map((page) => page.context().close()));
  } finally {
    await quiet.stop();
  }
});

test("a frame looks as the page around it asks, whatever its visitor has chosen", async () => {
  const [player] = await visitors(1);
  await startBotGame(player);
  const id = await atGame(player);
  await player.goto(`/embed/${id}?theme=dark&theme=walnut&theme=nothing`);
  await player.waitForSelector(".watched[data-ply]");
  assert.deepEqual(await player.evaluate(() => ({ ...document.documentElement.dataset })).then(({ theme, board }) => [theme, board]), ["dark", "walnut"]);
});

test("a question mark lists the keys, and so does the link at the foot", async () => {
  const [page] = await visitors(1);
  await page.goto("/rules");
  await page.waitForSelector('html[data-connection="open"]');
  await page.keyboard.press("?");
  assert.match((await page.textContent("dialog.keys")) ?? "", /drop a disc into this column/);
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog.keys", { state: "detached" });
  await page.click("#show-keys");
  await page.waitForSelector("dialog.keys[open]");
});
