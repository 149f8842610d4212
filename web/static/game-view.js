// Draws one game: both seats, the board, what happens, the moves, and the way back through them. Holds no game of its
// own: it is given a state and shows it, at the end or at an earlier ply.

import { announce } from "./announce.js";
import { BoardElement } from "./board.js";
import { ClockElement } from "./clock.js";
import { nameOf, pictureOf } from "./companion.js";
import { isCorrespondence } from "./correspondence.js";
import { el, find, icon, setText } from "./dom.js";
import { discIcon } from "./drawing.js";
import { other, winningLine } from "./rules.js";
import { moveTimeLeft, timeLeft } from "./state.js";
import { count, text } from "./texts.js";
import { because, boardName, COLOR, headline as resultWords, isUnhurried, shortTime, spokenTime, timeControl, unrated } from "./words.js";

/** @typedef {import("./state.js").GameState} GameState */
/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").Player} Player */

export class GameView {
  /** @type {GameState | null} */
  #state = null;
  /** The ply on show, or null for the last. @type {number | null} */
  #shown = null;
  /** @type {number | null} */
  #pending = null;
  /** @type {number | null} */
  #planned = null;
  #late = false;
  /** Counts down to the end of a game in which nobody moves. */
  #hurry = 0;
  #movesKey = "";
  #seatsKey = "";

  /**
   * @param {HTMLElement} root the element of game.html that holds a game
   * @param {typeof import("./best-of.js")} bestOf what is said of series; given, so that lists of games need not load it
   */
  constructor(root, bestOf) {
    this.root = root;
    this.bestOf = bestOf;
    this.board = /** @type {BoardElement} */ (find("ff-board", root));
    this.range = /** @type {HTMLInputElement} */ (find("#scrub", root));
    this.range.addEventListener("input", () => this.goTo(Number(this.range.value)));
    const steps = { "#scrub-first": -Infinity, "#scrub-previous": -1, "#scrub-next": 1, "#scrub-last": Infinity };
    for (const [selector, by] of Object.entries(steps)) {
      find(selector, root).addEventListener("click", () => this.step(by));
    }
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  /** Whether the last position is on show. */
  get atEnd() {
    return this.#shown === null;
  }

  /**
   * @param {GameState} state
   * @param {number | null} pending a column chosen and not yet acknowledged
   * @param {number | null} planned a column chosen for the next turn
   * @param {boolean} late whether the chosen column should have been acknowledged by now
   */
  show(state, pending = null, planned = null, late = false) {
    const before = this.#state;
    const isNew = before?.id !== state.id;
    if (isNew || state.moves.length < (this.#shown ?? 0)) this.#shown = null;
    if (before && state.you && state.moves.length > before.moves.length) this.#shown = null;
    this.#state = state;
    this.#pending = pending;
    this.#planned = planned;
    this.#late = late;
    this.#speak(isNew ? null : before, state);
    this.#render();
  }

  /** @param {number} ply */
  goTo(ply) {
    if (!this.#state) return;
    const last = this.#state.moves.length;
    const shown = Math.min(last, Math.max(0, ply));
    this.#shown = shown === last ? null : shown;
    this.#render();
  }

  /** @param {number} by plies */
  step(by) {
    if (this.#state) this.goTo((this.#shown ?? this.#state.moves.length) + by);
  }

  /**
   * Lets a reaction rise from its side's seat.
   * @param {Side} side
   * @param {string} words an emoji or a phrase
   */
  react(side, words) {
    const seat = find(`[data-side="${side}"]`, this.root);
    // An emoji has no letter.
    const look = /\p{L}/u.test(words) ? "floating phrase" : "floating";
    const shown = el("span", { class: look, "aria-hidden": "true", animationend: () => shown.remove() }, words);
    // What is said last is read alone.
    for (const before of seat.querySelectorAll(".floating.phrase")) before.remove();
    seat.append(shown);
    announce(`${this.#state ? nameOf(this.#state.players[side]) : ""}: ${words}`);
  }

  #render() {
    const state = this.#state;
    if (!state) return;
    const moves = this.#shown === null ? state.moves : state.moves.slice(0, this.#shown);
    const yours = state.status === "live" && state.you !== null && state.toMove === state.you;
    this.root.dataset.status = state.status;
    this.root.dataset.turn = state.toMove === null ? "none" : yours ? "yours" : "theirs";
    this.root.dataset.ply = String(state.moves.length);
    this.root.dataset.you = state.you ?? "";
    this.root.classList.toggle("unhurried", isUnhurried(state.time));
    this.board.show({
      variant: state.variant,
      moves,
      line: this.atEnd ? state.line : null,
      seated: state.you !== null && state.status === "live",
      playable: yours && this.atEnd && this.#pending === null,
      plannable: state.status === "live" && state.you !== null && !yours && this.atEnd,
      pending: this.atEnd ? this.#pending : null,
      planned: this.atEnd ? this.#planned : null,
    });
    this.#showSeats(state);
    this.#showStatus(state, yours);
    this.#showTerms(state);
    this.#showMoves(state);
    this.#showScrub(state);
    this.root.dispatchEvent(new CustomEvent("shown", { detail: moves.length }));
  }

  // 1. Seats

  /** @param {GameState} state */
  #showSeats(state) {
    const bottom = state.you ?? "first";
    const key = JSON.stringify([state.id, bottom, state.players]);
    if (key !== this.#seatsKey) {
      this.#seatsKey = key;
      this.#buildSeat("bottom", bottom, state.players[bottom]);
      this.#buildSeat("top", other(bottom), state.players[other(bottom)]);
    }
    for (const side of /** @type {Side[]} */ (["first", "second"])) this.#showSeat(state, side);
  }

  /**
   * @param {"top" | "bottom"} place
   * @param {Side} side
   * @param {Player} player
   */
  #buildSeat(place, side, player) {
    const seat = find(`[data-seat="${place}"]`, this.root);
    seat.dataset.side = side;
    const clock = /** @type {ClockElement} */ (document.createElement("ff-clock"));
    clock.setAttribute("role", "timer");
    clock.setAttribute("aria-label", text("game.time_of", { name: nameOf(player) }));
    seat.replaceChildren(
      discIcon(side),
      pictureOf(player) ?? "",
      el("div", { class: "who" }, playerLink(player), el("span", { class: "delta" })),
      el("span", { class: "away", hidden: true }, text("game.away")),
      clock,
    );
    clock.follow(() => {
      const state = this.#state;
      if (!state) return null;
      const now = performance.now();
      return {
        ms: timeLeft(state, side, now),
        moveMs: moveTimeLeft(state, side, now),
        running: state.status === "live" && state.toMove === side && state.frozenUntil === null,
        frozen: state.frozenUntil !== null,
      };
    });
  }

  /**
   * @param {GameState} state
   * @param {Side} side
   */
  #showSeat(state, side) {
    const seat = find(`[data-side="${side}"]`, this.root);
    seat.classList.toggle("to-move", state.status === "live" && state.toMove === side);
    /** @type {ClockElement} */ (find("ff-clock", seat)).tick();
    find(".away", seat).hidden = !state.gone[side];
    const change = state.rating?.[side];
    const gain = change ? change.after - change.before : 0;
    const delta = find(".delta", seat);
    setText(delta, change ? `${gain >= 0 ? "+" : "−"}${Math.abs(gain)}` : "");
    delta.className = `delta ${gain >= 0 ? "won" : "lost"}`;
  }

  // 2. Status and terms

  /**
   * @param {GameState} state
   * @param {boolean} yours whether it is the viewer's turn
   */
  #showStatus(state, yours) {
    const [headline, detail] = this.bestOf.andThen(statusWords(state, yours), state);
    setText(find(".status-text", this.root), headline);
    const scrubbed = this.#shown === null ? "" : `${text("game.looking_back", { n: this.#shown, all: state.moves.length })} `;
    const told = find(".status-detail", this.root);
    clearTimeout(this.#hurry);
    const left = yours ? firstMoveLeft(state, performance.now()) : null;
    if (left !== null) this.#hurry = window.setTimeout(() => this.#showStatus(state, yours), 1_000);
    const first = left === null ? detail : text("game.first_move_in", { time: shortTime(left) });
    setText(told, this.#late ? text("game.move_on_its_way") : scrubbed + first);
    told.classList.toggle("late", this.#late);
    if (state.you) document.title = `${yours ? "● " : ""}${headline} · Fourfold`;
  }

  /** @param {GameState} state */
  #showTerms(state) {
    const parts = [
      el("span", {}, icon("clock"), timeControl(state.time)),
      el("span", {}, text(state.unratedBecause === "private" ? "invite.private" : counts(state) ? "game.rated" : "game.casual")),
      el("span", {}, boardName(state.variant)),
    ];
    parts.push(...this.bestOf.terms(state));
    if (state.watching) parts.push(el("span", {}, icon("eye"), count("game.watching", state.watching)));
    find(".terms", this.root).replaceChildren(...parts);
  }

  // 3. Moves

  /** @param {GameState} state */
  #showMoves(state) {
    const list = find(".moves", this.root);
    const key = `${state.id} ${state.moves.join(",")}`;
    if (key !== this.#movesKey) {
      this.#movesKey = key;
      list.replaceChildren(...moveRows(state, (ply) => this.goTo(ply)));
    }
    const current = this.#shown ?? state.moves.length;
    list.querySelectorAll("button").forEach((button, index) => {
      if (index + 1 === current) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    });
    const marked = list.querySelector("[aria-current]");
    if (marked instanceof HTMLElement) {
      const top = marked.offsetTop - list.offsetTop;
      if (top < list.scrollTop || top + marked.offsetHeight > list.scrollTop + list.clientHeight) {
        list.scrollTop = top - list.clientHeight + marked.offsetHeight;
      }
    }
  }

  /** @param {GameState} state */
  #showScrub(state) {
    const shown = this.#shown ?? state.moves.length;
    this.range.max = String(state.moves.length);
    this.range.value = String(shown);
    this.range.setAttribute("aria-valuetext", text("game.move_of", { n: shown, all: state.moves.length }));
  }

  // 4. Keys and speech

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = event.target instanceof HTMLElement ? event.target : null;
    const typing = target?.matches("input, select, textarea, dialog *") ?? false;
    if (typing || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const column = /^[1-9]$/.test(event.key) ? Number(event.key) : 0;
    if (column) this.board.choose(column);
    else if (event.key === "ArrowLeft") this.step(-1);
    else if (event.key === "ArrowRight") this.step(1);
    else if (event.key === "t") this.#speakClocks();
    else return;
    event.preventDefault();
  }

  #speakClocks() {
    const state = this.#state;
    if (!state) return;
    const say = (/** @type {Side} */ side) => {
      const time = spokenTime(timeLeft(state, side, performance.now()));
      if (side === state.you) return text("game.clock_you", { time });
      return text("game.clock_of", { name: nameOf(state.players[side]), time });
    };
    const mine = state.you ?? "first";
    announce(`${say(mine)} ${say(other(mine))}`);
  }

  /**
   * Says what has changed.
   * @param {GameState | null} before
   * @param {GameState} state
   */
  #speak(before, state) {
    if (!before) return;
    const parts = [];
    let isNext = false;
    const fresh = state.moves.length - before.moves.length;
    if (fresh < 0) parts.push(text("game.taken_back"));
    for (let ply = Math.max(before.moves.length, state.moves.length - 2); fresh > 0 && ply < state.moves.length; ply += 1) {
      const side = ply % 2 === 0 ? "first" : "second";
      const column = state.moves[ply];
      parts.push(side === state.you ? text("game.played_you", { column }) : text("game.played", { color: COLOR[side], column }));
    }
    if (state.status === "over" && before.status === "live") {
      const [headline, detail] = this.bestOf.andThen(statusWords(state, false), state);
      parts.push(`${headline}. ${detail}`);
    } else if (fresh !== 0 && state.you && state.toMove === state.you) {
      isNext = true;
    }
    announce(parts.join(" "));
    // A move that ends the game comes before the word that it is over, often at once with it: nobody is to move then.
    const holds = () => this.#state?.id === state.id && this.#state.status === "live" && this.#state.toMove === state.you;
    if (isNext && !isDecided(state)) announce(`${text("game.your_turn")}.`, holds);
  }
}

/**
 * @param {GameState} state
 * @param {boolean} yours
 * @returns {[string, string]} headline and detail
 */
function statusWords(state, yours) {
  const names = { first: nameOf(state.players.first), second: nameOf(state.players.second) };
  if (state.status === "over") {
    const result = state.result ?? "void";
    const reason = because(result, state.reason ?? "stopped", names, state.variant.connect, state.you);
    return [resultWords(result, state.you, names), [reason, state.rated ? "" : unrated(state.unratedBecause)].filter(Boolean).join(". ")];
  }
  const mover = names[state.toMove ?? "first"];
  const why = text(isCorrespondence(state) ? "correspondence.on_vacation" : state.paused ? "attending.look_up" : "game.frozen");
  const frozen = state.frozenUntil === null ? "" : `${why} `;
  if (state.you) {
    const shape = text(state.you === "first" ? "game.you_are_first" : "game.you_are_second");
    return [yours ? text("game.your_turn") : text("game.waiting_for", { name: mover }), frozen + shape];
  }
  return [text("game.to_move", { name: mover }), frozen + text("game.next", { color: COLOR[state.toMove ?? "first"] })];
}

/** Whether nobody can move any more: a line stands there, or the board is full. @param {GameState} state */
function isDecided({ variant, moves }) {
  return moves.length === variant.width * variant.height || winningLine(variant, moves) !== null;
}

/** Whether a rating moves by it: one of live games, or one by correspondence. @param {GameState} state */
const counts = ({ rated, unratedBecause }) => rated || unratedBecause === "correspondence";

/** How long a person may take for the first move where somebody waits for it, in milliseconds: the server's rule. */
const FIRST_MOVE_MS = 30_000;

/**
 * How much of that is left to whoever looks; null where nobody is hurried.
 * @param {GameState} state
 * @param {number} now
 */
function firstMoveLeft(state, now) {
  const { you, time } = state;
  if (!you || state.moves.length > state.openingPlies + 1 || state.frozenUntil !== null) return null;
  if (!state.rated && state.players[other(you)].kind === "bot") return null;
  if (isCorrespondence(state)) return null;
  const whole = time.bank_ms ?? time.move_ms ?? 0;
  return Math.max(0, FIRST_MOVE_MS - (whole - timeLeft(state, you, now)));
}

/**
 * @param {GameState} state
 * @param {(ply: number) => void} goTo
 */
function moveRows(state, goTo) {
  if (state.moves.length === 0) return [el("p", { class: "no-moves" }, text("game.no_moves"))];
  const rows = state.moves.flatMap((column, index) => {
    const side = index % 2 === 0 ? "first" : "second";
    const label = text("game.move_label", { ply: index + 1, color: COLOR[side], column });
    const given = index < state.openingPlies;
    const button = el(
      "button",
      { type: "button", "aria-label": label + (given ? `, ${text("game.opening")}` : ""), class: given && "opening", click: () => goTo(index + 1) },
      discIcon(side),
      String(column),
    );
    return side === "first" ? [el("span", { class: "nr", "aria-hidden": "true" }, `${index + 1}.`), button] : [button];
  });
  return rows;
}

/**
 * @param {Player} player a link to the page of everybody who has one
 * @param {Node | null} face
 */
export function playerLink(player, face = null) {
  if (player.kind === "guest") return el("span", { class: "player" }, face ?? "", ...playerParts(player));
  return el("a", { class: "player", href: `/player/${player.name}` }, face ?? "", ...playerParts(player));
}

/**
 * Without a link, with the face of whoever has one.
 * @param {Player} player
 * @param {import("./state.js").GameState["players"]} [among] of a game in a list: where bots play each other, no word says so
 */
export function playerTag(player, among) {
  return el("span", { class: "player" }, pictureOf(player) ?? "", ...playerParts(player, among));
}

/** @param {Player} player @param {import("./state.js").GameState["players"]} [among] */
function playerParts(player, among) {
  const parts = [el("span", { class: "name" }, nameOf(player))];
  const areBots = among?.first.kind === "bot" && among.second.kind === "bot";
  if (player.kind !== "human" && !areBots) parts.push(kindBadge(player.kind));
  if (player.rating) parts.push(ratingText(player.rating));
  return parts;
}

/** @param {"bot" | "guest"} kind */
function kindBadge(kind) {
  return el("span", { class: `badge ${kind}` }, text(kind === "bot" ? "site.bot" : "site.guest"));
}

/** @param {import("../types/protocol").Rating} rating */
function ratingText(rating) {
  const range = { low: rating.elo - rating.pm95, high: rating.elo + rating.pm95 };
  const title = rating.pm95 === 0 ? text("bots.measured") : text("site.rating_range", range);
  return el("span", { class: "rating", title }, `${rating.elo}${rating.provisional ? "?" : ""}`);
}
