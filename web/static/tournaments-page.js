// The list of tournaments: people enter those that are to come, and are taken to their games when they begin.

import { call, Problem } from "./account-call.js";
import { expectGame, toast } from "./shell.js";

/** @param {HTMLButtonElement} button */
async function wish({ dataset: { enter, withdraw } }) {
  try {
    await call(enter ? "PUT" : "DELETE", "/api/v1/tournaments/entry", { name: enter ?? withdraw });
    location.reload();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    toast(error.message);
  }
}

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("[data-enter], [data-withdraw]") : null;
  if (button instanceof HTMLButtonElement) wish(button);
});
// Whoever has entered waits here.
if (document.querySelector("[data-withdraw]")) expectGame();
