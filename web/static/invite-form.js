// The form in which one says how a game with somebody is to be: offers only what goes together, and remembers what was
// chosen last.

import { find } from "./dom.js";
import { landingRow, parseMoves, parseVariant, winningLine } from "./rules.js";

/** @typedef {import("../types/protocol").Time} Time */
/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").Terms & { listed?: boolean }} ChosenTerms */
/** @typedef {{ time?: Time, variant?: string, rated?: boolean }} Wishes what is chosen already, elsewhere on a page */

/** What was chosen last, in the browser. */
const KEY = "invite";
const MINUTE_MS = 60_000;
/** As much as one likes: the time after which a game that is forgotten ends. */
const NO_CLOCK_MS = 900_000;

/** The form's own names of fields are these with `invite-` before them. */
const FIELDS = ["time", "minutes", "seconds", "days", "side", "board", "games", "opening", "moves"];

export class InviteForm {
  /** Whether a rated game is wanted, where it may be one. */
  #wantsRated = false;

  /**
   * @param {HTMLFormElement} form
   * @param {Wishes} wishes
   */
  constructor(form, wishes = {}) {
    this.form = form;
    this.#fill({ ...remembered(), ...asFields(wishes) });
    this.#wantsRated = this.#switch("rated")?.checked ?? false;
    form.addEventListener("input", ({ target }) => {
      const rated = this.#switch("rated");
      if (rated && target === rated) this.#wantsRated = rated.checked;
      this.#fit();
    });
    this.#fit();
  }

  /** What is chosen, which is remembered. @returns {ChosenTerms} */
  take() {
    const kept = Object.fromEntries(FIELDS.map((name) => [name, this.#value(name)]));
    const listed = this.#switch("listed")?.checked ?? false;
    const isPrivate = this.#isPrivate();
    keep({ ...kept, rated: this.#wantsRated, listed, private: isPrivate });
    const [days, opening] = [this.#value("time") === "days", this.#opening()];
    return {
      time: this.#time(),
      rated: this.#switch("rated")?.checked ?? false,
      variant: this.#value("board"),
      side: /** @type {Side | "random" | "opponent"} */ (this.#value("side")),
      games: days ? 1 : Number(this.#value("games")),
      ...(opening && { opening }),
      ...(days && listed && { listed }),
      ...(isPrivate && { private: true }),
    };
  }

  /** @returns {Time} */
  #time() {
    const chosen = this.#value("time");
    if (chosen === "days") return { bank_ms: null, increment_ms: 0, move_ms: Number(this.#value("days")) };
    if (chosen === "none") return { bank_ms: null, increment_ms: 0, move_ms: NO_CLOCK_MS };
    if (chosen === "own") {
      const [minutes, seconds] = [Number(this.#value("minutes")), Number(this.#value("seconds"))];
      return { bank_ms: Math.round(minutes * MINUTE_MS), increment_ms: Math.round(seconds * 1_000), move_ms: null };
    }
    const [first, increment] = chosen.split("+").map(Number);
    return increment === undefined ? { bank_ms: null, increment_ms: 0, move_ms: first } : { bank_ms: first, increment_ms: increment, move_ms: null };
  }

  /** @returns {import("../types/protocol").Opening | null} */
  #opening() {
    const kind = this.#value("opening");
    if (kind === "given") return { kind, moves: this.#value("moves").trim() };
    return kind === "balanced" ? { kind, moves: "" } : null;
  }

  /** Offers what goes with what is chosen. */
  #fit() {
    const time = this.#value("time");
    const board = /** @type {HTMLSelectElement} */ (this.#field("board"));
    const balanced = /** @type {HTMLOptionElement} */ (find('option[value="balanced"]', this.form));
    balanced.hidden = balanced.disabled = !board.selectedOptions[0]?.hasAttribute("data-balanced");
    const opening = /** @type {HTMLSelectElement} */ (this.#field("opening"));
    if (opening.value === "balanced" && balanced.disabled) opening.value = "none";
    // An empty board is no reason for anything, unlike a game without a clock.
    const chosen = [time === "none" ? "no-clock" : time, opening.value, this.#isPrivate() ? "private" : "", this.#value("side")];
    for (const part of /** @type {NodeListOf<HTMLElement>} */ (this.form.querySelectorAll("[data-with]"))) {
      part.hidden = !chosen.includes(part.dataset.with ?? "");
      // What is not asked for need not be right.
      for (const input of part.querySelectorAll("input, select")) /** @type {HTMLInputElement} */ (input).disabled = part.hidden;
    }
    const games = /** @type {HTMLSelectElement} */ (this.#field("games"));
    games.disabled = time === "days";
    if (games.disabled) games.value = "1";
    this.#fitListed();
    this.#fitRated(chosen);
    this.#check();
  }

  /** What everybody may take is not private. */
  #fitListed() {
    const listed = this.#switch("listed");
    if (!listed || !this.#isPrivate()) return;
    listed.checked = false;
    listed.disabled = true;
  }

  #isPrivate() {
    return this.#switch("private")?.checked ?? false;
  }

  /** A rated game has a clock, is in the lists, and nobody chooses its beginning. @param {string[]} chosen */
  #fitRated(chosen) {
    const rated = this.#switch("rated");
    if (!rated || rated.hasAttribute("data-never")) return;
    const reasons = /** @type {HTMLElement[]} */ ([...this.form.querySelectorAll("[data-unrated]")]);
    for (const reason of reasons) reason.hidden = !chosen.includes(reason.dataset.unrated ?? "");
    const shown = reasons.filter((reason) => !reason.hidden);
    rated.disabled = shown.length > 0;
    rated.checked = this.#wantsRated && !rated.disabled;
    rated.setAttribute("aria-describedby", shown.map(({ id }) => id).join(" "));
  }

  /** What the browser cannot see by itself. */
  #check() {
    const [minutes, seconds, moves] = ["minutes", "seconds", "moves"].map((name) => /** @type {HTMLInputElement} */ (this.#field(name)));
    const over = Number(seconds.value) > Number(minutes.value) * 60;
    seconds.setCustomValidity(over ? (this.form.dataset.tooManySeconds ?? "") : "");
    moves.setCustomValidity(canBegin(this.#value("board"), moves.value) ? "" : (this.form.dataset.badMoves ?? ""));
  }

  /** @param {string} name */
  #field(name) {
    return this.form.elements.namedItem(`invite-${name}`);
  }

  /** @param {string} name */
  #value(name) {
    const field = /** @type {HTMLInputElement | RadioNodeList | null} */ (this.#field(name));
    return field?.value ?? "";
  }

  /** @param {string} name */
  #switch(name) {
    return /** @type {HTMLInputElement | null} */ (this.#field(name));
  }

  /** Takes over what can be chosen here. @param {Record<string, unknown>} wanted by the fields' names */
  #fill(wanted) {
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (this.form.querySelectorAll("input, select"))) {
      const value = wanted[input.name.replace("invite-", "")];
      if (value === undefined || input.disabled) continue;
      if (input.type === "radio") input.checked ||= input.value === value;
      else if (input.type === "checkbox") input.checked = value === true;
      else if (!(input instanceof HTMLSelectElement) || [...input.options].some((option) => option.value === value)) input.value = String(value);
    }
  }
}

/**
 * Whether a game may begin after these moves.
 * @param {string} board
 * @param {string} text
 */
function canBegin(board, text) {
  const variant = parseVariant(board);
  const moves = parseMoves(text.trim());
  return moves.length > 0 && moves.every((column, ply) => {
    const before = moves.slice(0, ply);
    return column >= 1 && column <= variant.width && landingRow(variant, before, column) > 0 && !winningLine(variant, moves.slice(0, ply + 1));
  });
}

/** @param {Wishes} wishes */
function asFields({ time, variant, rated }) {
  /** @type {Record<string, unknown>} */
  const fields = { ...(variant && { board: variant }), ...(rated !== undefined && { rated }) };
  if (!time) return fields;
  if (time.bank_ms !== null) return { ...fields, time: `${time.bank_ms}+${time.increment_ms}` };
  return { ...fields, time: Number(time.move_ms) >= 86_400_000 ? "days" : String(time.move_ms) };
}

/** @returns {Record<string, unknown>} */
function remembered() {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof known === "object" && known !== null ? known : {};
  } catch {
    return {};
  }
}

/** @param {object} chosen */
function keep(chosen) {
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // It is asked anew next time.
  }
}
