-- What people show of themselves, the best of their runs through puzzles, and the days on which they solved the daily
-- one. All of it goes with whoever leaves.
ALTER TABLE player ADD COLUMN picture TEXT;
ALTER TABLE player ADD COLUMN flag TEXT;
ALTER TABLE player ADD COLUMN line TEXT;

CREATE TABLE rush (
    player BIGINT NOT NULL REFERENCES player (key),
    kind   TEXT NOT NULL CHECK (kind IN ('minutes', 'lives')),
    day    BIGINT NOT NULL,
    solved BIGINT NOT NULL,
    at     BIGINT NOT NULL,
    PRIMARY KEY (player, kind, day)
);

CREATE INDEX rush_board ON rush (kind, day);

CREATE TABLE puzzle_day (
    player BIGINT NOT NULL REFERENCES player (key),
    day    BIGINT NOT NULL,
    PRIMARY KEY (player, day)
);

-- The days of the streaks that go on, or went on last, are known; others are not.
INSERT INTO puzzle_day (player, day)
WITH RECURSIVE known (player, day, more) AS (
    SELECT player, day, least(run, 400) FROM puzzle_streak WHERE run > 0
    UNION ALL
    SELECT player, day - 1, more - 1 FROM known WHERE more > 1
)
SELECT player, day FROM known WHERE day >= 0;
