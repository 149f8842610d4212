// A class that this browser has joined takes its pupil along: to a game, to a lesson, and lets them look up. Only pages of
// pupils load this.

import { announce } from "./announce.js";
import { el } from "./dom.js";
import { goToGame, toast } from "./shell.js";
import { text } from "./texts.js";

/** @typedef {{ code: string, held: boolean, activity: "waiting" | "arena" | "lesson", lesson: string | null, game: string | null }} ClassState */

/** Where the code is kept while the class lasts. */
const KEPT = "fourfold-class";
/** How often to look what the teacher wants, in milliseconds: a class sits at one network. */
const LOOK_EVERY_MS = 2_500;

const main = document.querySelector("main");
const cover = el("dialog", { class: "class-cover" }, el("p", { class: "big" }, text("attending.look_up")));
// The teacher lets go on, not the key for closing.
cover.addEventListener("cancel", (event) => event.preventDefault());
document.body.append(cover);

/** The class that this page follows. @type {string | null} */
let followed = null;

/** The code of the class that this browser is in. */
function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** Joins a class on all pages of this browser, or leaves it. @param {string | null} code */
export function attend(code) {
  try {
    if (code) localStorage.setItem(KEPT, code);
    else localStorage.removeItem(KEPT);
  } catch {
    // Without storage only the page of the class itself leads on.
  }
  followed = code;
  if (code) void look(code);
}

/** Whether this page follows a class. @param {string} code */
export const isAttending = (code) => followed === code;

/** @param {ClassState} state */
function follow(state) {
  if (state.held !== cover.open) {
    if (state.held) {
      cover.showModal();
      announce(text("attending.look_up"));
    } else cover.close();
  }
  if (state.held) return;
  if (state.game) {
    if (location.pathname !== `/game/${state.game}`) goToGame(state.game);
  } else if (state.activity === "lesson" && state.lesson && location.pathname !== `/learn/${state.lesson}`) {
    location.assign(`/learn/${state.lesson}`);
  }
}

/** @param {string} code */
async function look(code) {
  if (followed !== code) return;
  const answer = await fetch(`/api/v1/classes/${code}`).catch(() => null);
  if (answer?.status === 404 || answer?.status === 401) {
    attend(null);
    cover.close();
    toast(text("attending.over"));
    return;
  }
  if (answer?.ok) follow(await answer.json());
  setTimeout(look, LOOK_EVERY_MS, code);
}

const joined = kept();
if (joined) {
  const home = `/class/${joined}`;
  const link = el("a", { href: home }, text("attending.home", { code: joined }));
  if (location.pathname !== home) main?.prepend(el("p", { class: "class-home" }, link));
  followed = joined;
  void look(joined);
}
