// Asks how a game with somebody is to be. The server has the form, as a page of its own.

import { el } from "./dom.js";
import { fetchedPage } from "./fetched-page.js";
import { InviteForm } from "./invite-form.js";

/** @typedef {import("./invite-form.js").ChosenTerms} ChosenTerms */

/**
 * @param {object} about
 * @param {string} [about.to] who is asked; without a name it is for whoever gets a link
 * @param {import("./invite-form.js").Wishes} [about.like] what is chosen already
 * @returns {Promise<ChosenTerms | null>} null for nothing
 */
export async function askTerms({ to, like }) {
  const address = to ? `/invite?to=${encodeURIComponent(to)}` : "/invite";
  const form = (await fetchedPage(address))?.querySelector("#invite-form");
  if (!form) {
    location.assign(address);
    return null;
  }
  const dialog = el("dialog", { class: "play-dialog", id: "invite-dialog", "aria-labelledby": "invite-title" }, document.adoptNode(form));
  document.body.append(dialog);
  const shown = new InviteForm(/** @type {HTMLFormElement} */ (form), like);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      const chosen = dialog.returnValue === "invite" ? shown.take() : null;
      dialog.remove();
      resolve(chosen);
    });
  });
}
