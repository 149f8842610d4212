-- How well moves were played, by the exact solver, and the puzzles that were found on the way.
--
-- The judge follows the finished games by their numbers. What it finds and how far it has come change in the same
-- transaction, so each game is judged exactly once.

PRAGMA user_version = 5;

-- One row: number of the last finished game that was looked at.
CREATE TABLE judging (
    only    INTEGER PRIMARY KEY CHECK (only = 1),
    covered INTEGER NOT NULL CHECK (covered >= 0)
) STRICT;

INSERT INTO judging (only, covered) VALUES (1, 0);

-- How well each side played a game. A game that was looked at and has no rows cannot be judged.
CREATE TABLE judgement (
    number         INTEGER NOT NULL REFERENCES settlement (number),
    side           TEXT NOT NULL CHECK (side IN ('first', 'second')),
    moves          INTEGER NOT NULL, -- judged; what the opening gave is nobody's
    good           INTEGER NOT NULL, -- kept the value of the position
    optimal        INTEGER NOT NULL, -- none was better
    decisions      INTEGER NOT NULL, -- some legal move would have thrown the value away
    good_decisions INTEGER NOT NULL,
    loss           INTEGER NOT NULL, -- score given away, in stones
    PRIMARY KEY (number, side)
) STRICT, WITHOUT ROWID;

-- The sums over a player's judged games that counted for its rating.
CREATE TABLE skill (
    player         INTEGER NOT NULL REFERENCES player (key),
    variant        TEXT NOT NULL,
    games          INTEGER NOT NULL,
    moves          INTEGER NOT NULL,
    good           INTEGER NOT NULL,
    optimal        INTEGER NOT NULL,
    decisions      INTEGER NOT NULL,
    good_decisions INTEGER NOT NULL,
    loss           INTEGER NOT NULL,
    PRIMARY KEY (player, variant)
) STRICT, WITHOUT ROWID;

CREATE INDEX skill_of_variant ON skill (variant);

-- Positions of the standard board in which one column alone keeps the value.
CREATE TABLE puzzle (
    key     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE, -- made of the position, the same for its mirror image
    moves   TEXT NOT NULL, -- to the position
    line    TEXT NOT NULL, -- the solution with the replies
    goal    TEXT NOT NULL CHECK (goal IN ('win', 'draw')),
    prior   INTEGER NOT NULL, -- grade before anybody tried, in Elo points
    quality INTEGER NOT NULL, -- the least good ones go when there are too many
    game    INTEGER REFERENCES game (key), -- where it was found; none if it came with the program
    made_at INTEGER NOT NULL,
    tries   INTEGER NOT NULL DEFAULT 0, -- players who have tried it
    solved  INTEGER NOT NULL DEFAULT 0, -- of these, who solved it at the first attempt
    CHECK (solved <= tries)
) STRICT;

-- The first attempt of each player at each puzzle.
CREATE TABLE puzzle_try (
    player INTEGER NOT NULL REFERENCES player (key),
    puzzle INTEGER NOT NULL REFERENCES puzzle (key),
    solved INTEGER NOT NULL CHECK (solved IN (0, 1)),
    at     INTEGER NOT NULL,
    PRIMARY KEY (player, puzzle)
) STRICT, WITHOUT ROWID;

CREATE INDEX try_of_puzzle ON puzzle_try (puzzle);

-- Days in a row on which a player solved the daily puzzle. A day is the number of days since 1970, UTC.
CREATE TABLE puzzle_streak (
    player INTEGER PRIMARY KEY REFERENCES player (key),
    day    INTEGER NOT NULL, -- the last one
    run    INTEGER NOT NULL CHECK (run >= 1), -- days up to then without a gap
    best   INTEGER NOT NULL CHECK (best >= run)
) STRICT;
