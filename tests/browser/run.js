// Checks the types of the page's modules, then runs all tests against the binary that FOURFOLD_BIN names, or those of the
// files that are named. Fails with one clear line if something that is needed is not there.
//
//   node run.js [--still | --moving | FILE…]

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { chromiumPath } from "./support/browser.js";

/** Each file starts a daemon and a browser of its own. On two cores a third one fills the time in which the others wait, an
 * arena for its minute or a series for its next game; more only make all of them slow. */
const FILES_AT_A_TIME = 3;

/** How long one file may take on a busy machine, in milliseconds; on an idle one it is a tenth. The largest takes 80
 * seconds by itself on two slow cores, and up to three times that beside others. */
const FILE_MS = 480_000;

/** Files that look at pages on which nothing has to happen in time: they pass however little of the processor they get, and
 * may run beside other tests (`--still`; all others are `--moving`). */
const STILL = new Set(["languages.test.js", "layout.test.js", "pages.test.js", "themes.test.js"]);

/** How long one of those may take, in milliseconds. They get what everything else leaves, which on a slow machine is next to
 * nothing until that has ended: it ends a file that stands still, and says nothing of one that is slow. */
const STILL_FILE_MS = 2_400_000;

const here = fileURLToPath(new URL(".", import.meta.url));

/** @param {string} line */
function giveUp(line) {
  console.error(`browser tests: ${line}`);
  process.exit(2);
}

const binary = process.env.FOURFOLD_BIN;
if (!binary) giveUp("FOURFOLD_BIN must name the fourfold binary");
else if (!existsSync(binary)) giveUp(`there is no ${binary}`);
if (!chromiumPath()) giveUp("no chromium found: install it (Debian: apt install chromium) or set CHROMIUM");
if (!existsSync(`${here}node_modules/playwright-core`)) giveUp("run `npm ci` in tests/browser first");

const run = (/** @type {string[]} */ args) =>
  spawnSync(process.execPath, args, { cwd: here, stdio: "inherit" }).status ?? 1;
const named = process.argv.slice(2);
// Once is enough where both parts are run.
const types = named[0] === "--still" ? 0 : run(["node_modules/typescript/bin/tsc", "--project", "tsconfig.json"]);
if (types !== 0) process.exit(types);
const all = readdirSync(here).filter((name) => name.endsWith(".test.js"));
for (const name of STILL) if (!all.includes(name)) giveUp(`there is no ${name}`);
const files =
  named[0] === "--still" ? [...STILL]
  : named[0] === "--moving" ? all.filter((name) => !STILL.has(name))
  : named.length ? named
  : all;
const fileMs = named[0] === "--still" ? STILL_FILE_MS : FILE_MS;
const limits = ["--test-force-exit", `--test-timeout=${fileMs}`, `--test-concurrency=${FILES_AT_A_TIME}`];
const tests = spawn(process.execPath, ["--test", ...limits, ...files], { cwd: here, stdio: ["inherit", "pipe", "inherit"] });
let said = "";
tests.stdout.on("data", (/** @type {Buffer} */ part) => {
  process.stdout.write(part);
  said += part;
});
tests.on("close", (code) => {
  // Once more after everything else: of a long run only the end is read.
  for (const [failed] of said.matchAll(/^not ok .*\n(?: .*\n|\n)*/gm)) process.stdout.write(`\n${failed}`);
  process.exitCode = code ?? 1;
});
