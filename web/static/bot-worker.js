// The worker in which an author's program runs. It is served with a policy of its own: here text may be made code, and
// nothing can be reached, neither the network nor the page.

/** @type {((turn: object) => unknown) | null} */
let choose = null;

/** Longer lines are cut: a console is read by people. */
const LINE_MAX = 500;
/** Lines that the engine puts before the program's own. */
const LINES_BEFORE = 2;

/** @param {unknown} value */
function shown(value) {
  if (typeof value === "string") return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

/** What went wrong, with the line of the program where the browser tells it. @param {unknown} error */
function described(error) {
  if (!(error instanceof Error)) return shown(error).slice(0, LINE_MAX);
  const place = /(?:<anonymous>|Function):(\d+):\d+/.exec(error.stack ?? "");
  const line = place ? ` (line ${Number(place[1]) - LINES_BEFORE})` : "";
  return `${error.name}: ${error.message}`.slice(0, LINE_MAX) + line;
}

for (const level of /** @type {const} */ (["log", "info", "warn", "error", "debug"])) {
  console[level] = (...values) => postMessage({ kind: "log", text: values.map(shown).join(" ").slice(0, LINE_MAX) });
}

/** @param {string} code */
function load(code) {
  try {
    choose = new Function(`"use strict"; ${code}\n;return choose;`)();
    if (typeof choose !== "function") throw new TypeError("choose is not a function");
    postMessage({ kind: "ready" });
  } catch (error) {
    postMessage({ kind: "broken", text: described(error) });
  }
}

/** @param {number} id @param {object} turn */
async function answer(id, turn) {
  try {
    const chosen = /** @type {any} */ (await choose?.(turn));
    const { column, info } = typeof chosen === "object" && chosen ? chosen : { column: chosen, info: undefined };
    postMessage({ kind: "chosen", id, column: Number(column), info: info && JSON.parse(JSON.stringify(info)) });
  } catch (error) {
    postMessage({ kind: "failed", id, text: described(error) });
  }
}

addEventListener("message", ({ data }) => (data.code === undefined ? answer(data.id, data.turn) : load(data.code)));
