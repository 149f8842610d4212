-- What bots are written in, and what their tokens may be used for.

PRAGMA user_version = 23;

ALTER TABLE player ADD COLUMN language TEXT;
ALTER TABLE token ADD COLUMN scope TEXT; -- none: all that the bot may do
