// <ff-clock>: a clock face that counts down by itself between the server's messages. The server's clock decides;
// this one only shows.

import { text } from "./texts.js";
import { clockFace } from "./words.js";

/** Below this the clock turns red, in milliseconds. */
const LOW_MS = 10_000;
/** And below this it beats. */
const URGENT_MS = 5_000;

export class ClockElement extends HTMLElement {
  /** @type {() => { ms: number, moveMs: number | null, running: boolean, frozen: boolean } | null} */
  #read = () => null;
  #timer = 0;

  /** @param {() => { ms: number, moveMs: number | null, running: boolean, frozen: boolean } | null} read the time now */
  follow(read) {
    this.#read = read;
    this.tick();
  }

  disconnectedCallback() {
    clearTimeout(this.#timer);
  }

  tick() {
    clearTimeout(this.#timer);
    const time = this.#read();
    if (!time) return;
    const tightest = Math.min(time.ms, time.moveMs ?? time.ms);
    this.classList.toggle("running", time.running);
    this.classList.toggle("frozen", time.frozen);
    const low = tightest < LOW_MS && (time.running || time.ms < LOW_MS);
    // Heard once a turn, by whoever listens.
    if (low && time.running && !this.classList.contains("low")) this.dispatchEvent(new CustomEvent("low", { bubbles: true }));
    this.classList.toggle("low", low);
    this.classList.toggle("urgent", time.running && tightest < URGENT_MS && tightest > 0);
    this.#write(clockFace(time.ms), time.moveMs === null ? "" : text("game.move_time", { time: clockFace(time.moveMs) }));
    // Wakes when the shown digits change next: tenths at the end, seconds before.
    if (time.running) this.#timer = window.setTimeout(() => this.tick(), tightest < LOW_MS ? 100 : (tightest % 1000) + 10);
  }

  /**
   * @param {string} face
   * @param {string} move
   */
  #write(face, move) {
    if (!(this.firstChild instanceof Text)) this.replaceChildren(face);
    else if (this.firstChild.data !== face) this.firstChild.data = face;
    const small = this.querySelector(".move-clock");
    if (small && !move) small.remove();
    if (!move) return;
    const line = small ?? this.appendChild(Object.assign(document.createElement("span"), { className: "move-clock" }));
    line.textContent = move;
  }
}

customElements.define("ff-clock", ClockElement);
