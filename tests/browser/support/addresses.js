/** Every page there is, with the games, players and puzzles of the fixed store (tests/data/arena). */
export const ADDRESSES = [
  "/", "/rules", "/settings", "/game/wcU6j8b7Sg", "/game/TLoF1DwHYa", "/tv", "/wall", "/embed/wcU6j8b7Sg", "/leaderboard", "/bots",
  "/bots/new", "/bots/editor", "/player/memory", "/learning", "/learning/memory", "/puzzles", "/puzzle/p394yu8mbq", "/tournaments",
  "/tournament/c3VBTX7Bgy", "/analysis/44354665", "/account", "/bot/adabot", "/docs", "/offline", "/nothing", "/class",
];
