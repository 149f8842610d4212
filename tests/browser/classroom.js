// A lesson as a teacher has it: pupils join by the code on the wall, an arena goes on for minutes while three of them sit at real
// pages and the others are scripts in theirs, and the results are taken home. `npm run classroom`, with FOURFOLD_BIN naming the
// binary; PUPILS and MINUTES say how many and how long, OUT where pictures and results go.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { myTurn, openColumns, ply, reached, signUp } from "./support/game.js";

/** @typedef {import("playwright-core").Page} Page */

const PUPILS = Number(process.env.PUPILS ?? 30);
const MINUTES = Number(process.env.MINUTES ?? 10);
const OUT = process.env.OUT ?? "classroom";
/** Pupils at real pages; a screen of the class's wall is one more. */
const AT_PAGES = 3;
/** How long a pupil thinks, at least and at most, in milliseconds. */
const THINKING_MS = [500, 3_000];

mkdirSync(OUT, { recursive: true });
const arena = await new Arena().start();
const browser = await new Browser().start();
const picture = (/** @type {Page} */ page, /** @type {string} */ name) => page.screenshot({ path: join(OUT, `${name}.png`), fullPage: true });

const teacher = await browser.visitor(arena.url, DESKTOP);
await signUp(teacher, "MissHoney");
await teacher.goto("/class");
await teacher.click("#open-class");
await teacher.waitForURL(/\/class\/[A-Z0-9]{6}$/);
const code = (await teacher.innerText(".class-code")).trim();

/** Joins as a pupil does. @param {string} name */
async function pupilAtPage(name) {
  const page = await browser.visitor(arena.url, PHONE);
  await page.goto("/class");
  await page.fill("#class-code", code.toLowerCase());
  await page.fill("#pupil-name", name);
  await page.click("#join button[type=submit]");
  await page.waitForURL(`**/class/${code}`);
  await page.waitForSelector("#seat");
  return page;
}

/** Joins by the interface, and answers every turn with a column by chance. @param {string} name */
async function scriptedPupil(name) {
  const page = await browser.visitor(arena.url, DESKTOP);
  await page.goto("/rules");
  await page.evaluate(
    async ({ code, name, thinking: [least, most] }) => {
      const answer = await fetch(`/api/v1/classes/${code}/pupil`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name }),
      });
      if (!answer.ok) throw new Error(`${name} may not join: ${answer.status} ${await answer.text()}`);
      const connect = () => {
        const socket = new WebSocket(`${location.origin.replace("http", "ws")}/api/v1/socket`, "fourfold.v1");
        const send = (/** @type {object} */ message) => socket.readyState === 1 && socket.send(JSON.stringify(message));
        socket.onopen = () => send({ type: "hello", protocol: 1, client: { name: "pupil", version: "1" } });
        socket.onclose = () => setTimeout(connect, 1_000);
        socket.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          if (message.type !== "turn") return;
          const { game, ply, legal } = message;
          const column = legal[Math.floor(Math.random() * legal.length)];
          setTimeout(send, least + Math.random() * (most - least), { type: "move", game, ply, column });
        };
      };
      connect();
    },
    { code, name, thinking: THINKING_MS },
  );
}

/** Plays whatever game the class takes the page to, until the class does not go on. @param {Page} page @param {() => boolean} isOver */
async function playAtPage(page, isOver) {
  let moves = 0;
  while (!isOver()) {
    const isPlaying = await page.waitForURL(/\/game\/\w+$/, { timeout: 5_000 }).then(() => true, () => false);
    if (!isPlaying || isOver()) continue;
    try {
      await page.waitForSelector("#game[data-turn]", { state: "attached" });
      while (await myTurn(page)) {
        const columns = await openColumns(page);
        const before = await ply(page);
        await page.waitForTimeout(THINKING_MS[0]);
        await page.click(`.columns button[data-column="${columns[Math.floor(Math.random() * columns.length)]}"]`);
        await reached(page, before + 1);
        moves += 1;
      }
    } catch (error) {
      // A page is taken to the next game while it looks at the one before.
      if (!isOver() && !/navigation|destroyed|Timeout/.test(String(error))) throw error;
    }
    await page.waitForTimeout(500);
  }
  return moves;
}

const began = Date.now();
const pages = [];
for (let number = 1; number <= AT_PAGES; number += 1) pages.push(await pupilAtPage(`Page${number}`));
for (let number = AT_PAGES + 1; number <= PUPILS; number += 1) await scriptedPupil(`Pupil${number}`);
await teacher.waitForFunction((pupils) => document.querySelectorAll("#class-table tbody tr").length === pupils, PUPILS);
console.log(`${PUPILS} pupils have joined in ${Math.round((Date.now() - began) / 1_000)} s`);
await picture(teacher, "1-joined");
await picture(pages[0], "1-seat");

await teacher.selectOption("#class-minutes", String(MINUTES));
await teacher.click('[data-do="arena"]');
const end = Date.now() + MINUTES * 60_000;
let isOver = false;
const playing = pages.map((page) => playAtPage(page, () => isOver));
await teacher.waitForFunction((games) => document.querySelectorAll("#class-boards .game-tile").length >= games, Math.floor(PUPILS / 2) - 2);
await picture(teacher, "2-first-games");
await teacher.waitForTimeout(Math.max(0, (end - Date.now()) / 2));
await picture(teacher, "3-half-time");
await teacher.setViewportSize({ width: 1920, height: 1080 });
await picture(teacher, "3-half-time-on-the-wall");
await teacher.setViewportSize(DESKTOP.viewport);
await Promise.all(pages.map((page, index) => picture(page, `3-page-${index + 1}`)));
await teacher.waitForTimeout(Math.max(0, end - Date.now()));
// Games that began in time are played to their end.
await teacher.waitForFunction(() => document.querySelectorAll("#class-boards .game-tile").length === 0, null, { timeout: 300_000 });
isOver = true;
const moves = await Promise.all(playing);
await picture(teacher, "4-results");
await picture(pages[0], "4-seat");

const [download] = await Promise.all([teacher.waitForEvent("download"), teacher.click("a[download]")]);
const results = join(OUT, "results.csv");
await download.saveAs(results);
const rows = await teacher.$$eval("#class-table tbody tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent?.trim() ?? "")));
for (const row of rows) console.log(row.join(" | "));
const played = rows.map((row) => (row[3].match(/\d+/g) ?? []).map(Number).reduce((sum, games) => sum + games, 0));
console.log(`games a pupil: ${Math.min(...played)} to ${Math.max(...played)}, ${played.reduce((sum, games) => sum + games, 0) / 2} in all; moves at the pages: ${moves.join(", ")}`);
assert.equal(rows.length, PUPILS);
assert.ok(Math.min(...played) > 0, "everybody has played");
assert.ok(Math.min(...moves) > 0, "pages too");
await browser.stop();
await arena.stop();
