-- What bots are written in, and what their tokens may be used for.
ALTER TABLE player ADD COLUMN language TEXT;
ALTER TABLE token ADD COLUMN scope TEXT COLLATE "C"; -- none: all that the bot may do
