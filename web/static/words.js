// How things are said: time controls, results, reasons, refusals. The only place with sentences built from data.

import { parseVariant } from "./rules.js";
import { count, decimal, text } from "./texts.js";

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").Time} Time */
/** @typedef {import("../types/protocol").Result} Result */
/** @typedef {import("../types/protocol").Reason} Reason */

/** @type {Record<Side, string>} */
export const COLOR = { first: text("game.first_color"), second: text("game.second_color") };

const DAY_MS = 86_400_000;

/** @param {number} ms */
function length(ms) {
  if (ms >= DAY_MS && ms % DAY_MS === 0) return count("game.days", ms / DAY_MS);
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return text("game.hours", { n: ms / 3_600_000 });
  if (ms >= 60_000 && ms % 60_000 === 0) return text("game.minutes", { n: ms / 60_000 });
  return text("game.seconds", { n: decimal(ms / 1000) });
}

/** From this limit for each move on nobody need look at a clock; it ends games that are forgotten, in milliseconds. */
const UNHURRIED_MS = 900_000;

/** Whether a game goes without a clock, but for that limit. @param {Time} time */
export function isUnhurried(time) {
  return time.bank_ms === null && time.move_ms !== null && time.move_ms >= UNHURRIED_MS && time.move_ms < DAY_MS;
}

/**
 * `3 min + 2 s`, `30 s a move`.
 * @param {Time} time
 */
export function timeControl(time) {
  if (isUnhurried(time)) return text("game.no_clock");
  const parts = [];
  if (time.bank_ms !== null) {
    parts.push(length(time.bank_ms) + (time.increment_ms > 0 ? ` + ${length(time.increment_ms)}` : ""));
  }
  if (time.move_ms !== null) parts.push(text("game.per_move", { time: length(time.move_ms) }));
  return parts.join(", ");
}

/** A guest's name as it was drawn; others were chosen. */
const DRAWN = /^[2-9b-df-hjkmnp-tv-z]{6}$/;

/** What somebody is called, beside a mark that says who is a guest: guests who chose a name by that alone. @param {string} name */
export function spokenName(name) {
  const chosen = name.startsWith("guest-") ? name.slice("guest-".length) : "";
  return chosen && !DRAWN.test(chosen) ? chosen : name;
}

/**
 * `9 × 6, 5 in a row`.
 * @param {import("./rules.js").Variant} variant
 */
export function boardName({ width, height, connect }) {
  return `${width} × ${height}${connect === 4 ? "" : `, ${text("game.in_a_row", { n: connect })}`}`;
}

/** The board that goes without saying. */
const USUAL_BOARD = "7x6";

/** Halves of points as people write them: `2½`. @param {number} halves */
export function points(halves) {
  const whole = Math.floor(halves / 2);
  return halves % 2 === 0 ? String(whole) : `${whole || ""}½`;
}

/** How a game begins, where that is not an empty board. @param {import("../types/protocol").Opening | undefined} opening */
function openingWords(opening) {
  if (opening?.kind === "balanced") return [text("invite.opening_balanced")];
  return opening?.moves ? [text("invite.after_moves", { moves: opening.moves })] : [];
}

/**
 * What a game that is offered would be, to whoever made the offer or is asked; the usual board and a single game go
 * without saying.
 * @param {Pick<import("../types/protocol").Offer, "time" | "rated" | "variant" | "side" | "opening" | "games" | "private">} terms
 * @param {boolean} mine
 */
export function offerWords({ time, rated, variant = USUAL_BOARD, side = "random", opening, games = 1, private: isPrivate }, mine) {
  const color = side === "random" || side === "opponent" ? "" : COLOR[(side === "first") === mine ? "first" : "second"];
  const byWhom = side === "random" ? text("invite.colors_by_lot") : text(mine ? "challenge.other_chooses" : "challenge.you_choose");
  return [
    timeControl(time),
    text(isPrivate ? "invite.private" : rated ? "game.rated" : "game.casual"),
    ...(variant === USUAL_BOARD ? [] : [boardName(parseVariant(variant))]),
    color ? text("invite.you_play", { color }) : byWhom,
    ...openingWords(opening),
    ...(games > 1 ? [games === 3 || games === 5 ? text("challenge.best_of", { n: games }) : count("challenge.games", games)] : []),
  ].join(" · ");
}

/**
 * What a clock shows: `3:05`, `9.4` in the last ten seconds, `2 d 5 h` from a day on.
 * @param {number} ms
 */
export function clockFace(ms) {
  const left = Math.max(0, ms);
  if (left < 10_000) return decimal((Math.floor(left / 100) / 10).toFixed(1));
  const seconds = Math.ceil(left / 1000);
  const pad = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${pad(seconds % 60)}`;
  if (minutes >= 24 * 60) {
    const hours = Math.floor(minutes / 60);
    return text("game.days_hours", { days: Math.floor(hours / 24), hours: hours % 24 });
  }
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(seconds % 60)}`;
}

/** @param {number} ms as one says it, in whole minutes and seconds */
export function spokenTime(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  const rest = count("game.spoken_seconds", seconds % 60);
  return minutes ? `${count("game.spoken_minutes", minutes)} ${rest}` : rest;
}

/** @param {number} ms a wait, in whole seconds: `9 s`, `1:05` */
export function shortTime(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return seconds < 60 ? text("game.seconds", { n: seconds }) : clockFace(seconds * 1000);
}

/** What is said of a loss, to others and to whoever lost. @type {Partial<Record<Reason, [string, string]>>} */
const LOSSES = {
  resign: ["game.resigned", "game.resigned_you"],
  time: ["game.timed_out", "game.timed_out_you"],
  illegal: ["game.broke_rules", "game.broke_rules_you"],
  left: ["game.went", "game.went_you"],
};

/** What is said of an end that is nobody's loss by itself. @type {Partial<Record<Reason, string>>} */
const ENDS = {
  four: "game.four",
  full: "game.full",
  aborted: "game.aborted",
  stopped: "game.stopped",
  bot_failed: "game.bot_failed",
};

/**
 * The headline of a finished game, for a player or a watcher.
 * @param {Result} result
 * @param {Side | null} you
 * @param {{ first: string, second: string }} names
 */
export function headline(result, you, names) {
  if (result === "draw") return text("game.draw");
  if (result === "void") return text("game.void");
  if (you) return text(result === you ? "game.you_win" : "game.you_lost");
  return text("game.wins", { name: names[result] });
}

/**
 * How it came to the result.
 * @param {Result} result
 * @param {Reason} reason
 * @param {{ first: string, second: string }} names
 * @param {number} connect
 * @param {Side | null} you
 */
export function because(result, reason, names, connect, you) {
  if (reason === "four" && connect !== 4) return text("game.in_a_row", { n: connect });
  const loser = result === "first" ? "second" : "first";
  const [others, self] = LOSSES[reason] ?? [];
  if (others && self) return loser === you ? text(self) : text(others, { name: names[loser] });
  return text(ENDS[reason] ?? reason);
}

/** @type {Record<string, string>} */
const UNRATED = {
  same_owner: "game.unrated_same_owner",
  guest: "game.unrated_guest",
  same_address: "game.unrated_same_address",
  too_short: "game.unrated_too_short",
  repeated: "game.unrated_repeated",
  correspondence: "game.unrated_correspondence",
  pair_limit: "game.unrated_pair_limit",
  load: "game.unrated_load",
  private: "invite.private",
  voided: "game.unrated_voided",
};

/** @param {string | undefined} reason */
export function unrated(reason) {
  return reason ? text(UNRATED[reason] ?? "game.unrated") : "";
}

/** @type {Record<string, string>} */
const DECLINED = {
  later: "challenge.later",
  busy: "challenge.busy",
  too_fast: "challenge.too_fast",
  too_slow: "challenge.too_slow",
  rated: "challenge.casual_only",
  casual: "challenge.rated_only",
  variant: "challenge.other_board",
  no_bots: "challenge.no_bots",
};

/** @type {Record<string, string>} */
const CHALLENGE_ENDS = { canceled: "challenge.canceled", expired: "challenge.expired", refused: "challenge.refused" };

/**
 * @param {string} how
 * @param {string} [reason]
 */
export function challengeEnd(how, reason) {
  if (how !== "declined") return how in CHALLENGE_ENDS ? text(CHALLENGE_ENDS[how]) : "";
  const why = DECLINED[reason ?? "other"];
  return [text("challenge.declined"), why ? text(why) : ""].join(" ").trim();
}

/** Codes of the protocol and of the HTTP interface. @type {Record<string, string>} */
const REFUSALS = {
  bad_invitation: "error.bad_invitation",
  bad_line: "error.bad_line",
  bad_lines: "error.bad_lines",
  bad_mail: "error.bad_mail",
  bad_webhook: "error.bad_webhook",
  bad_name: "error.bad_name",
  bad_password: "error.bad_password",
  busy: "error.busy",
  forbidden: "error.forbidden",
  game_over: "error.game_over",
  illegal_move: "error.illegal_move",
  internal: "error.internal",
  link_used: "error.link_used",
  name_reserved: "error.name_reserved",
  name_taken: "error.name_taken",
  invitation_used_up: "error.invitation_used_up",
  no_such_bot: "error.no_such_bot",
  no_such_challenge: "error.no_such_challenge",
  no_such_game: "error.no_such_game",
  no_such_player: "error.no_such_player",
  not_accepting: "error.not_accepting",
  not_your_turn: "error.not_your_turn",
  paused: "error.paused",
  quota: "error.quota",
  rate_limited: "error.rate_limited",
  reported_already: "error.reported_already",
  unauthorized: "error.unauthorized",
  wrong_current_password: "error.wrong_current_password",
  wrong_password: "error.wrong_password",
};

/**
 * Says a refusal to a person; the server's own words, which are English, when we have none.
 * @param {{ code: string, message: string }} error
 */
export function refusal(error) {
  // "banned until …: why", in the operator's words.
  if (error.code === "banned") return text("error.banned", { reason: error.message.replace(/^banned /, "") });
  const words = REFUSALS[error.code];
  if (words) return text(words);
  return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
}
