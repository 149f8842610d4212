-- What learners know, and from which games.
--
-- A learner's state is the fold of its lessons in the order of their numbers; state and lessons change in the same
-- transaction. `fourfold memory verify` folds the lessons again and compares byte for byte.

PRAGMA user_version = 2;

-- Whether games of this player may be learnt from.
ALTER TABLE player ADD COLUMN teaches INTEGER NOT NULL DEFAULT 1 CHECK (teaches IN (0, 1));

CREATE TABLE learner (
    key      INTEGER PRIMARY KEY,
    name     TEXT NOT NULL COLLATE NOCASE UNIQUE,
    spec     TEXT NOT NULL, -- the program and its settings, by which the lessons were learnt
    covered  INTEGER NOT NULL CHECK (covered >= 0), -- number of the last settlement that was looked at
    games    INTEGER NOT NULL CHECK (games >= 0), -- learnt
    revision INTEGER NOT NULL, -- grows whenever lessons may have been withdrawn
    stale    INTEGER NOT NULL CHECK (stale IN (0, 1)), -- lessons were withdrawn that the state still holds
    state    BLOB NOT NULL
) STRICT;

-- The games that a learner has learnt, each once.
CREATE TABLE lesson (
    learner INTEGER NOT NULL REFERENCES learner (key),
    number  INTEGER NOT NULL REFERENCES settlement (number),
    changes TEXT NOT NULL, -- what it changed, for people to read
    PRIMARY KEY (learner, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX lesson_of_game ON lesson (number);

-- A learner as it was after some number of games.
CREATE TABLE learner_version (
    learner   INTEGER NOT NULL REFERENCES learner (key),
    mark      INTEGER NOT NULL CHECK (mark >= 0), -- games after which it was frozen
    games     INTEGER NOT NULL, -- learnt; fewer than the mark if lessons were withdrawn since
    covered   INTEGER NOT NULL,
    state     BLOB NOT NULL,
    frozen_at INTEGER NOT NULL,
    decision  INTEGER, -- thousandths of positions that can be spoilt in which it keeps the result; measured later
    PRIMARY KEY (learner, mark)
) STRICT, WITHOUT ROWID;

-- How strong the live learner was after some number of games.
CREATE TABLE learner_point (
    learner INTEGER NOT NULL REFERENCES learner (key),
    games   INTEGER NOT NULL,
    rating  INTEGER, -- thousandths of an Elo point; none while it is provisional
    at      INTEGER NOT NULL,
    PRIMARY KEY (learner, games)
) STRICT, WITHOUT ROWID;
