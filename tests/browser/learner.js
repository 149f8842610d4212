// All lessons in one sitting, as a beginner has them: every exercise answered wrong once, so that the refutation is seen, then
// right; the practice played to its end against the bot; the progress still there after a reload. On a desktop and on a phone.
// `npm run learner`, with FOURFOLD_BIN naming the binary; OUT says where pictures go, LESSONS takes some lessons only.
// Prints a table, and fails where a learner would be stuck.

import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { myTurn, ply, reached } from "./support/game.js";

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {{ moves: string, task: string, own: number }} Exercise */

const OUT = process.env.OUT ?? "learner";
const CHOSEN = process.env.LESSONS?.split(",");
/** Moves of a person in a practice at most: no board has room for more. */
const MOVES_MAX = 21;

mkdirSync(OUT, { recursive: true });
const arena = await new Arena().start();
const browser = await new Browser().start();

/** What every column of a position is worth to whoever is to move, by the solver. @param {string} moves */
async function position(moves) {
  const url = `${arena.url}/api/v1/positions/${moves || "-"}?variant=7x6`;
  for (;;) {
    const answer = await fetch(url);
    if (answer.ok) return /** @type {{ columns: (number | null)[], best: number[] }} */ (await answer.json());
    if (answer.status !== 503 && answer.status !== 429) throw new Error(`${url}: ${answer.status}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Columns that are right and wrong, as the lesson judges them. @param {string} task @param {string} moves */
async function judged(task, moves) {
  const { columns, best } = await position(moves);
  const open = columns.flatMap((value, index) => (value === null ? [] : [index + 1]));
  const kept = Math.sign(columns[best[0] - 1] ?? 0);
  const isRight = (/** @type {number} */ column) =>
    task === "any" || (task === "fastest" ? best.includes(column) : Math.sign(columns[column - 1] ?? 0) === kept);
  return { right: open.filter(isRight), wrong: open.filter((column) => !isRight(column)) };
}

/** Presses a column as one does in this form. @param {Page} page @param {boolean} byTouch @param {number} column */
async function press(page, byTouch, column) {
  const button = page.locator(`.columns button[data-column="${column}"]`);
  await (byTouch ? button.tap() : button.click());
}

/** @param {Page} page @param {string} status */
const became = (page, status) => page.waitForSelector(`#lesson[data-status="${status}"]`);
/** @param {Page} page */
const stonesOn = (page) => page.locator("ff-board .stones > g").count();

/**
 * Plays on from a lesson, with the solver's moves, so that what the lesson says must come true.
 * @param {Page} page
 * @param {boolean} byTouch
 */
async function practise(page, byTouch) {
  await page.click("#lesson-practice");
  await page.waitForURL(/\/game\/\w+$/);
  await page.waitForSelector("#game[data-turn]", { state: "attached" });
  for (let own = 0; own < MOVES_MAX && (await myTurn(page)); own += 1) {
    const before = await ply(page);
    const game = await (await fetch(`${arena.url}/api/v1/games/${page.url().split("/").pop()}`)).json();
    await press(page, byTouch, (await position(game.moves)).best[0]);
    await reached(page, before + 1);
  }
  return ((await page.textContent(".status-text")) ?? "").trim();
}

/**
 * @param {Page} page
 * @param {{ byTouch: boolean, picture: (name: string) => Promise<unknown>, name: string }} form
 */
async function learn(page, { byTouch, picture, name }) {
  const began = Date.now();
  const row = { lesson: name, exercises: 0, refuted: 0, "no wrong": 0, practice: "", stuck: "", seconds: 0 };
  await page.waitForSelector('html[data-connection="open"] #lesson[data-status="open"]');
  /** @type {Exercise[]} */
  const exercises = JSON.parse((await page.getAttribute("#lesson", "data-exercises")) ?? "[]");
  for (const [place, { task, moves, own }] of exercises.entries()) {
    await became(page, "open");
    await picture(`${name}-${place + 1}-asked`);
    const { wrong } = await judged(task, moves);
    if (wrong.length === 0) row["no wrong"] += 1;
    else {
      await press(page, byTouch, wrong[0]);
      await became(page, "wrong");
      // As many stones as a refutation has, or fewer if the game ends before.
      await page.waitForTimeout(4_200);
      await picture(`${name}-${place + 1}-refuted`);
      row.refuted += (await stonesOn(page)) > moves.length + 1 ? 1 : 0;
      await page.click("#lesson-again");
      await became(page, "open");
    }
    let now = moves;
    for (let step = 0; step < own; step += 1) {
      const [column] = (await judged(task, now)).right;
      await press(page, byTouch, column);
      await page.waitForFunction((stones) => {
        const status = /** @type {HTMLElement} */ (document.querySelector("#lesson")).dataset.status;
        const isAnswered = status === "open" && document.querySelectorAll("ff-board .stones > g").length === stones;
        return status === "right" || status === "wrong" || isAnswered;
      }, now.length + 2);
      if ((await page.getAttribute("#lesson", "data-status")) !== "open") break;
      // The page answers with the first of the best columns.
      now += column;
      now += (await position(now)).best[0];
    }
    const status = await page.getAttribute("#lesson", "data-status");
    if (status !== "right") row.stuck += `exercise ${place + 1}: ${status}; `;
    row.exercises += 1;
    await picture(`${name}-${place + 1}-right`);
    if (place < exercises.length - 1) await page.click("#lesson-next");
  }
  const url = page.url();
  if (await page.isVisible("#lesson-practice")) {
    row.practice = await practise(page, byTouch);
    await picture(`${name}-practice`);
    await page.goto(url);
    await page.waitForSelector('html[data-connection="open"]');
  }
  await page.reload();
  await page.waitForSelector(".lesson-steps li");
  const kept = await page.locator(".lesson-steps li.solved").count();
  if (kept !== exercises.length) row.stuck += `${kept} of ${exercises.length} kept over a reload; `;
  row.seconds = Math.round((Date.now() - began) / 1_000);
  return row;
}

let stuck = 0;
for (const [form, options] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  const page = await browser.visitor(arena.url, options);
  const picture = (/** @type {string} */ name) => page.screenshot({ path: join(OUT, `${form}-${name}.png`), fullPage: form === "phone" });
  await page.goto("/learn");
  await picture("all-before");
  const lessons = await page.$$eval("[data-lesson]", (all) => all.map((lesson) => lesson.getAttribute("data-lesson") ?? ""));
  await page.click(`[data-lesson="${lessons[0]}"] a.button.primary`);
  const rows = [];
  for (const name of lessons) {
    if (CHOSEN && !CHOSEN.includes(name)) continue;
    // From the second lesson on as a learner comes: by the link at the end of the one before.
    if (new URL(page.url()).pathname !== `/learn/${name}`) {
      const onward = page.locator(`#lesson-onward[href="/learn/${name}"]`);
      if (await onward.count()) await onward.click();
      else await page.goto(`/learn/${name}`);
      await page.waitForURL(`**/learn/${name}`);
    }
    rows.push(await learn(page, { byTouch: form === "phone", picture, name }));
  }
  await page.goto("/learn");
  await picture("all-after");
  console.log(`\n${form}: ${rows.length} lessons, ${rows.reduce((sum, row) => sum + row.seconds, 0)} s`);
  console.table(rows);
  stuck += rows.filter((row) => row.stuck).length;
}
await browser.stop();
await arena.stop();
process.exit(stuck ? 1 : 0);
