-- Links to open challenges, and the illegal moves of games that go on: what a restart must not forget.
CREATE TABLE challenge_link (
    id            TEXT COLLATE "C" PRIMARY KEY, -- the last part of the link
    maker         TEXT COLLATE "C" NOT NULL, -- the public id: guests who have not played are no rows of player
    guest         TEXT COLLATE "C", -- the name of a maker who has no account
    variant       TEXT COLLATE "C" NOT NULL,
    bank_ms       BIGINT,
    increment_ms  BIGINT NOT NULL,
    move_ms       BIGINT,
    rated         BOOLEAN NOT NULL,
    is_load       BOOLEAN NOT NULL,
    opening_kind  TEXT COLLATE "C" CHECK (opening_kind IN ('none', 'balanced', 'given')),
    opening_moves TEXT COLLATE "C",
    games         BIGINT NOT NULL CHECK (games > 0),
    side          TEXT COLLATE "C" NOT NULL CHECK (side IN ('first', 'second', 'random')),
    site          TEXT COLLATE "C", -- where the maker has found the site
    request_key   TEXT COLLATE "C", -- the maker's own, by which the request is known when it comes again
    expires_at    BIGINT NOT NULL,
    CHECK ((opening_kind IS NULL) = (opening_moves IS NULL))
);

CREATE INDEX challenge_link_of ON challenge_link (maker);

ALTER TABLE live_game ADD COLUMN first_illegal BIGINT NOT NULL DEFAULT 0;
ALTER TABLE live_game ADD COLUMN second_illegal BIGINT NOT NULL DEFAULT 0;
