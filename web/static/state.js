// One game as the page knows it: a pure function from messages to state. Times are the caller's `now`, in
// milliseconds of whatever clock it likes, as long as it is one and the same.

import { isCorrespondence } from "./correspondence.js";
import { other, parseMoves, parseVariant, sideToMove, winningLine } from "./rules.js";

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").Snapshot} Snapshot */
/** @typedef {import("../types/protocol").GameMessage} GameMessage */
/** @typedef {import("../types/protocol").Sides<number>} Clocks */
/** @typedef {{ since: number, claimAt: number | null }} Absence */
/**
 * @typedef {object} GameState
 * @property {string} id
 * @property {Side | null} you null for a watcher
 * @property {Snapshot["players"]} players
 * @property {boolean} rated
 * @property {string | undefined} unratedBecause
 * @property {Snapshot["time"]} time
 * @property {import("./rules.js").Variant} variant
 * @property {number} openingPlies moves that stood on the board at the start
 * @property {Snapshot["pair"]} pair
 * @property {Snapshot["series"]} series of which the better wins, as it stood before the game
 * @property {number[]} moves
 * @property {Clocks} clock what each side had left at `clockAt`
 * @property {number} clockAt
 * @property {number} turnAt when the current turn began
 * @property {boolean} paused a teacher lets it stand still
 * @property {number | null} frozenUntil clocks stand still, at most until then
 * @property {Side | null} toMove null when over
 * @property {number} eventSeq
 * @property {"live" | "over"} status
 * @property {Snapshot["result"]} result
 * @property {Snapshot["reason"]} reason
 * @property {import("../types/protocol").CellNumbers[] | null} line
 * @property {import("../types/protocol").Sides<import("../types/protocol").RatingChange> | undefined} rating
 * @property {number} watching
 * @property {{ first: Absence | null, second: Absence | null }} gone
 * @property {Side | null} takebackBy who asked to take a move back
 * @property {Side | null} refusedBy who did not give a move back, until the next one
 * @property {{ first: boolean, second: boolean }} rematch who wants another game
 * @property {boolean} needsSync something was missed: ask for a fresh snapshot
 */

/**
 * A game from its snapshot. What a snapshot does not say is kept from `before`, if that is the same game.
 * @param {Snapshot} message
 * @param {number} now
 * @param {GameState | null} before
 * @returns {GameState}
 */
export function fromSnapshot(message, now, before = null) {
  const same = before?.id === message.game ? before : null;
  const variant = parseVariant(message.variant);
  const moves = parseMoves(message.moves);
  return {
    id: message.game,
    you: message.you,
    players: message.players,
    rated: message.rated,
    unratedBecause: message.unrated_because ?? same?.unratedBecause,
    time: message.time,
    variant,
    openingPlies: parseMoves(message.opening.moves).length,
    pair: message.pair,
    series: message.series,
    moves,
    clock: message.clock,
    clockAt: now,
    turnAt: same?.moves.length === moves.length ? same.turnAt : now,
    paused: message.paused ?? false,
    frozenUntil: message.frozen_ms == null ? null : now + message.frozen_ms,
    toMove: message.to_move,
    eventSeq: message.event_seq,
    status: message.status,
    result: message.result,
    reason: message.reason,
    line: message.line ?? (message.reason === "four" ? winningLine(variant, moves) : null),
    rating: same?.rating,
    watching: message.watching ?? same?.watching ?? 0,
    gone: same?.gone ?? { first: null, second: null },
    takebackBy: same?.moves.length === moves.length ? same.takebackBy : null,
    refusedBy: same?.moves.length === moves.length ? same.refusedBy : null,
    rematch: same?.rematch ?? { first: false, second: false },
    needsSync: false,
  };
}

/**
 * The state after a message. Messages of other games change nothing.
 * @param {GameState | null} state
 * @param {GameMessage} message
 * @param {number} now
 * @returns {GameState | null}
 */
export function reduce(state, message, now) {
  if (message.type === "game") {
    return state && state.id !== message.game ? state : fromSnapshot(message, now, state);
  }
  if (!state || state.id !== message.game) return state;
  switch (message.type) {
    case "moved":
      return moved(state, message, now);
    case "turn":
      return turn(state, message, now);
    case "game_end":
      return ended(state, message, now);
    case "opponent_gone": {
      const claimAt = message.claim_ms == null ? null : now + message.claim_ms;
      const absence = message.gone ? { since: state.gone[message.by]?.since ?? now, claimAt } : null;
      return { ...state, gone: { ...state.gone, [message.by]: absence } };
    }
    case "takeback_offer":
      return { ...state, takebackBy: message.by, refusedBy: null };
    case "takeback_refused":
      return { ...state, takebackBy: null, refusedBy: message.by };
    case "rematch_offer":
      return { ...state, rematch: { ...state.rematch, [message.by]: true } };
    case "crowd":
      return { ...state, watching: message.watching };
    case "reaction":
      return state;
  }
}

/**
 * @param {GameState} state
 * @param {import("../types/protocol").Moved} message
 * @param {number} now
 * @returns {GameState}
 */
function moved(state, message, now) {
  if (message.event_seq <= state.eventSeq) return state;
  const follows = message.event_seq === state.eventSeq + 1 && message.ply === state.moves.length + 1;
  if (!follows) return { ...state, needsSync: true };
  const moves = [...state.moves, message.column];
  return {
    ...state,
    moves,
    eventSeq: message.event_seq,
    clock: message.clock,
    clockAt: now,
    turnAt: now,
    frozenUntil: null,
    toMove: state.status === "live" ? sideToMove(moves.length) : null,
    takebackBy: null,
    refusedBy: null,
    // Only the absence of the side to move runs towards a claim; the next `opponent_gone` says from when.
    gone: { ...state.gone, [message.by]: null },
  };
}

/**
 * @param {GameState} state
 * @param {import("../types/protocol").Turn} message
 * @param {number} now
 * @returns {GameState}
 */
function turn(state, message, now) {
  if (!state.you || state.status === "over") return state;
  if (message.ply !== state.moves.length) return { ...state, needsSync: true };
  const theirs = other(state.you);
  const clock = { ...state.clock, [state.you]: message.clock.you, [theirs]: message.clock.opponent };
  // A vacation goes on though one is asked for a move, as does a teacher's pause for whoever comes back in it.
  const frozenUntil = isCorrespondence(state) || state.paused ? state.frozenUntil : null;
  return { ...state, clock, clockAt: now, frozenUntil, toMove: state.you };
}

/**
 * @param {GameState} state
 * @param {import("../types/protocol").GameEnd} message
 * @param {number} now
 * @returns {GameState}
 */
function ended(state, message, now) {
  const moves = parseMoves(message.moves);
  return {
    ...state,
    moves,
    eventSeq: Math.max(state.eventSeq, message.event_seq),
    clock: message.clock,
    clockAt: now,
    frozenUntil: null,
    toMove: null,
    status: "over",
    result: message.result,
    reason: message.reason,
    line: message.line ?? (message.reason === "four" ? winningLine(state.variant, moves) : null),
    rating: message.rating,
    // Whether a game counts is known at its end: one that is too short, or the same again, does not.
    rated: state.rated && !message.unrated_because,
    unratedBecause: message.unrated_because ?? state.unratedBecause,
    gone: { first: null, second: null },
    takebackBy: null,
    refusedBy: null,
  };
}

/**
 * What `side` has left at `now`, in milliseconds: of its bank, or without a bank of its move.
 * @param {GameState} state
 * @param {Side} side
 * @param {number} now
 */
export function timeLeft(state, side, now) {
  const runs = state.toMove === side && state.status === "live" && state.frozenUntil === null;
  return Math.max(0, state.clock[side] - (runs ? now - state.clockAt : 0));
}

/**
 * What is left of the limit for this move, if there is one beside the bank; null if not.
 * @param {GameState} state
 * @param {Side} side
 * @param {number} now
 */
export function moveTimeLeft(state, side, now) {
  if (state.time.bank_ms === null || state.time.move_ms === null || state.toMove !== side) return null;
  return Math.max(0, state.time.move_ms - (state.frozenUntil === null ? now - state.turnAt : 0));
}

/** @param {GameState} state whether both sides have yet to make their first move */
export function canAbort(state) {
  return state.status === "live" && state.you !== null && state.moves.length - state.openingPlies < 2;
}

/** The tournament of a game, if it is one of a tournament: the name of its pair begins with it. @param {GameState} state */
export const tournamentOf = ({ pair }) => /^(.+)-t\d+$/.exec(pair?.id ?? "")?.[1] ?? null;
