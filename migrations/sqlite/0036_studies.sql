-- Studies: lines with comments that people show to others. All of them go with whoever leaves.

PRAGMA user_version = 36;

CREATE TABLE study (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE, -- the public id, which nobody guesses
    owner      INTEGER NOT NULL REFERENCES player (key),
    title      TEXT NOT NULL,
    variant    TEXT NOT NULL,
    moves      TEXT NOT NULL, -- from the empty board
    start      INTEGER NOT NULL CHECK (start BETWEEN 0 AND length(moves)), -- after how many of them it begins
    comments   TEXT NOT NULL, -- each a ply, 0x1f, a text and 0x1e
    listed     INTEGER NOT NULL CHECK (listed IN (0, 1)), -- whether everybody finds it
    version    INTEGER NOT NULL CHECK (version > 0), -- counts its changes
    made_at    INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX study_of ON study (owner, number);
CREATE INDEX study_listed ON study (number) WHERE listed;
