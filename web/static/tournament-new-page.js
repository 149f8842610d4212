// The form that makes a tournament.

import { call, handle, Problem } from "./account-call.js";
import { find } from "./dom.js";

/** When it begins unless its maker says: time to hand the link on, in milliseconds. */
const AHEAD_MS = 15 * 60_000;

/** What a refusal means here, as the page says it. */
const { badName, badMoment, nameTaken, tooMany } = find("#new-tournament").dataset;
/** @type {Record<string, string | undefined>} */
const PROBLEMS = {
  "bad_field name": badName,
  "bad_field begins_in_s": badMoment,
  "conflict name": nameTaken,
  conflict: tooMany,
};

const at = /** @type {HTMLInputElement} */ (find("#new-at"));

/** A moment as the field writes it, in the visitor's time. @param {number} moment */
function local(moment) {
  const offset = new Date(moment).getTimezoneOffset() * 60_000;
  return new Date(moment - offset).toISOString().slice(0, 16);
}

at.value = local(Date.now() + AHEAD_MS);
at.min = local(Date.now());

const form = /** @type {HTMLSelectElement} */ (find("#new-form"));

/** An arena has a length, the other forms have meetings of so many games. */
function showFields() {
  for (const field of document.querySelectorAll("#new-tournament [data-of]")) {
    const isOfArena = /** @type {HTMLElement} */ (field).dataset.of === "arena";
    field.toggleAttribute("hidden", isOfArena !== (form.value === "arena"));
  }
}

form.addEventListener("change", showFields);
showFields();

handle("#new-tournament", async ({ title, at: moment, form, minutes, games, time, enter, rated, bots }) => {
  const [bank_ms, increment_ms] = time.split(" ").map(Number);
  const body = {
    name: title,
    format: form,
    ...(form === "arena" ? { minutes: Number(minutes) } : { games: Number(games) }),
    time: { bank_ms, increment_ms },
    rated: rated === "on",
    open_bots: bots === "on",
    begins_in_s: Math.round((new Date(moment).getTime() - Date.now()) / 1000),
    enter: enter === "on",
  };
  try {
    const { url } = await call("POST", "/api/v1/tournaments", body);
    location.assign(url);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const words = PROBLEMS[error.field ? `${error.code} ${error.field}` : error.code];
    if (words) error.message = words;
    if (error.field === "name") error.field = "title";
    if (error.field === "begins_in_s") error.field = "at";
    throw error;
  }
});
