// Which exercises of which lessons a visitor has solved, kept in the browser: storage may be forbidden, in a private
// window say; then nothing is kept.

const KEY = "lessons";

/** @returns {Record<string, number[]>} places of exercises by the names of lessons */
function all() {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof known === "object" && known !== null ? known : {};
  } catch {
    return {};
  }
}

/**
 * The places of the exercises that are solved.
 * @param {string} lesson
 * @returns {number[]}
 */
export function solvedOf(lesson) {
  const places = all()[lesson];
  return Array.isArray(places) ? places.filter((place) => Number.isInteger(place)) : [];
}

/**
 * @param {string} lesson
 * @param {number} place
 */
export function noteSolved(lesson, place) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...all(), [lesson]: [...new Set([...solvedOf(lesson), place])] }));
  } catch {
    // It is not kept, then.
  }
}
