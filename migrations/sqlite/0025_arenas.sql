-- Arenas, in which whoever is free is paired again; who came late or went early; why a tournament was called off.

PRAGMA user_version = 25;

-- Old rows are held aside, and not new tables made beside the old ones, so that no page of the file is left empty.
CREATE TEMP TABLE held_tournament AS SELECT * FROM tournament;
CREATE TEMP TABLE held_entrant AS SELECT * FROM tournament_entrant;
CREATE TEMP TABLE held_walkover AS SELECT * FROM tournament_walkover;
CREATE TEMP TABLE held_plan AS SELECT * FROM tournament_plan;
CREATE TEMP TABLE held_entry AS SELECT * FROM tournament_entry;

DROP TABLE tournament_walkover;
DROP TABLE tournament_entrant;
DROP TABLE tournament;
DROP TABLE tournament_entry;
DROP TABLE tournament_plan;

CREATE TABLE tournament (
    key          INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL, -- that of the configuration, or of its maker
    due_at       INTEGER NOT NULL, -- the moment of its schedule
    format       TEXT NOT NULL
                 CHECK (format IN ('match', 'round_robin', 'gauntlet', 'swiss', 'knockout', 'ladder', 'arena')),
    parameter    INTEGER NOT NULL, -- rounds of a Swiss, seeds of a gauntlet, minutes of an arena, 0 for the others
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
    maker        INTEGER REFERENCES player (key), -- none of the operators' own
    open_people  INTEGER NOT NULL CHECK (open_people IN (0, 1)), -- whether people may come while it goes on
    because      TEXT CHECK (because <> ''), -- why it was called off, if somebody said
    UNIQUE (name, due_at), -- one moment begins one tournament
    CHECK ((ended_at IS NULL) = (ended IS NULL) AND (ended_at IS NULL) = (games IS NULL))
) STRICT;

INSERT INTO tournament SELECT *, NULL, 0, NULL FROM held_tournament;

CREATE TABLE tournament_entrant (
    tournament INTEGER NOT NULL REFERENCES tournament (key),
    place      INTEGER NOT NULL CHECK (place >= 0), -- in the order in which they entered
    player     INTEGER NOT NULL REFERENCES player (key),
    came       INTEGER NOT NULL CHECK (came >= 0), -- the game that was due then, in the order of the schedule
    went       INTEGER CHECK (went >= 0), -- the same when they withdrew; none while they take part
    PRIMARY KEY (tournament, place)
) STRICT, WITHOUT ROWID;

INSERT INTO tournament_entrant SELECT tournament, place, player, 0, NULL FROM held_entrant;

CREATE TABLE tournament_walkover (
    tournament INTEGER NOT NULL REFERENCES tournament (key),
    number     INTEGER NOT NULL CHECK (number >= 0), -- in the order of the schedule
    absent     TEXT NOT NULL CHECK (absent IN ('first', 'second')),
    PRIMARY KEY (tournament, number)
) STRICT, WITHOUT ROWID;

INSERT INTO tournament_walkover SELECT tournament, number, absent FROM held_walkover;

CREATE TABLE tournament_plan (
    id           TEXT PRIMARY KEY NOT NULL, -- that of the tournament which it becomes
    name         TEXT NOT NULL UNIQUE,
    maker        INTEGER NOT NULL REFERENCES player (key),
    begins_at    INTEGER NOT NULL,
    format       TEXT NOT NULL CHECK (format IN ('round_robin', 'gauntlet', 'swiss', 'knockout', 'ladder', 'arena')),
    rounds       INTEGER, -- of a Swiss, if its maker says
    minutes      INTEGER, -- of an arena
    pairs        INTEGER NOT NULL CHECK (pairs > 0),
    bank_ms      INTEGER,
    increment_ms INTEGER NOT NULL,
    move_ms      INTEGER,
    rated        INTEGER NOT NULL CHECK (rated IN (0, 1)),
    open_bots    INTEGER NOT NULL CHECK (open_bots IN (0, 1))
) STRICT;

INSERT INTO tournament_plan
SELECT id, name, maker, begins_at, format, rounds, NULL, pairs, bank_ms, increment_ms, move_ms, rated, open_bots
FROM held_plan;

CREATE TABLE tournament_entry (
    plan   TEXT NOT NULL REFERENCES tournament_plan (id),
    player INTEGER NOT NULL REFERENCES player (key),
    place  INTEGER NOT NULL CHECK (place >= 0), -- grows in the order in which they entered
    PRIMARY KEY (plan, player)
) STRICT, WITHOUT ROWID;

INSERT INTO tournament_entry SELECT plan, player, place FROM held_entry;

DROP TABLE temp.held_tournament;
DROP TABLE temp.held_entrant;
DROP TABLE temp.held_walkover;
DROP TABLE temp.held_plan;
DROP TABLE temp.held_entry;

CREATE INDEX tournament_plan_of ON tournament_plan (maker);
CREATE INDEX tournament_entry_of ON tournament_entry (player);
