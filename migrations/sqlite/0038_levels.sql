-- How strong those who try a puzzle have shown to be, by which it is graded. Of attempts from before nothing is known, so
-- they count as they did: as those of somebody who solves half of the puzzles with a grade of 1000.

PRAGMA user_version = 38;

ALTER TABLE puzzle_try ADD COLUMN level INTEGER NOT NULL DEFAULT 1000; -- when it was tried, in Elo points
ALTER TABLE puzzle ADD COLUMN levels INTEGER NOT NULL DEFAULT 0; -- the sum of those of all who have tried it

UPDATE puzzle SET levels = 1000 * tries WHERE tries > 0;
