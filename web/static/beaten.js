// Which opponents of the house a visitor has beaten, kept in the browser: a star on their cards, nothing that counts.

const KEY = "beaten";

/** @returns {string[]} names of their programs */
export function beaten() {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(known) ? known.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}

/** @param {string} program */
export function noteBeaten(program) {
  try {
    localStorage.setItem(KEY, JSON.stringify([...new Set([...beaten(), program])]));
  } catch {
    // Nobody is told, then.
  }
}
