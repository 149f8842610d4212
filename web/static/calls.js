// What calls somebody back to this page: a tournament that is near, a game that begins. Loaded when there is something to say.

import { el } from "./dom.js";
import { notify } from "./notices.js";
import { toast } from "./shell.js";
import { text } from "./texts.js";
import { shortTime } from "./words.js";

/** Tournaments that this tab has spoken of. */
const SPOKEN = "called-to";

/** What waits while nobody looks, by the pages that it is about. @type {Set<string>} */
const waiting = new Set();

function showCount() {
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = waiting.size ? `(${waiting.size}) ${title}` : title;
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  waiting.clear();
  showCount();
});

/** Counts something in the title while nobody looks. @param {string} url of the page that it is about */
export function count(url) {
  if (!document.hidden) return;
  waiting.add(url);
  showCount();
}

/** Whether this tab has not spoken of it yet. @param {string} name */
function isNew(name) {
  try {
    if (sessionStorage.getItem(SPOKEN) === name) return false;
    sessionStorage.setItem(SPOKEN, name);
  } catch {
    // Then it is said on each page.
  }
  return true;
}

/** A tournament begins soon. @param {{ in_ms: number, text?: string, tournament?: string }} notice */
export function tournamentSoon({ in_ms, text: name = "", tournament }) {
  const url = tournament ? `/tournament/${tournament}` : "/tournaments";
  if (location.pathname === url || !isNew(name)) return;
  const said = text("tournament.soon", { name, time: shortTime(in_ms) });
  const link = el("a", { class: "button primary compact", href: url }, text("game.tournament"));
  const close = toast(said, el("div", { class: "row" }, link));
  setTimeout(close, in_ms);
  void notify(said, url);
  count(url);
}
