// The wall of a tournament: everything on it is looked at again and again, and the time is counted down.

import { find } from "./dom.js";
import { freshen } from "./fetched-page.js";
import "./shell.js";
import { clock } from "./tournament-parts.js";

/** Between two looks, in milliseconds: as often as boards of people change. */
const LOOK_EVERY_MS = 2_500;

const PARTS = ["#wall-status", "#wall-boards", "#wall-tables", "#wall-bracket"];

function count() {
  const status = find("#wall-status");
  const face = status.querySelector("strong");
  if (face) face.textContent = clock(Math.max(0, Number(status.dataset.until) - Date.now()));
}

async function look() {
  if (document.visibilityState === "visible") await freshen(location.href, PARTS);
  count();
  setTimeout(look, LOOK_EVERY_MS);
}

count();
setInterval(count, 1_000);
setTimeout(look, LOOK_EVERY_MS);
