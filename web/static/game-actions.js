// What a player may do beside moving: resign or abort, ask for a move back, answer offers, claim a win, react, play
// again. Draws only what applies now; `act` carries it out.

import { announce } from "./announce.js";
import { verdict } from "./best-of.js";
import { arrange, el, find, icon } from "./dom.js";
import { nameOf } from "./companion.js";
import { Reactions } from "./reactions.js";
import { other } from "./rules.js";
import { canAbort, tournamentOf } from "./state.js";
import { text } from "./texts.js";
import { shortTime } from "./words.js";

/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("../types/protocol").Side} Side */

/** What can be shared is asked for when somebody wants to. @param {GameState} state */
function shareButton(state) {
  const open = () => import("./share.js").then(({ openShare }) => openShare(state));
  return el("button", { type: "button", class: "button", click: open }, icon("share"), text("share.share"));
}
/** @typedef {"hint" | "resign" | "abort" | "takeback" | "allow" | "refuse" | "rematch" | "claim"} Act */

/** How long a button waits to be pressed again before it resigns, in milliseconds. */
const CONFIRM_MS = 4_000;

export class GameActions {
  #key = "";
  #confirmTimer = 0;
  #claimTimer = 0;
  /** Buttons of this game that were drawn once: drawn anew, they would lose the keyboard, and forget that they ask
   * whether one is sure. @type {Map<string, HTMLElement>} */
  #kept = new Map();
  #game = "";

  /**
   * @param {HTMLElement} root
   * @param {(act: Act) => void} act
   * @param {(code: string) => void} react
   */
  constructor(root, act, react) {
    this.bar = find(".actions", root);
    this.offers = find(".offers", root);
    this.reactions = new Reactions(find(".reactions", root), react);
    this.act = act;
    /** Whether it is played for fun against a bot of the house, which gives moves back. */
    this.friendly = root.hasAttribute("data-friendly");
  }

  /**
   * @param {GameState} state
   * @param {string[]} reactions those that the server takes
   */
  show(state, reactions) {
    const key = JSON.stringify([state.id, state.status, canAbort(state), this.#canTakeBack(state), this.friendly && state.toMove, state.rematch, state.takebackBy, state.refusedBy, state.gone, reactions]);
    if (key === this.#key) return;
    this.#key = key;
    clearTimeout(this.#claimTimer);
    if (state.id !== this.#game) this.#kept.clear();
    this.#game = state.id;
    arrange(this.bar, this.#buttons(state));
    this.offers.replaceChildren(...this.#offers(state));
    const social = state.you !== null && state.players[other(state.you)].kind !== "bot";
    this.reactions.show(social ? reactions : []);
  }

  /** @param {GameState} state */
  #buttons(state) {
    if (state.status === "over") return this.#afterwards(state);
    if (!state.you) return [shareButton(state)];
    const buttons = [];
    if (canAbort(state)) buttons.push(this.#keep("abort", () => this.#button(text("game.abort"), "close", "abort")));
    else buttons.push(this.#keep("resign", () => this.#resign()));
    if (this.#canTakeBack(state)) buttons.push(this.#keep("takeback", () => this.#button(text("game.take_back"), "undo", "takeback")));
    if (this.friendly && state.toMove === state.you) buttons.push(this.#keep("hint", () => this.#button(text("game.hint"), "bulb", "hint")));
    return buttons;
  }

  /**
   * The button for an act, as it was drawn first.
   * @param {Act} act
   * @param {() => HTMLElement} draw
   */
  #keep(act, draw) {
    const kept = this.#kept.get(act) ?? draw();
    this.#kept.set(act, kept);
    return kept;
  }

  /** @param {GameState} state */
  #afterwards(state) {
    const buttons = [];
    if (state.you && !state.pair) {
      const asked = state.rematch[state.you];
      const again = this.#button(text(asked ? "game.rematch_offered" : "game.rematch"), "swap", "rematch", "primary");
      again.disabled = asked;
      buttons.push(again);
    }
    const opponent = state.you && state.players[other(state.you)];
    if (opponent && opponent.kind !== "bot" && !tournamentOf(state) && verdict(state) !== "on") {
      buttons.push(el("a", { class: "button", href: `/invite?to=${encodeURIComponent(opponent.name)}` }, icon("colors"), text("invite.other_terms")));
    }
    const tournament = tournamentOf(state);
    if (tournament) buttons.push(el("a", { class: "button primary", href: `/tournament/${tournament}` }, icon("play"), text("game.tournament")));
    return [...buttons, el("a", { class: "button", href: "/" }, icon("play"), text("game.new_game")), shareButton(state)];
  }

  /** Resigning takes two presses: the first one asks. */
  #resign() {
    const label = el("span", {}, text("game.resign_button"));
    const button = el("button", { type: "button", class: "button" }, icon("flag"), label);
    const calm = () => {
      label.textContent = text("game.resign_button");
      button.classList.remove("danger");
    };
    button.addEventListener("click", () => {
      if (button.classList.contains("danger")) return this.act("resign");
      label.textContent = text("game.resign_sure");
      button.classList.add("danger");
      clearTimeout(this.#confirmTimer);
      this.#confirmTimer = window.setTimeout(calm, CONFIRM_MS);
    });
    return button;
  }

  /** @param {GameState} state */
  #offers(state) {
    const { you } = state;
    if (!you) return [];
    const name = nameOf(state.players[other(you)]);
    const bars = [];
    if (state.takebackBy === you) bars.push(offer(text("game.asked_take_back", { name })));
    if (state.refusedBy === other(you)) bars.push(offer(text("game.take_back_refused", { name })));
    if (state.takebackBy === other(you)) {
      const buttons = [this.#button(text("game.allow"), "check", "allow", "primary compact"), this.#button(text("game.refuse"), "close", "refuse", "compact")];
      bars.push(offer(text("game.asks_take_back", { name }), ...buttons));
    }
    if (state.status === "over" && state.rematch[other(you)] && !state.rematch[you]) {
      bars.push(offer(text("game.wants_rematch", { name }), this.#button(text("game.play_again"), "swap", "rematch", "primary compact")));
    }
    const gone = state.gone[other(you)];
    if (gone && state.status === "live") bars.push(this.#absence(name, gone.claimAt));
    return bars;
  }

  /**
   * @param {string} name of the opponent
   * @param {number | null} claimAt
   */
  #absence(name, claimAt) {
    const words = el("p", {}, text("game.lost_connection", { name }));
    const bar = el("div", { class: "offer-bar alarm" }, words);
    if (claimAt === null) return bar;
    const tick = () => {
      const left = claimAt - performance.now();
      if (left <= 0) {
        words.textContent = text("game.not_back", { name });
        announce(words.textContent);
        bar.append(this.#button(text("game.claim"), "check", "claim", "primary compact"));
        return;
      }
      words.textContent = `${text("game.lost_connection", { name })} ${text("game.claim_in", { time: shortTime(left) })}`;
      this.#claimTimer = window.setTimeout(tick, (left % 1000) + 5);
    };
    tick();
    return bar;
  }

  /** @param {GameState} state */
  #canTakeBack(state) {
    return canTakeBack(state, this.friendly);
  }

  /**
   * @param {string} label
   * @param {string} picture
   * @param {Act} act
   * @param {string} [look]
   */
  #button(label, picture, act, look = "") {
    return el("button", { type: "button", class: `button ${look}`.trim(), click: () => this.act(act) }, icon(picture), label);
  }
}

/**
 * @param {GameState} state
 * @param {boolean} friendly whether a bot would give the move back
 */
function canTakeBack(state, friendly) {
  const { you } = state;
  if (!you || state.status === "over" || state.rated) return false;
  if (state.players[other(you)].kind === "bot" && !friendly) return false;
  const ownPlies = state.moves.filter((_, ply) => ply >= state.openingPlies && (ply % 2 === 0) === (you === "first"));
  return ownPlies.length > 0;
}

/**
 * @param {string} words
 * @param {Node[]} buttons
 */
function offer(words, ...buttons) {
  return el("div", { class: "offer-bar" }, el("p", {}, words), buttons.length > 0 && el("div", { class: "row" }, ...buttons));
}
