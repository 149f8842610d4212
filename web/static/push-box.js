// The switch on the page of an account with which this browser shows notices while nobody looks.

import { find } from "./dom.js";
import { canPush, isOn, tryOut, turnOff, turnOn } from "./push.js";

/** Shows it where the browser can. @param {HTMLElement} box */
export async function showPushBox(box) {
  if (!canPush()) return;
  const here = /** @type {HTMLInputElement} */ (find("#push-here", box));
  const actions = find("#push-actions", box);
  const state = find("#push-state", box);
  const words = box.dataset;

  /** @param {boolean} on @param {string} [said] */
  const show = (on, said = "") => {
    here.checked = on;
    actions.hidden = !on;
    state.textContent = said;
  };

  here.addEventListener("change", async () => {
    const wanted = here.checked;
    here.disabled = true;
    try {
      if (!wanted) await turnOff();
      const on = wanted && (await turnOn(words.key ?? "", words.language ?? ""));
      show(on, wanted && !on ? words.denied : "");
    } catch {
      show(!wanted, words.failed);
    } finally {
      here.disabled = false;
    }
  });
  find("#try-push", box).addEventListener("click", async () => {
    const taken = await tryOut().catch(() => 0);
    state.textContent = (taken > 0 ? words.sent : words.untaken) ?? "";
  });
  show(await isOn().catch(() => false));
  box.hidden = false;
}
