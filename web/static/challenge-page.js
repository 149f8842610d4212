// The page behind an invitation's link: accepts it, or lets its maker share and withdraw it.

import { find } from "./dom.js";
import { expectGame, expectNothing, showChallengeEnd, showRefusal } from "./shell.js";
import { connection } from "./socket.js";
import { copy } from "./start.js";

const root = find("#challenge");
const challenge = /** @type {string} */ (root.dataset.challenge);

/**
 * @param {"accept" | "decline" | "cancel"} type
 * @param {import("../types/protocol").Side} [side] where it is left to whoever accepts
 */
async function answer(type, side) {
  if (type === "accept") expectGame();
  try {
    await connection.request(type === "accept" ? { type, challenge, ...(side && { side }) } : { type, challenge });
    if (type !== "accept") location.assign("/");
  } catch (error) {
    expectNothing();
    showRefusal(error);
  }
}

for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-accept]"))) {
  const side = /** @type {import("../types/protocol").Side | ""} */ (button.dataset.accept);
  button.addEventListener("click", () => answer("accept", side || undefined));
}
document.querySelector("#decline")?.addEventListener("click", () => answer("decline"));
document.querySelector("#withdraw")?.addEventListener("click", () => answer("cancel"));
const copyButton = /** @type {HTMLElement | null} */ (document.querySelector("#copy-link"));
copyButton?.addEventListener("click", () => copy(copyButton, location.href));
// Its maker waits here for the game.
if (root.dataset.mine === "true") expectGame();
connection.on("challenge_end", (end) => {
  if (end.challenge !== challenge || end.how === "accepted") return;
  showChallengeEnd(end.how, end.reason);
  root.querySelectorAll("button").forEach((button) => (button.disabled = true));
});
