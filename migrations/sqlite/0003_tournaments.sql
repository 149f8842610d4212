-- Tournaments that the daemon holds.
--
-- Their games are in `game`: the id of a tournament's pair begins with the tournament's id, see `src/ids.rs`. Who meets
-- whom follows from the row and the games, so that nothing else need be kept of the course.

PRAGMA user_version = 3;

CREATE TABLE tournament (
    key          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL, -- that of the configuration
    due_at       INTEGER NOT NULL, -- the moment of its schedule
    format       TEXT NOT NULL CHECK (format IN ('match', 'round_robin', 'gauntlet', 'swiss', 'knockout', 'ladder')),
    parameter    INTEGER NOT NULL, -- rounds of a Swiss, seeds of a gauntlet, 0 for the others
    pairs        INTEGER NOT NULL CHECK (pairs > 0),
    seed         INTEGER NOT NULL,
    bank_ms      INTEGER,
    increment_ms INTEGER NOT NULL,
    move_ms      INTEGER,
    rated        INTEGER NOT NULL CHECK (rated IN (0, 1)),
    concurrency  INTEGER NOT NULL CHECK (concurrency > 0),
    watchable    INTEGER NOT NULL CHECK (watchable IN (0, 1)),
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER, -- none while it goes on
    ended        TEXT CHECK (ended IN ('complete', 'suspended', 'cancelled')),
    winner       INTEGER REFERENCES player (key),
    games        INTEGER, -- that it came to
    UNIQUE (name, due_at), -- one moment begins one tournament
    CHECK ((ended_at IS NULL) = (ended IS NULL) AND (ended_at IS NULL) = (games IS NULL))
) STRICT;

CREATE TABLE tournament_entrant (
    tournament INTEGER NOT NULL REFERENCES tournament (key),
    place      INTEGER NOT NULL CHECK (place >= 0), -- in the order in which they entered
    player     INTEGER NOT NULL REFERENCES player (key),
    PRIMARY KEY (tournament, place)
) STRICT, WITHOUT ROWID;

-- Games of the schedule that were lost without being played.
CREATE TABLE tournament_walkover (
    tournament INTEGER NOT NULL REFERENCES tournament (key),
    number     INTEGER NOT NULL CHECK (number >= 0), -- in the order of the schedule
    absent     TEXT NOT NULL CHECK (absent IN ('first', 'second')),
    PRIMARY KEY (tournament, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX game_of_pair ON game (pair_id) WHERE pair_id IS NOT NULL;
