// A finished game plays itself: as it was played, or evenly. How long each move took is told by the record of the game.

import { decimal, text } from "./texts.js";
import { find, setText } from "./dom.js";

/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {{ goTo(ply: number): void }} View */
/** @typedef {{ time: { bank_ms: number | null, increment_ms: number, move_ms: number | null }, opening: { moves?: string }, clocks: [number, number][] }} Timed */

/** A move that took longer is shown after so long, in milliseconds: nobody looks at a board that stands still. */
const THOUGHT_MAX_MS = 6_000;
/** A move that came sooner is shown after so long: the disc before it is still falling. */
const THOUGHT_MIN_MS = 350;
/** How long a move is shown where the record does not say how long it took. */
const EVEN_MS = 1_000;

/**
 * How long each move took, in milliseconds; null where the clocks do not tell.
 * @param {Timed} game
 */
export function thoughts({ time, opening, clocks }) {
  const dealt = opening.moves?.length ?? 0;
  return clocks.map((now, ply) => {
    if (time.bank_ms === null || ply < dealt) return null;
    const side = ply % 2;
    const before = ply < 2 ? time.bank_ms : clocks[ply - 2][side];
    const taken = before + time.increment_ms - now[side];
    return taken >= 0 ? taken : null;
  });
}

export class Replay {
  /** @type {GameState | null} */
  #state = null;
  /** Null until they are asked for. @type {(number | null)[] | null} */
  #thoughts = null;
  #timer = 0;
  /** The ply on show. */
  #ply = 0;
  /** Whether what is shown next is the replay's own doing. */
  #isOwn = false;

  /**
   * @param {HTMLElement} root
   * @param {View} view
   */
  constructor(root, view) {
    this.root = root;
    this.view = view;
    this.button = find("#replay-play", root);
    this.pace = /** @type {HTMLSelectElement} */ (find("#replay-pace", root));
    this.button.addEventListener("click", () => (this.#timer ? this.stop() : this.#play()));
    root.addEventListener("shown", (event) => this.#shown(/** @type {CustomEvent<number>} */ (event).detail));
  }

  /** @param {GameState} state */
  show(state) {
    if (state.id !== this.#state?.id) this.#thoughts = null;
    this.#state = state;
    const isThere = state.status === "over" && state.moves.length > 0;
    find("#replay", this.root).hidden = !isThere;
    if (!isThere) this.stop();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#label();
  }

  /** Whoever goes to another position by hand wants to look at that. @param {number} ply */
  #shown(ply) {
    this.#ply = ply;
    if (!this.#isOwn && this.#timer) this.stop();
    this.#tell();
  }

  #label() {
    const isPlaying = this.#timer !== 0;
    this.button.setAttribute("aria-pressed", String(isPlaying));
    setText(find("span", this.button), (isPlaying ? this.button.dataset.pause : this.button.dataset.play) ?? "");
  }

  /** How long the move on show took. */
  #tell() {
    const taken = this.#thoughts?.[this.#ply - 1] ?? null;
    const words = taken === null ? "" : text("game.seconds", { n: decimal((taken / 1000).toFixed(1)) });
    setText(find("#replay-time", this.root), words);
  }

  async #play() {
    const state = this.#state;
    if (!state) return;
    this.#thoughts ??= await this.#ask(state.id);
    if (this.#ply >= state.moves.length) this.#goTo(0);
    this.#next();
  }

  /** @param {string} game @returns {Promise<(number | null)[]>} */
  async #ask(game) {
    try {
      const response = await fetch(`/api/v1/games/${game}`);
      return response.ok ? thoughts(await response.json()) : [];
    } catch {
      return [];
    }
  }

  /** @param {number} ply */
  #goTo(ply) {
    this.#isOwn = true;
    this.view.goTo(ply);
    this.#isOwn = false;
  }

  #next() {
    const state = this.#state;
    if (!state || this.#ply >= state.moves.length) return this.stop();
    this.#timer = window.setTimeout(() => {
      this.#goTo(this.#ply + 1);
      this.#next();
    }, this.#wait());
    this.#label();
  }

  /** How long until the next move is shown. */
  #wait() {
    const even = Number(this.pace.value);
    if (even > 0) return even;
    const taken = this.#thoughts?.[this.#ply] ?? EVEN_MS;
    return Math.min(THOUGHT_MAX_MS, Math.max(THOUGHT_MIN_MS, taken));
  }
}
