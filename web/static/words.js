// How things are said: time controls, results, reasons, refusals. The only place with sentences built from data.

/** @typedef {import("../types/protocol").Side} Side */
/** @typedef {import("../types/protocol").Time} Time */
/** @typedef {import("../types/protocol").Result} Result */
/** @typedef {import("../types/protocol").Reason} Reason */
/** @typedef {import("../types/protocol").WireError} WireError */

/** @type {Record<Side, string>} */
export const COLOR = { first: "Coral", second: "Gold" };

/** @param {number} ms */
function length(ms) {
  if (ms >= 3_600_000 && ms % 3_600_000 === 0) return `${ms / 3_600_000} h`;
  if (ms >= 60_000 && ms % 60_000 === 0) return `${ms / 60_000} min`;
  return `${ms / 1000} s`;
}

/**
 * `3 min + 2 s`, `30 s a move`.
 * @param {Time} time
 */
export function timeControl(time) {
  const parts = [];
  if (time.bank_ms !== null) {
    parts.push(length(time.bank_ms) + (time.increment_ms > 0 ? ` + ${length(time.increment_ms)}` : ""));
  }
  if (time.move_ms !== null) parts.push(`${length(time.move_ms)} a move`);
  return parts.join(", ");
}

/**
 * What a clock shows: `3:05`, or `9.4` in the last ten seconds.
 * @param {number} ms
 */
export function clockFace(ms) {
  const left = Math.max(0, ms);
  if (left < 10_000) return (Math.floor(left / 100) / 10).toFixed(1);
  const seconds = Math.ceil(left / 1000);
  const pad = (/** @type {number} */ n) => String(n).padStart(2, "0");
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${pad(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(seconds % 60)}`;
}

/** @param {number} ms */
export function spokenTime(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  return minutes ? `${minutes} minutes ${seconds % 60} seconds` : `${seconds} seconds`;
}

/** @type {Record<Reason, (loser: string) => string>} */
const REASONS = {
  four: () => "four in a row",
  full: () => "the board is full",
  resign: (loser) => `${loser} resigned`,
  time: (loser) => `${loser} ran out of time`,
  illegal: (loser) => `${loser} broke the rules three times`,
  left: (loser) => `${loser} left`,
  aborted: () => "ended before it began",
  stopped: () => "stopped by the arena",
  bot_failed: () => "the bot broke down",
};

/**
 * The headline of a finished game, for a player or a watcher.
 * @param {Result} result
 * @param {Side | null} you
 * @param {{ first: string, second: string }} names
 */
export function headline(result, you, names) {
  if (result === "draw") return "A draw";
  if (result === "void") return "No result";
  if (you === null) return `${names[result]} wins`;
  return result === you ? "You win" : `${names[result]} wins`;
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
  if (reason === "four") return connect === 4 ? "Four in a row" : `${connect} in a row`;
  const loserSide = result === "first" ? "second" : "first";
  const loser = loserSide === you ? "you" : names[loserSide];
  const text = REASONS[reason]?.(loser) ?? reason;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** @type {Record<string, string>} */
const UNRATED = {
  same_owner: "Not rated: both bots have the same owner.",
  guest: "Not rated: guests have no rating.",
  too_short: "Not rated: too short.",
  repeated: "Not rated: the same game as before.",
  pair_limit: "Not rated: these two have played their rated games for today.",
  void: "Not rated.",
};

/** @param {string | undefined} reason */
export function unrated(reason) {
  return reason ? UNRATED[reason] ?? "Not rated." : "";
}

/** @type {Record<string, string>} */
const DECLINED = {
  later: "Not now, perhaps another time.",
  busy: "Playing already.",
  too_fast: "That is too little time.",
  too_slow: "That is too much time.",
  rated: "Casual games only.",
  casual: "Rated games only.",
  variant: "Not on this board.",
  no_bots: "No bots, please.",
};

/** @type {Record<string, string>} */
const CHALLENGE_ENDS = {
  canceled: "The challenge was withdrawn.",
  expired: "Nobody answered in time.",
  refused: "The game could not begin.",
};

/**
 * @param {string} how
 * @param {string} [reason]
 */
export function challengeEnd(how, reason) {
  if (how === "declined") return `Declined. ${DECLINED[reason ?? "other"] ?? ""}`.trim();
  return CHALLENGE_ENDS[how] ?? "";
}

/** @type {Record<string, string>} */
const REFUSALS = {
  no_such_bot: "That bot is not here any more.",
  no_such_challenge: "That invitation has ended.",
  no_such_player: "There is no player of that name.",
  no_such_game: "That game is not here.",
  busy: "One of you is playing as many games as allowed already.",
  paused: "No new games can start just now. Please try again in a moment.",
  rate_limited: "That was a bit fast. Please wait a moment.",
  quota: "That is all for today.",
  internal: "Something went wrong here. Please try again.",
};

/**
 * Says a refusal to a person; the server's own words when we have none.
 * @param {{ code: string, message: string }} error
 */
export function refusal(error) {
  const words = REFUSALS[error.code];
  if (words) return words;
  return error.message.charAt(0).toUpperCase() + error.message.slice(1) + ".";
}
