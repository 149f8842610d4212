// A kit with the author's program in it: the archive that the server has, and one more file.

/** A block of a tar archive: headers are one, contents are filled up to whole ones. */
const BLOCK = 512;
const encoder = new TextEncoder();

/**
 * The program as a file of the kit, which plays on the ladder when it is started.
 * @param {string} code
 */
export function asFile(code) {
  return `import { run } from "./fourfold_bot.js";

${code.trimEnd()}

await run(choose, {
  name: "my_bot",
  version: "1",
  games: Number(process.argv[2]) || undefined,
  onGameEnd: ({ game, side, result, reason }) =>
    console.log(game, { [side]: "won", draw: "draw", void: "void" }[result] ?? "lost", \`(\${reason})\`),
  onNotice: (notice) => console.error(notice),
  onError: (problem) => console.error(problem),
});
`;
}

/**
 * Adds a file to an archive.
 * @param {Uint8Array<ArrayBuffer>} archive POSIX ustar
 * @param {string} name
 * @param {string} text
 * @returns {Blob}
 */
export function withFile(archive, name, text) {
  let end = archive.length;
  while (end >= BLOCK && archive.subarray(end - BLOCK, end).every((byte) => byte === 0)) end -= BLOCK;
  const data = encoder.encode(text);
  const padding = new Uint8Array((BLOCK - (data.length % BLOCK)) % BLOCK);
  return new Blob([archive.subarray(0, end), header(name, data.length), data, padding, new Uint8Array(2 * BLOCK)], {
    type: "application/x-tar",
  });
}

/**
 * Numbers are octal; the sum is taken with blanks in its own place.
 * @param {string} name
 * @param {number} size
 */
function header(name, size) {
  const block = new Uint8Array(BLOCK);
  const put = (/** @type {number} */ at, /** @type {string} */ text) => block.set(encoder.encode(text), at);
  const octal = (/** @type {number} */ value) => `${value.toString(8).padStart(11, "0")}\0`;
  put(0, name);
  put(100, "0000644\0");
  put(108, "0000000\0");
  put(116, "0000000\0");
  put(124, octal(size));
  put(136, octal(Math.floor(Date.now() / 1_000)));
  put(148, "        ");
  put(156, "0");
  put(257, "ustar\x0000");
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return block;
}
