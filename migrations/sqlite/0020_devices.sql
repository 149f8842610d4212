-- What sessions were begun with, and when they were used last.

PRAGMA user_version = 20;

ALTER TABLE token ADD COLUMN device TEXT; -- a browser and a system, `firefox/linux`; none of tokens of bots
ALTER TABLE token ADD COLUMN used_at INTEGER;
