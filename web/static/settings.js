// What a visitor has set, kept in the browser: storage may be forbidden, in a private window say; then it holds for the
// page.

/**
 * @typedef {object} Settings
 * @property {"human" | "swift"} pace how fast bots of the house answer
 * @property {"normal" | "fast" | "none"} motion how fast discs fall
 * @property {"on" | "off"} premove whether a move may be planned ahead
 * @property {"on" | "off"} confirm whether a move asks to be pressed twice
 * @property {"on" | "off"} coordinates whether columns show their numbers
 * @property {"on" | "off"} marks whether discs are told apart more strongly
 * @property {"on" | "off"} reactions whether reactions and phrases of others are shown, and can be sent
 * @property {"on" | "off"} notices whether the system tells of one's turn and of challenges while the page is out of sight
 * @property {"classic" | "night" | "walnut" | "paper"} board
 * @property {"wood" | "glass" | "arcade"} sounds
 * @property {number} volume from 0 to 100
 */

const KEY = "settings";

/** @type {Settings} */
const DEFAULTS = { pace: "human", motion: "normal", premove: "on", confirm: "off", coordinates: "on", marks: "off", reactions: "on", notices: "off", board: "classic", sounds: "wood", volume: 60 };

/** @type {Settings} */
let settings = { ...DEFAULTS, ...stored() };

/** @returns {Partial<Settings>} */
function stored() {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof known === "object" && known !== null ? known : {};
  } catch {
    return {};
  }
}

/** What is set now. */
export const current = () => settings;

/** @param {Partial<Settings>} changes */
export function change(changes) {
  settings = { ...settings, ...changes };
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // It holds for this page at least.
  }
  // The server draws boards right from the start.
  document.cookie = `board=${settings.board}; Path=/; Max-Age=31536000; SameSite=Lax`;
  apply();
}

/** What styles go by. */
function apply() {
  const { dataset } = document.documentElement;
  // Frames in other pages look as these want.
  if (!("fixed" in dataset)) dataset.board = settings.board;
  dataset.marks = settings.marks;
  dataset.coordinates = settings.coordinates;
}

apply();
