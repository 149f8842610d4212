// Chooses an opponent of the house, the time and who begins. Buttons with `data-play-bot`, a bot's name, open it; one
// without a name leaves the choice as it was.

import { beaten } from "./beaten.js";
import { find, setText } from "./dom.js";
import { playBot } from "./start.js";

/** @typedef {import("../types/protocol").Side} Side */

const dialog = /** @type {HTMLDialogElement} */ (find("#bot-dialog"));
const form = /** @type {HTMLFormElement} */ (find("form", dialog));
const other = find("#bot-other", dialog);
const inputs = () => /** @type {NodeListOf<HTMLInputElement>} */ (dialog.querySelectorAll('input[name="bot"]'));

/** Opens the dialog. @param {string} [bot] the opponent, if it is chosen already */
export function openPlayDialog(bot) {
  const wanted = bot ?? firstUnbeaten()?.value;
  // An arena may have no characters: then one chooses among its programs.
  if (!wanted) return location.assign("/bots");
  const among = [...inputs()].find((input) => input.value === wanted && !other.contains(input));
  if (among) among.checked = true;
  else if (bot) showOther(bot);
  other.hidden = Boolean(among) || !bot;
  say();
  dialog.showModal();
}

/** Whoever comes next: the first who is not beaten yet, else the last. */
function firstUnbeaten() {
  const done = beaten();
  const rivals = [...inputs()].filter((input) => !other.contains(input));
  return rivals.find((input) => !done.includes(input.value)) ?? rivals.at(-1);
}

/** The same, as the program and in words; nobody where there are no characters. */
export function nextRival() {
  const input = firstUnbeaten();
  if (!input) return null;
  const words = ["strong", "small"].map((part) => find(part, /** @type {HTMLElement} */ (input.parentElement)).textContent);
  return { bot: input.value, words: words.join(" · ") };
}

/** One that is none of the eight. @param {string} bot */
function showOther(bot) {
  const input = /** @type {HTMLInputElement} */ (find("input", other));
  input.value = bot;
  input.checked = true;
  setText(find("strong", other), bot);
}

function say() {
  const chosen = [...inputs()].find((input) => input.checked);
  setText(find("#bot-says", dialog), chosen?.dataset.says ?? "");
}

/** A rated game has a clock. */
function keepClock() {
  const rated = /** @type {HTMLInputElement | null} */ (form.elements.namedItem("bot-rated"));
  const [without, , usual] = /** @type {HTMLInputElement[]} */ ([...dialog.querySelectorAll('input[name="bot-time"]')]);
  if (!rated) return;
  without.disabled = rated.checked;
  if (rated.checked && without.checked) usual.checked = true;
}

dialog.addEventListener("change", () => {
  say();
  keepClock();
});
form.addEventListener("submit", (event) => {
  if (/** @type {SubmitEvent} */ (event).submitter?.getAttribute("value") !== "play") return;
  const data = new FormData(form);
  const side = /** @type {Side | "random"} */ (String(data.get("side")));
  const from = { variant: String(data.get("bot-board")), moves: "" };
  playBot(String(data.get("bot")), side, JSON.parse(String(data.get("bot-time"))), from, data.has("bot-rated"));
});
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-play-bot]") : null;
  if (button instanceof HTMLElement) openPlayDialog(button.dataset.playBot || undefined);
});
const done = beaten();
for (const star of document.querySelectorAll("[data-beaten]")) {
  if (star instanceof HTMLElement) star.hidden = !done.includes(star.dataset.beaten ?? "");
}
