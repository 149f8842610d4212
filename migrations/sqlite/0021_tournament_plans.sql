-- Tournaments that people have made and that are to come.

PRAGMA user_version = 21;

CREATE TABLE tournament_plan (
    id           TEXT PRIMARY KEY NOT NULL, -- that of the tournament which it becomes
    name         TEXT NOT NULL UNIQUE,
    maker        INTEGER NOT NULL REFERENCES player (key),
    begins_at    INTEGER NOT NULL,
    format       TEXT NOT NULL CHECK (format IN ('round_robin', 'gauntlet', 'swiss', 'knockout', 'ladder')),
    rounds       INTEGER, -- of a Swiss, if its maker says
    pairs        INTEGER NOT NULL CHECK (pairs > 0),
    bank_ms      INTEGER,
    increment_ms INTEGER NOT NULL,
    move_ms      INTEGER,
    rated        INTEGER NOT NULL CHECK (rated IN (0, 1)),
    open_bots    INTEGER NOT NULL CHECK (open_bots IN (0, 1))
) STRICT;

CREATE INDEX tournament_plan_of ON tournament_plan (maker);

-- Who takes part in one.
CREATE TABLE tournament_entry (
    plan   TEXT NOT NULL REFERENCES tournament_plan (id),
    player INTEGER NOT NULL REFERENCES player (key),
    place  INTEGER NOT NULL CHECK (place >= 0), -- grows in the order in which they entered
    PRIMARY KEY (plan, player)
) STRICT, WITHOUT ROWID;

CREATE INDEX tournament_entry_of ON tournament_entry (player);
