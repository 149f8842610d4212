// A duel as it goes on: the server draws it, and the page takes over what has changed until it is over.

import { Problem, call } from "./account-call.js";
import { find } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";
import { toast } from "./shell.js";

/** How often to look, in milliseconds: a game takes seconds. */
const LOOK_EVERY_MS = 2_000;

async function look() {
  if (find("#duel").dataset.over === "true") return clearInterval(timer);
  if (document.hidden) return;
  const fresh = (await fetchedPage(location.pathname))?.getElementById("duel");
  const shown = find("#duel");
  if (fresh && fresh.innerHTML !== shown.innerHTML) shown.replaceWith(document.adoptNode(fresh));
}

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("#withdraw") : null;
  if (!(button instanceof HTMLElement)) return;
  try {
    await call("DELETE", `/api/v1/duels/${button.dataset.duel}`);
    history.back();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toast(error.message);
  }
});

const timer = setInterval(look, LOOK_EVERY_MS);
