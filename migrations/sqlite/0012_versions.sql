-- Which versions of bots play a game; none of people, of bots that name none, and of games from before.

PRAGMA user_version = 12;

ALTER TABLE game ADD COLUMN first_version TEXT;
ALTER TABLE game ADD COLUMN second_version TEXT;
