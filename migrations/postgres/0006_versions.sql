-- Which versions of bots play a game; none of people, of bots that name none, and of games from before.
ALTER TABLE game
    ADD COLUMN first_version  TEXT COLLATE "C",
    ADD COLUMN second_version TEXT COLLATE "C";
