// What one answers in a game by correspondence if the opponent plays so, said in advance.

import { call } from "./account-call.js";
import { el, find } from "./dom.js";
import { connection } from "./socket.js";
import { text } from "./texts.js";

const box = find("#conditional");
const game = /** @type {string} */ (box.dataset.game);
const path = `/api/v1/games/${game}/conditional`;
const form = /** @type {HTMLFormElement} */ (find("#conditional-add"));
const they = /** @type {HTMLSelectElement} */ (find("#conditional-they"));
const me = /** @type {HTMLSelectElement} */ (find("#conditional-me"));
const after = find("#conditional-after");

/** Columns in turns, the opponent's first. @type {string[]} */
let lines = [];
/** The line that goes on with what is added; empty for a new one. */
let begun = "";

/** `3 → 4, 2 → 5`. @param {string} line */
function spoken(line) {
  const columns = [...line].map((digit) => parseInt(digit, 36));
  const pairs = columns.flatMap((column, at) => (at % 2 ? [] : [`${column} → ${columns[at + 1]}`]));
  return pairs.join(", ");
}

/** @param {string} label @param {() => void} act */
const button = (label, act) => el("button", { type: "button", class: "button compact", click: act }, label);

function show() {
  const rows = lines.map((line) => {
    const others = lines.filter((other) => other !== line);
    return el(
      "li",
      {},
      el("span", { class: "number" }, spoken(line)),
      button(text("conditional.go_on"), () => goOn(line)),
      button(text("conditional.remove"), () => save(others)),
    );
  });
  find("#conditional-lines").replaceChildren(...rows);
  after.hidden = begun === "";
  find("span", after).textContent = text("conditional.after", { line: spoken(begun) });
}

/** @param {string} line */
function goOn(line) {
  begun = line;
  show();
  they.focus();
}

/** @param {string[]} next */
async function save(next) {
  const problem = find(".problem", form);
  problem.textContent = "";
  try {
    await call("PUT", path, { lines: next });
    lines = next;
    begun = "";
    show();
  } catch (error) {
    problem.textContent = error instanceof Error ? error.message : String(error);
  }
}

/** Shows it while the opponent is to move, with what may still come. @param {boolean} isTheirTurn */
async function look(isTheirTurn) {
  box.hidden = !isTheirTurn;
  if (!isTheirTurn) return;
  try {
    ({ lines } = await call("GET", path));
  } catch {
    // Gone or over: there is nothing to say.
    box.hidden = true;
    return;
  }
  begun = "";
  show();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const line = begun + they.value + me.value;
  save([...lines.filter((other) => other !== begun), line]);
});
find("#conditional-anew").addEventListener("click", () => {
  begun = "";
  show();
});

/** @type {import("../types/protocol").Snapshot} */
const written = JSON.parse(find("#game").dataset.snapshot ?? "{}");

/** @param {import("../types/protocol").Snapshot} now */
function see(now) {
  if (now.game === game) look(now.status === "live" && now.to_move !== now.you);
}

see(written);
connection.on("game", see);
connection.on("moved", ({ game: played, by }) => {
  if (played === game) look(by === written.you);
});
connection.on("game_end", ({ game: ended }) => {
  if (ended === game) box.hidden = true;
});
