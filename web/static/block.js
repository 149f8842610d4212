// Blocks somebody, which takes two presses, or blocks them no more. A button with `data-block`, a name, does so;
// `data-blocks` is on it while one blocks.

import { call } from "./account-call.js";
import { showProblemOf } from "./refused.js";
import { sayThere } from "./shell.js";
import { text } from "./texts.js";

/** How long a button waits for the second press, in milliseconds. */
const CONFIRM_MS = 4_000;

/** @param {HTMLButtonElement} button */
function ask(button) {
  const label = button.textContent;
  button.classList.add("danger");
  button.textContent = text("blocks.sure");
  setTimeout(() => {
    button.classList.remove("danger");
    button.textContent = label;
  }, CONFIRM_MS);
}

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-block]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  const name = button.dataset.block ?? "";
  const blocks = button.hasAttribute("data-blocks");
  if (!blocks && !button.classList.contains("danger")) return ask(button);
  const path = `/api/v1/account/blocks/${encodeURIComponent(name)}`;
  const answer = await showProblemOf(button, () => call(blocks ? "DELETE" : "PUT", path));
  if (!answer) return;
  sayThere(text(blocks ? "blocks.unblocked" : "blocks.blocked", { name }));
  location.reload();
});

export {};
