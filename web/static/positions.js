// Positions with their values, as the server knows them: asked for once, kept, and asked again while it is busy.

/** @typedef {import("../types/position").Position} Position */
/** @typedef {"busy" | "unreachable"} Wait */

/** When to ask again if the server does not say, in milliseconds. */
const RETRY_MS = 1000;
/** How long to wait for a server that does not answer at all, in milliseconds. */
const UNREACHABLE_MS = 2000;
/** Positions that are kept; the oldest go first. */
const KEPT_MAX = 500;

/** @type {Map<string, Position>} */
const kept = new Map();
/** The level whose games are counted; empty for all. */
let level = "";

/** @param {string} chosen the level whose games are counted from now on; empty for all */
export const countAt = (chosen) => (level = chosen);

/**
 * @param {string} variant
 * @param {string} moves
 * @param {string} at
 */
const keyOf = (variant, moves, at = level) => `${variant} ${moves} ${at}`;

/** @param {Position} position */
export function keep(position) {
  kept.set(keyOf(position.variant, position.moves, String(position.level ?? "")), position);
  const oldest = kept.keys().next().value;
  if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
}

/**
 * A position that is known already.
 * @param {string} variant
 * @param {string} moves
 */
export const known = (variant, moves) => kept.get(keyOf(variant, moves)) ?? null;

/**
 * Asks until there is an answer, or nobody wants it any more.
 * @param {string} variant
 * @param {string} moves
 * @param {AbortSignal} signal
 * @param {(why: Wait) => void} waits is told when it takes longer
 * @returns {Promise<Position>}
 */
export async function fetchPosition(variant, moves, signal, waits) {
  for (;;) {
    const found = known(variant, moves) ?? (await ask(variant, moves, signal, waits));
    if (found) return found;
  }
}

/**
 * Asks for positions that may be wanted next, one after the other, and gives up as soon as the server has other work.
 * @param {string} variant
 * @param {string[]} wanted
 * @param {AbortSignal} signal
 */
export async function prefetch(variant, wanted, signal) {
  for (const moves of wanted) {
    if (signal.aborted) return;
    if (!known(variant, moves) && !(await once(variant, moves, signal).catch(() => null))) return;
  }
}

/**
 * @param {string} variant
 * @param {string} moves
 * @param {AbortSignal} signal
 * @param {(why: Wait) => void} waits
 */
async function ask(variant, moves, signal, waits) {
  /** @type {Response} */
  let response;
  try {
    response = await request(variant, moves, signal);
  } catch (error) {
    if (signal.aborted) throw error;
    waits("unreachable");
    await pause(UNREACHABLE_MS, signal);
    return null;
  }
  if (response.ok) return take(response);
  if (response.status !== 503) throw new Error(`no position: ${response.status}`);
  waits("busy");
  const { retry_ms = RETRY_MS } = await response.json();
  await pause(retry_ms, signal);
  return null;
}

/**
 * @param {string} variant
 * @param {string} moves
 * @param {AbortSignal} signal
 */
async function once(variant, moves, signal) {
  const response = await request(variant, moves, signal);
  return response.ok ? take(response) : null;
}

/**
 * @param {string} variant
 * @param {string} moves
 * @param {AbortSignal} signal
 */
function request(variant, moves, signal) {
  const asked = new URLSearchParams({ ...(variant !== "7x6" && { variant }), ...(level && { level }) }).toString();
  return fetch(`/api/v1/positions/${moves || "-"}${asked && `?${asked}`}`, { signal });
}

/** @param {Response} response @returns {Promise<Position>} */
async function take(response) {
  const position = await response.json();
  keep(position);
  return position;
}

/**
 * @param {number} ms
 * @param {AbortSignal} signal
 */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}
