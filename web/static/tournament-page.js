// A tournament that goes on: its tables are asked for again, and replaced when they have changed.

import { call } from "./account-call.js";
import { expectGame } from "./shell.js";
import { connection } from "./socket.js";
import { cancel, countDown, obey } from "./tournament-parts.js";

/** Between two questions. An answer that nothing has changed is a few bytes. */
const EVERY_MS = 3000;

/** Longest time between two questions, while the server does not answer. */
const SLOW_MS = 60_000;

const place = /** @type {HTMLElement} */ (document.getElementById("tournament"));
const address = `/tournament/${place.dataset.tournament}/table`;

let etag = "";
let wait = EVERY_MS;

/**
 * Replaces the tables; whoever reads with the keyboard stays where they are, and tables as far scrolled as they were.
 *
 * @param {Document} page
 */
function show(page) {
  const focused = document.activeElement?.getAttribute("aria-labelledby");
  const scrolled = [...place.querySelectorAll(".table-wrap")].map((wrap) => wrap.scrollLeft);
  place.replaceChildren(...page.body.children);
  place.querySelectorAll(".table-wrap").forEach((wrap, index) => {
    wrap.scrollLeft = scrolled[index] ?? 0;
  });
  if (!focused || document.activeElement !== document.body) return;
  const again = /** @type {HTMLElement | null} */ (place.querySelector(`[aria-labelledby="${focused}"][tabindex]`));
  again?.focus({ preventScroll: true });
}

/** Asks for the tables as a document: whatever stands in one, no script of it runs. */
function ask() {
  const request = new XMLHttpRequest();
  request.open("GET", address);
  request.responseType = "document";
  if (etag) request.setRequestHeader("If-None-Match", etag);
  request.addEventListener("loadend", () => {
    const answered = request.status === 200 || request.status === 304;
    wait = answered ? EVERY_MS : Math.min(wait * 2, SLOW_MS);
    if (request.status === 200 && request.responseXML) {
      etag = request.getResponseHeader("ETag") ?? "";
      show(request.responseXML);
    }
    if (place.querySelector("[data-live]")) setTimeout(next, wait);
  });
  request.send();
}

/** Asks when somebody looks. */
function next() {
  if (document.visibilityState === "visible") ask();
  else document.addEventListener("visibilitychange", next, { once: true });
}

const entry = `/api/v1/tournaments/${place.dataset.tournament}/entry`;
obey({
  enter: () => call("PUT", entry),
  withdraw: () => call("DELETE", entry),
  cancel: () => cancel(place.dataset.tournament ?? ""),
});

const timer = /** @type {HTMLElement | null} */ (document.querySelector("#arena .countdown[data-until]"));
if (timer) countDown(timer, () => document.getElementById("time-is-up")?.removeAttribute("hidden"));

// Whoever takes part is taken to the games that begin from now on; to one that goes on there is a link.
if (place.dataset.mine === "true") connection.on("synced", expectGame);
setTimeout(next, EVERY_MS);
