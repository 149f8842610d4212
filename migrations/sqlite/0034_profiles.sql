-- What people show of themselves, the best of their runs through puzzles, and the days on which they solved the daily
-- one. All of it goes with whoever leaves.

PRAGMA user_version = 34;

ALTER TABLE player ADD COLUMN picture TEXT;
ALTER TABLE player ADD COLUMN flag TEXT;
ALTER TABLE player ADD COLUMN line TEXT;

CREATE TABLE rush (
    player INTEGER NOT NULL REFERENCES player (key),
    kind   TEXT NOT NULL CHECK (kind IN ('minutes', 'lives')),
    day    INTEGER NOT NULL,
    solved INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (player, kind, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX rush_board ON rush (kind, day);

CREATE TABLE puzzle_day (
    player INTEGER NOT NULL REFERENCES player (key),
    day    INTEGER NOT NULL,
    PRIMARY KEY (player, day)
) STRICT, WITHOUT ROWID;

-- The days of the streaks that go on, or went on last, are known; others are not.
WITH RECURSIVE known (player, day, more) AS (
    SELECT player, day, min(run, 400) FROM puzzle_streak WHERE run > 0
    UNION ALL
    SELECT player, day - 1, more - 1 FROM known WHERE more > 1
)
INSERT INTO puzzle_day (player, day) SELECT player, day FROM known WHERE day >= 0;
