// Follows somebody, or follows them no more. A button with `data-follow`, a name, does so; `data-follows` is on it while
// one follows.

import { call } from "./account-call.js";
import { showProblemOf } from "./refused.js";
import { text } from "./texts.js";

document.addEventListener("click", async (event) => {
  const button = event.target instanceof Element ? event.target.closest("button[data-follow]") : null;
  if (!(button instanceof HTMLButtonElement)) return;
  const follows = button.hasAttribute("data-follows");
  const path = `/api/v1/account/follows/${encodeURIComponent(button.dataset.follow ?? "")}`;
  const answer = await showProblemOf(button, () => call(follows ? "DELETE" : "PUT", path));
  if (!answer) return;
  button.toggleAttribute("data-follows", !follows);
  button.textContent = text(follows ? "friends.follow" : "friends.following");
  button.focus();
});

export {};
