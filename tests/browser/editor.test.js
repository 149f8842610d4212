// A bot in the browser: a program is written in the page, plays a bot of the house, and is taken home.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";

import { Arena } from "./support/arena.js";
import { Browser, DESKTOP, PHONE } from "./support/browser.js";
import { signUp } from "./support/game.js";
import { assertGood } from "./support/good.js";

/** @typedef {import("playwright-core").Page} Page */

/** A visitor waits no longer for the first game. */
const FIRST_GAME_MS = 10_000;

/** Twenty games with a bot that answers at once take seconds, on a busy machine more. */
const SERIES_MS = 120_000;

const arena = new Arena();
const browser = new Browser();
const folder = mkdtempSync(join(tmpdir(), "fourfold-editor-"));

before(async () => {
  await Promise.all([arena.start(), browser.start()]);
});
after(async () => {
  await Promise.all([browser.stop(), arena.stop()]);
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => browser.endOfTest(/Content Security Policy|Refused to connect|status of 40[134]/));

/** @param {Page} page @param {string} program */
async function run(page, program) {
  await page.fill("#code", program);
  await page.click("#run");
}

/** @param {Page} page @param {string} text */
const printed = (page, text) =>
  page.waitForFunction((wanted) => document.querySelector("#console")?.textContent?.includes(wanted), text, { timeout: 60_000 });

for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
  test(`a visitor's program plays a bot of the house within ten seconds, ${size}`, async () => {
    const page = await browser.visitor(arena.url, { ...viewport, reducedMotion: "reduce" });
    await page.goto("/bots/editor");
    await page.waitForSelector("#editor[data-ready]");
    await assertGood(page, "the editor");
    await page.selectOption("#opponent", "greedy");
    await page.click("#run");
    await page.waitForSelector("#editor-game:not([hidden])", { timeout: FIRST_GAME_MS });
    await page.waitForSelector("#editor[data-over]", { timeout: 30_000 });
    assert.match((await page.textContent("#console")) ?? "", /^(-|[1-7]+): [1-7]$/m, "it says what it plays");
    assert.ok(Number(await page.getAttribute("#editor", "data-ply")) >= 7, "the board shows the game");
    assert.equal(await page.isEnabled("#run"), true);
    await assertGood(page, "a program's game");
    await page.click("#editor-game");
    await page.waitForURL(/\/game\//);
    assert.match((await page.textContent("main")) ?? "", /guest-/, "the game is kept, with its moves");
    await page.context().close();
  });
}

test("a change of the program is shown to make it stronger", async () => {
  const page = await browser.visitor(arena.url, { ...PHONE, reducedMotion: "reduce" });
  await page.goto("/bots/editor");
  await page.waitForSelector("#editor[data-ready]");
  const sample = await page.inputValue("#code");
  await page.selectOption("#opponent", "greedy");
  await page.selectOption("#games", "20");
  assert.equal(await page.isVisible("#tried"), false, "nothing was tried yet");
  /** @param {number} version */
  const tried = async (version) => {
    await page.waitForSelector("#editor[data-over]", { timeout: SERIES_MS });
    await page.waitForSelector("#run:enabled");
    const row = page.locator("#tried tbody tr", { hasText: `Version ${version}` });
    return (await row.innerText()).replace(/\s+/g, " ").trim();
  };
  await run(page, "function choose(turn) {\n  return turn.legal[0];\n}");
  assert.match(await tried(1), /^Version 1 greedy \d+% \(\+\d+ =\d+ −\d+\) 20$/);
  assert.match((await page.textContent("#editor-status")) ?? "", /^20 of 20 games against greedy: \d+ won, \d+ drawn, \d+ lost\.$/);
  await run(page, sample);
  // Twenty games may leave a doubt; which words follow from which scores is tested without a page.
  assert.match(await tried(2), /^Version 2 greedy .* 20 (stronger than version 1 \(|too few games to tell it from version 1: stronger with )(> )?\d\d%\)?$/);
  await assertGood(page, "what was tried");

  await page.reload();
  await page.waitForSelector("#editor[data-ready]");
  await page.getByRole("button", { name: "Version 1" }).click();
  assert.match(await page.inputValue("#code"), /legal\[0\]/, "one goes back to a version");
  await page.click("#forget");
  assert.equal(await page.isVisible("#tried"), false);
  await page.context().close();
});

test("a series that is stopped counts the games that are over", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/bots/editor");
  await page.waitForSelector("#editor[data-ready]");
  await page.selectOption("#opponent", "random");
  await page.selectOption("#games", "100");
  await run(page, "function choose(turn) {\n  return turn.legal[0];\n}");
  await page.waitForFunction(() => /^[2-9] of 100/.test(document.querySelector("#editor-status")?.textContent ?? ""));
  await page.click("#stop");
  await page.waitForSelector("#run:enabled");
  const games = Number(await page.textContent("#tried td.number"));
  assert.ok(games >= 2 && games < 100, String(games));
  await page.waitForTimeout(1_000);
  assert.equal(Number(await page.textContent("#tried td.number")), games, "nor does it go on");
  await page.context().close();
});

test("what a program does wrong is said, and the game goes on", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/bots/editor");
  await page.waitForSelector("#editor[data-ready]");
  await run(page, "function choose(turn) {\n  return ;;; }}");
  await page.waitForSelector("#run:enabled");
  assert.match((await page.textContent("#console")) ?? "", /SyntaxError/);
  await run(page, "const nothing = 1;");
  await printed(page, "choose is not a function");
  await page.waitForSelector("#run:enabled");

  await page.selectOption("#opponent", "random");
  await run(page, "function choose(turn) {\n  if (turn.ply < 2) return 9;\n  return turn.missing.thing;\n}");
  await printed(page, "9 is not a legal column");
  await printed(page, "(line 3)");
  await page.waitForSelector("#editor[data-over]", { timeout: 30_000 });
  await page.context().close();
});

test("a program that hangs is stopped, and one that looks for the network finds none", async () => {
  const page = await browser.visitor(arena.url);
  await page.goto("/bots/editor");
  await page.waitForSelector("#editor[data-ready]");
  await run(page, "while (true) {}\nfunction choose() {}");
  await printed(page, "too slow");
  await page.waitForSelector("#run:enabled");

  await page.selectOption("#opponent", "random");
  const reaching = `async function choose(turn) {
    for (const [name, reach] of Object.entries({
      fetch: () => fetch("/api/v1/live"),
      socket: () => new Promise((_, no) => { new WebSocket("${arena.url.replace("http", "ws")}/api/v1/socket").onerror = no; }),
      script: () => importScripts("/static/rules.js"),
      module: () => import("/kits/fourfold_bot.js"),
    })) {
      await Promise.resolve().then(reach).then(() => console.log(name + " reached"), () => console.log(name + " refused"));
    }
    return turn.legal[0];
  }`;
  await run(page, reaching);
  for (const name of ["fetch", "socket", "script", "module"]) await printed(page, `${name} refused`);
  assert.doesNotMatch((await page.textContent("#console")) ?? "", /reached/);
  await page.click("#stop");
  await page.waitForSelector("#run:enabled");
  await page.context().close();
});

test("a program plays as a bot, whose token ends with the page, and is taken home", async () => {
  const page = await browser.visitor(arena.url);
  await signUp(page, "Edith");
  assert.equal((await page.request.post("/api/v1/bots", { data: { name: "pocket" }, headers: { Origin: arena.url } })).status(), 201);
  await page.goto("/bots/editor");
  await page.waitForSelector("#editor[data-ready]");
  assert.equal(await page.inputValue("#play-as"), "", "one plays oneself, unless one says otherwise");
  await page.selectOption("#play-as", "pocket");
  await page.selectOption("#opponent", "random");
  const tokens = async () => (await (await page.request.get("/api/v1/bots/pocket/tokens")).json()).items.length;
  assert.equal(await tokens(), 1);
  await page.click("#run");
  await page.waitForSelector("#editor-game:not([hidden])", { timeout: FIRST_GAME_MS });
  await page.waitForSelector("#editor[data-over]", { timeout: 30_000 });
  await page.waitForSelector("#run:enabled");
  assert.equal(await tokens(), 1, "the token of the game has ended");
  const { items } = await (await page.request.get("/api/v1/bots/pocket/games")).json();
  assert.deepEqual([items[0].opponent, items[0].version, items[0].rated], ["random", "editor-1", false]);

  // Left in the middle of a game.
  const last = await page.getAttribute("#editor-game", "href");
  await run(page, "async function choose(turn) { await new Promise((on) => setTimeout(on, 2000)); return turn.legal[0]; }");
  // The line below the board may name the opponent as the winner of the last game. Once this one has begun, the page knows
  // the token that it is to end.
  await page.waitForFunction((of) => document.querySelector("#editor-game")?.getAttribute("href") !== of, last);
  assert.equal(await tokens(), 2);
  await page.goto("/rules");
  while ((await tokens()) !== 1) await page.waitForTimeout(50);

  await page.goto("/bots/editor");
  await page.waitForSelector("#editor[data-ready]");
  assert.match(await page.inputValue("#code"), /setTimeout/, "it is still there");
  await page.click("#new-program");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#take-home")]);
  const archive = join(folder, "kit.tar");
  await download.saveAs(archive);
  execFileSync("tar", ["x", "-C", folder, "-f", archive]);
  const program = readFileSync(join(folder, "fourfold-javascript", "my_bot.js"), "utf8");
  assert.ok(program.startsWith("import { run }") && program.includes("function makesFour("), program);
  const token = (await (await page.request.post("/api/v1/bots/pocket/tokens", { headers: { Origin: arena.url } })).json()).token;
  // No ladder here: it connects, and leaves when it is told to.
  const env = { ...process.env, FOURFOLD_URL: arena.url.replace("http", "ws"), FOURFOLD_TOKEN: token };
  const home = join(folder, "fourfold-javascript");
  execFileSync(process.execPath, ["--check", "my_bot.js"], { cwd: home, env });

  // It plays from home: nobody takes its place without having read that.
  await page.selectOption("#play-as", "pocket");
  const child = spawn(process.execPath, ["--experimental-websocket", "my_bot.js"], { cwd: home, env, stdio: "ignore" });
  const isThere = async () => (await (await page.request.get("/api/v1/bots/pocket")).json()).connected;
  while (!(await isThere())) await page.waitForTimeout(50);
  await page.click("#run");
  await page.waitForSelector("#elsewhere >> text=pocket is connected elsewhere now");
  assert.equal(await page.isEnabled("#run"), true, "nothing runs yet");
  assert.equal(await isThere(), true);
  await page.selectOption("#play-as", "");
  await page.waitForSelector("#elsewhere", { state: "hidden" });
  await page.selectOption("#play-as", "pocket");
  await page.waitForSelector("#elsewhere:visible");
  await assertGood(page, "the warning");
  child.kill();
  await page.context().close();
});
