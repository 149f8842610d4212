// Starts the real daemon on a free port with a data directory of its own, and stops it.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

import { PATIENCE_MS } from "./patience.js";

/** A file system in memory, as Linux has it. */
const MEMORY = "/dev/shm";
/** Room that it must have to be used, in bytes: containers often give it 64 MB, and a daemon keeps up to half of that. */
const ROOM = 256 << 20;

/** The fixed store, and the key that its cookies are signed with. */
const STORE = new URL("../../data/arena/", import.meta.url);

/** Makes a data directory that a daemon can use, and change, from the fixed store. @param {string} data */
function unpack(data) {
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(join(data, "secret.key"), readFileSync(new URL("secret.key", STORE)), { mode: 0o600 });
  writeFileSync(join(data, "fourfold.db"), gunzipSync(readFileSync(new URL("fourfold.db.gz", STORE))), { mode: 0o600 });
}

/** A directory without a disk behind it, if there is one with room. */
function memoryOrDisk() {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= ROOM ? MEMORY : tmpdir();
}

export class Arena {
  /** @type {import("node:child_process").ChildProcess | null} */
  #process = null;
  #log = "";

  /**
   * @param {{ ladder?: boolean, inMemory?: boolean, store?: boolean, learning?: boolean }} [options] whether house bots play among themselves,
   * which costs computing time; whether to do without a disk if possible, on whose speed it depends how fast bots learn;
   * whether to begin with the games of the fixed store; whether bots learn, without a ladder from others' games alone
   */
  constructor({ ladder = false, inMemory = false, store = false, learning = ladder } = {}) {
    this.environment = { ...process.env, FOURFOLD_LADDER_ENABLED: String(ladder), FOURFOLD_LEARNING_ENABLED: String(learning), FOURFOLD_METRICS_ENABLED: "false" };
    if (!ladder) this.environment.FOURFOLD_LEARNING_PRACTICE_GAMES = "0";
    this.data = mkdtempSync(join(inMemory ? memoryOrDisk() : tmpdir(), "fourfold-browser-"));
    if (store) unpack(join(this.data, "arena"));
    this.url = "";
  }

  /** @param {string} [listen] */
  async start(listen = "127.0.0.1:0") {
    const binary = process.env.FOURFOLD_BIN;
    if (!binary) throw new Error("FOURFOLD_BIN must name the fourfold binary");
    const args = ["serve", "--listen", listen, "--data", join(this.data, "arena")];
    const child = spawn(binary, args, { stdio: ["ignore", "pipe", "pipe"], cwd: this.data, env: this.environment });
    this.#process = child;
    child.stderr?.on("data", (chunk) => (this.#log = (this.#log + chunk).slice(-20_000)));
    this.url = await new Promise((resolve, reject) => {
      const fail = (/** @type {string} */ why) => reject(new Error(`${why}\n${this.#log}`));
      const timer = setTimeout(() => fail("the daemon did not start in time"), PATIENCE_MS);
      child.once("error", (error) => fail(`the daemon could not be started: ${error.message}`));
      child.once("exit", (code) => fail(`the daemon ended with ${code} before it listened`));
      createInterface({ input: /** @type {import("node:stream").Readable} */ (child.stdout) }).on("line", (line) => {
        const found = line.match(/^listening on (http:\/\/\S+)$/);
        if (!found) return;
        clearTimeout(timer);
        resolve(found[1]);
      });
    });
    return this;
  }

  /**
   * What an operator does while it runs.
   * @param {string[]} words behind `fourfold admin`
   */
  operate(...words) {
    const args = ["admin", ...words, "--data", join(this.data, "arena")];
    const done = spawnSync(process.env.FOURFOLD_BIN ?? "", args, { encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout;
  }

  /** Kills the daemon as a power cut would, and starts it again at the same address. */
  async crashAndRestart() {
    await this.#end("SIGKILL");
    await this.start(new URL(this.url).host);
  }

  async stop() {
    await this.#end("SIGTERM");
    rmSync(this.data, { recursive: true, force: true });
  }

  /** @param {"SIGKILL" | "SIGTERM"} signal */
  async #end(signal) {
    const child = this.#process;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
    child.kill(signal);
    await ended;
    clearTimeout(timer);
  }
}
