// What players show each other in place of a chat: emojis, and phrases, which each reads in the own language. Whoever
// wants none of it is shown none.

import { el, icon } from "./dom.js";
import { current } from "./settings.js";
import { text } from "./texts.js";

/** What codes of phrases begin with. */
const PHRASE = "phrase:";
/** What stands for a phrase that this page does not know, of an arena that is newer. */
const UNKNOWN = "💬";

/** Phrases by their codes. @type {Record<string, string>} */
const PHRASES = {
  "phrase:hello": "phrase.hello",
  "phrase:good_luck": "phrase.good_luck",
  "phrase:nice_move": "phrase.nice_move",
  "phrase:oops": "phrase.oops",
  "phrase:well_played": "phrase.well_played",
  "phrase:good_game": "phrase.good_game",
  "phrase:thank_you": "phrase.thank_you",
  "phrase:one_more": "phrase.one_more",
  "phrase:sorry_away": "phrase.sorry_away",
  "phrase:have_to_go": "phrase.have_to_go",
};

/** Whether somebody wants to see what others show. */
export const areWanted = () => current().reactions === "on";

/** A reaction as it is shown. @param {string} code */
export function reactionWords(code) {
  if (!code.startsWith(PHRASE)) return code;
  return code in PHRASES ? text(PHRASES[code]) : UNKNOWN;
}

/** The buttons for all of them. */
export class Reactions {
  #shown = "";

  /**
   * @param {HTMLElement} root
   * @param {(code: string) => void} react
   */
  constructor(root, react) {
    this.root = root;
    this.react = react;
  }

  /** @param {string[]} codes what the server takes; empty where nobody reacts */
  show(codes) {
    const taken = areWanted() ? codes : [];
    this.root.hidden = taken.length === 0;
    if (this.root.hidden || taken.join() === this.#shown) return;
    this.#shown = taken.join();
    const emojis = taken.filter((code) => !code.startsWith(PHRASE));
    const buttons = emojis.map((emoji) => el("button", { type: "button", "aria-label": text("game.react", { emoji }), click: () => this.react(emoji) }, emoji));
    this.root.replaceChildren(...buttons, ...this.#menu(taken.filter((code) => code in PHRASES)));
  }

  /** The button that opens the phrases, and these. @param {string[]} codes */
  #menu(codes) {
    if (codes.length === 0) return [];
    const list = el("div", { class: "phrases", id: "phrases", hidden: true }, ...codes.map((code) => el("button", { type: "button", click: () => say(code) }, text(PHRASES[code]))));
    const toggle = el("button", { type: "button", "aria-expanded": "false", "aria-controls": "phrases", "aria-label": text("phrase.phrases"), click: () => open(list.hidden === true) }, icon("speech"));
    const open = (/** @type {boolean} */ wanted) => {
      list.hidden = !wanted;
      toggle.setAttribute("aria-expanded", String(wanted));
    };
    const close = () => {
      open(false);
      toggle.focus();
    };
    const say = (/** @type {string} */ code) => {
      this.react(code);
      close();
    };
    list.addEventListener("keydown", (event) => event.key === "Escape" && close());
    return [toggle, list];
  }
}
