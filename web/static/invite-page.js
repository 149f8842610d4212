// The form as a page of its own: for whoever comes by a link, or has no room for a dialog.

import { find } from "./dom.js";
import { InviteForm } from "./invite-form.js";
import { showRefusal } from "./shell.js";
import { connection } from "./socket.js";
import { challengeOn } from "./start.js";

const form = /** @type {HTMLFormElement} */ (find("#invite-form"));
const shown = new InviteForm(form);

async function send() {
  const { to } = form.dataset;
  const chosen = shown.take();
  if (to) return challengeOn(to, chosen);
  try {
    const answer = await connection.request({ type: "open_challenge", ...chosen });
    if (answer.type === "challenge") location.assign(`/challenge/${answer.challenge}`);
  } catch (error) {
    showRefusal(error);
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.submitter?.getAttribute("value") === "invite") send();
  else history.back();
});
