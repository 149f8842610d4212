// Sounds, made on the spot: no files to load. Off or on is remembered; browsers let a page be heard only after it has
// been touched, so before that it is silent.

import { find, icon } from "./dom.js";
import { current } from "./settings.js";
import { text } from "./texts.js";

const KEY = "sound";
/** How loud everything is at full volume, of 1; at the usual one it is 0.22. */
const VOLUME = 0.37;

/** @type {AudioContext | null} */
let context = null;
let on = remembered() !== "off";

/** Storage may be forbidden, in a private window say; then every page begins with sound. */
function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/**
 * One note that dies away.
 * @param {number} pitch in hertz
 * @param {number} after seconds from now
 * @param {number} length in seconds
 * @param {{ shape?: OscillatorType, to?: number, loud?: number, pan?: number }} [more] `to`: the pitch at its end; `pan`:
 * where it is heard, from -1 at the left to 1
 */
function note(pitch, after, length, { shape = "sine", to = pitch, loud = 1, pan = 0 } = {}) {
  if (!on || current().volume === 0 || context?.state !== "running") return;
  const start = context.currentTime + after;
  const tone = new OscillatorNode(context, { type: shape, frequency: pitch });
  const gain = new GainNode(context, { gain: 0 });
  tone.frequency.exponentialRampToValueAtTime(to, start + length);
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime((VOLUME * loud * current().volume) / 100, start + 0.008);
  gain.gain.exponentialRampToValueAtTime(0.0005, start + length);
  tone.connect(gain).connect(new StereoPannerNode(context, { pan })).connect(context.destination);
  tone.start(start);
  tone.stop(start + length);
}

/**
 * How things sound: the shape of a disc's tone, its pitch against wood's, how far that falls, and how long it lasts; a
 * second tone, a knock or a ring, at so many times the pitch; and the shape of what is played at the end of a game.
 * @typedef {{ shape: OscillatorType, times: number, fall: number, length: number, second: { times: number, length: number, loud: number }, chord: OscillatorType, loud: number }} Pack
 */
/** @type {Record<import("./settings.js").Settings["sounds"], Pack>} */
const PACKS = {
  wood: { shape: "triangle", times: 1, fall: 0.6, length: 0.16, second: { times: 4, length: 0.04, loud: 0.25 }, chord: "triangle", loud: 1 },
  // Overtones of a struck glass do not fit its tone: that is what makes it ring.
  glass: { shape: "sine", times: 4, fall: 1, length: 0.55, second: { times: 2.76, length: 0.3, loud: 0.3 }, chord: "sine", loud: 0.7 },
  arcade: { shape: "square", times: 1.5, fall: 2, length: 0.1, second: { times: 2, length: 0.05, loud: 0.3 }, chord: "square", loud: 0.3 },
};
/** What is set may come from another version. */
const pack = () => PACKS[current().sounds] ?? PACKS.wood;

/** How far to a side the outermost columns are heard: both ears hear all of them. */
const PAN = 0.6;

/**
 * A disc touches down, lower in pitch the deeper it lies, and heard from where its column is.
 * @param {import("../types/protocol").Side} side
 * @param {number} row from 1 at the bottom
 * @param {number} afterMs
 * @param {{ column: number, width: number }} [where] the column, from 1, and how many there are; the middle without
 */
export function drop(side, row, afterMs, where = { column: 1, width: 1 }) {
  const { shape, times, fall, length, second, loud } = pack();
  const pitch = (side === "first" ? 190 : 235) * 1.05 ** row * times;
  const pan = PAN * ((2 * where.column - 1) / where.width - 1);
  note(pitch, afterMs / 1000, length, { shape, to: pitch * fall, loud, pan });
  note(pitch * second.times, afterMs / 1000, second.length, { loud: second.loud, pan });
}

/** @param {"won" | "lost" | "even"} how a game ended for whoever listens */
export function end(how) {
  const chords = { won: [523, 659, 784, 1047], lost: [392, 330, 262], even: [440, 440] };
  const { chord, loud } = pack();
  chords[how].forEach((pitch, index) => note(pitch, 0.35 + index * 0.13, 0.4, { shape: chord, loud: 0.7 * loud }));
}

/** Little time is left. */
export function hurry() {
  for (const after of [0, 0.14]) note(880, after, 0.1, { shape: "square", loud: 0.25 });
}

/** Somebody wants something: a challenge, a rematch. */
export function call() {
  note(660, 0, 0.16, { loud: 0.7 });
  note(880, 0.14, 0.25, { loud: 0.7 });
}

const button = find("#sound");

function show() {
  button.replaceChildren(icon(on ? "sound" : "silent"));
  button.setAttribute("aria-label", text(on ? "site.sound_off" : "site.sound_on"));
}

button.hidden = false;
button.addEventListener("click", () => {
  on = !on;
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    // It holds for this page at least.
  }
  show();
  drop("first", 3, 0);
});
const wake = () => {
  context ??= new AudioContext();
  if (context.state === "suspended") context.resume().catch(() => {});
};
for (const gesture of ["pointerdown", "keydown"]) addEventListener(gesture, wake, { capture: true, passive: true });
show();
