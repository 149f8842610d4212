// A game in progress beside others or in a frame: draws what `parts/watched.html` has drawn before.

import { BoardElement } from "./board.js";
import { ClockElement } from "./clock.js";
import { nameOf } from "./companion.js";
import { find, setText } from "./dom.js";
import { playerTag } from "./game-view.js";
import { moveTimeLeft, timeLeft } from "./state.js";
import { count } from "./texts.js";
import { TruthBar } from "./truth-bar.js";
import { headline, isUnhurried, timeControl } from "./words.js";

/** @typedef {import("./state.js").GameState} GameState */

const SIDES = /** @type {const} */ (["first", "second"]);

export class WatchedGame {
  /** @type {GameState | null} */
  #state = null;

  /** @param {HTMLElement} root an element of that template */
  constructor(root) {
    this.root = root;
    this.truth = new TruthBar(root, { aside: true });
    for (const side of SIDES) this.#clock(side).follow(() => this.#time(side));
  }

  /** The game on show; empty if there is none yet. */
  get game() {
    return this.root.dataset.game ?? "";
  }

  /** @param {GameState} state */
  show(state) {
    const isNew = this.#state?.id !== state.id;
    this.#state = state;
    this.root.dataset.game = state.id;
    this.root.hidden = false;
    this.root.dataset.ply = String(state.moves.length);
    this.root.dataset.status = state.status;
    this.root.classList.toggle("unhurried", isUnhurried(state.time));
    const { variant, moves, line } = state;
    /** @type {BoardElement} */ (find("ff-board", this.root)).show({ variant, moves, line, seated: false, playable: false, pending: null });
    const names = { first: nameOf(state.players.first), second: nameOf(state.players.second) };
    for (const side of SIDES) {
      const seat = find(`[data-side="${side}"]`, this.root);
      seat.classList.toggle("to-move", state.toMove === side);
      if (isNew) find(".who", seat).replaceChildren(playerTag(state.players[side], state.players));
      this.#clock(side).tick();
    }
    const link = /** @type {HTMLAnchorElement} */ (find(".watched-foot a", this.root));
    link.href = `/game/${state.id}`;
    setText(link, state.status === "over" ? headline(state.result ?? "void", null, names) : timeControl(state.time));
    link.setAttribute("aria-label", `${link.textContent}: ${names.first} – ${names.second}`);
    this.truth.show(state);
    setText(find(".crowd", this.root), state.watching ? count("game.watching", state.watching) : "");
  }

  /** @param {"first" | "second"} side */
  #clock(side) {
    return /** @type {ClockElement} */ (find(`[data-side="${side}"] ff-clock`, this.root));
  }

  /** @param {"first" | "second"} side */
  #time(side) {
    const state = this.#state;
    if (!state) return null;
    const now = performance.now();
    return {
      ms: timeLeft(state, side, now),
      moveMs: moveTimeLeft(state, side, now),
      running: state.status === "live" && state.toMove === side && state.frozenUntil === null,
      frozen: state.frozenUntil !== null,
    };
  }
}
