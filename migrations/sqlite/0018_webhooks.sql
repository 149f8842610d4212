-- Addresses to which owners of bots have it told what happens to their bots.

PRAGMA user_version = 18;

CREATE TABLE webhook (
    owner        INTEGER PRIMARY KEY REFERENCES player (key),
    url          TEXT NOT NULL,
    salt         TEXT NOT NULL, -- with the key of the data directory it makes the key of the signatures
    since        INTEGER NOT NULL,
    failures     INTEGER NOT NULL, -- one after the other
    last_at      INTEGER, -- of the last delivery
    last_outcome TEXT, -- the status of the answer, or why there was none
    CHECK ((last_at IS NULL) = (last_outcome IS NULL))
) STRICT;
