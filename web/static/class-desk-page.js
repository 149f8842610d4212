// The teacher's desk: who is there, all boards, and what the class does next.

import { call } from "./account-call.js";
import { find } from "./dom.js";
import { freshen } from "./fetched-page.js";
import { showProblemOf } from "./refused.js";
import { text } from "./texts.js";

/** How often everything is looked at, in milliseconds: boards of beginners move no faster. */
const LOOK_EVERY_MS = 2_000;

const { code = "" } = find("#desk").dataset;
const path = `/api/v1/classes/${code}`;
const hold = find("#hold");

/** @param {string} id */
const chosen = (id) => /** @type {HTMLSelectElement} */ (find(id)).selectedOptions[0];

/** The time control that is chosen. */
function time() {
  const { bank, increment } = chosen("#class-time").dataset;
  return { bank_ms: Number(bank), increment_ms: Number(increment) };
}

/** @type {Record<string, () => Promise<unknown>>} */
const DEEDS = {
  round: () => call("POST", `${path}/round`, { time: time() }),
  arena: () => call("POST", `${path}/arena`, { time: time(), minutes: Number(chosen("#class-minutes").value) }),
  lesson: () => call("PUT", `${path}/lesson`, { lesson: chosen("#class-lesson").value }),
  lesson_end: () => call("PUT", `${path}/lesson`, { lesson: null }),
  hold: () => call("PUT", `${path}/hold`, { held: hold.getAttribute("aria-pressed") !== "true" }),
  end: async () => {
    if (!confirm(text("attending.end_sure"))) return;
    await call("DELETE", path);
    location.assign("/class");
  },
};

async function freshenAll() {
  await freshen(location.href, ["#pupils-title", "#class-state", "#class-table", "#class-boards"]);
  const { held = "false", lesson = "" } = find("#class-state").dataset;
  hold.setAttribute("aria-pressed", held);
  find("#lesson-end").hidden = lesson === "";
}

async function look() {
  await freshenAll();
  setTimeout(look, LOOK_EVERY_MS);
}

find("#names-drawn").addEventListener("change", async ({ target }) => {
  const box = /** @type {HTMLInputElement} */ (target);
  await showProblemOf(find("#hold"), () => call("PUT", `${path}/names`, { drawn: box.checked }));
});

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-do], [data-remove]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  const { do: deed, remove } = button.dataset;
  const done = remove ? () => call("DELETE", `${path}/pupils/${encodeURIComponent(remove)}`) : DEEDS[deed ?? ""];
  await showProblemOf(button, done);
  await freshenAll();
});

find("#class-address").textContent = `${location.host}/class`;
void look();
