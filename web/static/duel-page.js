// A duel as it goes on: the server draws it, and the page takes over what has changed until it is over.

import { find } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";
import "./shell.js";

/** How often to look, in milliseconds: a game takes seconds. */
const LOOK_EVERY_MS = 2_000;

async function look() {
  if (find("#duel").dataset.over === "true") return clearInterval(timer);
  if (document.hidden) return;
  const fresh = (await fetchedPage(location.pathname))?.getElementById("duel");
  const shown = find("#duel");
  if (fresh && fresh.innerHTML !== shown.innerHTML) shown.replaceWith(document.adoptNode(fresh));
}

const timer = setInterval(look, LOOK_EVERY_MS);
