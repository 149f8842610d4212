-- A chain over the finished games, by which nobody rewrites history unseen. The program chains games from before.
ALTER TABLE settlement
    ADD COLUMN hash TEXT COLLATE "C";
