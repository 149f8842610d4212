// The page of settings: shows what is set and keeps what is changed.

import "./board.js";
import { find } from "./dom.js";
import { canNotify } from "./notices.js";
import { change, current } from "./settings.js";
import { chooseTheme } from "./shell.js";
import { drop } from "./sound.js";

const form = /** @type {HTMLFormElement} */ (find("#settings"));
const inputs = /** @type {HTMLInputElement[]} */ ([...form.querySelectorAll("input")]);

/** What is set, by the names of the inputs. @returns {Record<string, string | number>} */
const values = () => ({ ...current(), theme: document.documentElement.dataset.theme ?? "" });

function show() {
  const now = values();
  for (const input of inputs) {
    if (input.type === "radio") input.checked = input.value === now[input.name];
    else if (input.type === "checkbox") input.checked = now[input.name] === input.dataset.on;
    else input.value = String(now[input.name]);
  }
}

/** @param {HTMLInputElement} input */
function keep(input) {
  if (input.name === "theme") return chooseTheme(input.value);
  const value = input.type === "checkbox" ? (input.checked ? input.dataset.on : input.dataset.off) : input.type === "range" ? Number(input.value) : input.value;
  change({ [input.name]: value });
  if (input.name === "notices" && input.checked) askToNotify();
  if (input.type === "range" || input.name === "sounds") drop("first", 3, 0);
}

/** The browser asks whether it may; if not, the switch goes back. */
async function askToNotify() {
  const allowed = canNotify() && (await Notification.requestPermission()) === "granted";
  if (!allowed) change({ notices: "off" });
  show();
}

form.addEventListener("change", (event) => keep(/** @type {HTMLInputElement} */ (event.target)));
form.addEventListener("submit", (event) => event.preventDefault());
show();
