-- A chain over the finished games, by which nobody rewrites history unseen.

PRAGMA user_version = 15;

-- Of this game and the hash before it: src/storage/chain.rs. The program chains games from before.
ALTER TABLE settlement ADD COLUMN hash TEXT;
