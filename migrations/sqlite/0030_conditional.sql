-- What a player answers in a game by correspondence if the opponent plays so: the moves before, then the lines.

PRAGMA user_version = 30;

ALTER TABLE live_game ADD COLUMN first_conditional TEXT;
ALTER TABLE live_game ADD COLUMN second_conditional TEXT;
