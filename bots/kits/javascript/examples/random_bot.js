// Plays any legal column until Ctrl-C, or `random_bot.js N` games.

import { run } from "../fourfold_bot.js";

const stop = new AbortController();
process.once("SIGINT", () => stop.abort());

const choose = ({ legal }) => ({
  column: legal[Math.floor(Math.random() * legal.length)],
  info: { note: `one of ${legal.length}` }, // shown to the bot's owner beside the board
});

const tally = await run(choose, {
  name: "random",
  version: "1",
  games: Number(process.argv[2]) || undefined,
  signal: stop.signal,
  onGameEnd: ({ game, side, result, reason }) =>
    console.log(game, { [side]: "won", draw: "draw", void: "void" }[result] ?? "lost", `(${reason})`),
  onNotice: (notice) => console.error(notice),
  onError: (problem) => console.error(problem),
});
console.log(tally);
