-- Challenges by correspondence stand for a week, across restarts too: whom they ask. Who accepts may choose the side.

PRAGMA user_version = 35;

CREATE TABLE wider_link (
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
    side          TEXT NOT NULL CHECK (side IN ('first', 'second', 'random', 'opponent')),
    site          TEXT, -- where the maker has found the site
    request_key   TEXT, -- the maker's own, by which the request is known when it comes again
    expires_at    INTEGER NOT NULL,
    listed        INTEGER NOT NULL DEFAULT 0 CHECK (listed IN (0, 1)),
    is_private    INTEGER NOT NULL DEFAULT 0 CHECK (is_private IN (0, 1)),
    asked         TEXT, -- the public id; nobody in particular if it is missing
    CHECK ((opening_kind IS NULL) = (opening_moves IS NULL))
) STRICT;

INSERT INTO wider_link (id, maker, guest, variant, bank_ms, increment_ms, move_ms, rated, is_load, opening_kind,
                        opening_moves, games, side, site, request_key, expires_at, listed, is_private)
SELECT id, maker, guest, variant, bank_ms, increment_ms, move_ms, rated, is_load, opening_kind, opening_moves, games, side,
       site, request_key, expires_at, listed, is_private
FROM challenge_link;

DROP TABLE challenge_link;
ALTER TABLE wider_link RENAME TO challenge_link;

CREATE INDEX challenge_link_of ON challenge_link (maker);
CREATE INDEX challenge_link_to ON challenge_link (asked);
