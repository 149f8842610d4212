-- Links to open challenges, and the illegal moves of games that go on: what a restart must not forget.

PRAGMA user_version = 19;

CREATE TABLE challenge_link (
    id            TEXT PRIMARY KEY NOT NULL, -- the last part of the link
    maker         TEXT NOT NULL, -- the public id: guests who have not played are no rows of player
    guest         TEXT, -- the name of a maker who has no account
    variant       TEXT NOT NULL,
    bank_ms       INTEGER,
    increment_ms  INTEGER NOT NULL,
    move_ms       INTEGER,
    rated         INTEGER NOT NULL CHECK (rated IN (0, 1)),
    is_load       INTEGER NOT NULL CHECK (is_load IN (0, 1)),
    opening_kind  TEXT CHECK (opening_kind IN ('none', 'balanced', 'given')),
    opening_moves TEXT,
    games         INTEGER NOT NULL CHECK (games > 0),
    side          TEXT NOT NULL CHECK (side IN ('first', 'second', 'random')),
    site          TEXT, -- where the maker has found the site
    request_key   TEXT, -- the maker's own, by which the request is known when it comes again
    expires_at    INTEGER NOT NULL,
    CHECK ((opening_kind IS NULL) = (opening_moves IS NULL))
) STRICT;

CREATE INDEX challenge_link_of ON challenge_link (maker);

ALTER TABLE live_game ADD COLUMN first_illegal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE live_game ADD COLUMN second_illegal INTEGER NOT NULL DEFAULT 0;
