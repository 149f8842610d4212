// Where many boards move, what changes on them changes together, fifteen times a second: each time that anything does, the
// browser lays out and paints anew, and twelve boards by themselves would have it do so at every picture of the screen.

/** Between two changes, in milliseconds. */
const PICTURE_MS = 66;

/** What is to be done with the next one; whatever returns true goes on with the one after it. @type {Set<() => boolean | void>} */
const due = new Set();
let timer = 0;

/** @param {() => boolean | void} change */
export function withNextPicture(change) {
  due.add(change);
  timer ||= window.setTimeout(paint, PICTURE_MS);
}

function paint() {
  timer = 0;
  const changes = [...due];
  due.clear();
  for (const change of changes) if (change()) due.add(change);
  if (due.size > 0) timer ||= window.setTimeout(paint, PICTURE_MS);
}
