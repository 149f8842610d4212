-- Ratings that began anew, because the owner of a bot said that it is something else.

PRAGMA user_version = 22;

CREATE TABLE rating_reset (
    player  INTEGER NOT NULL REFERENCES player (key),
    at      INTEGER NOT NULL,
    after   INTEGER NOT NULL CHECK (after >= 0), -- number of the last finished game before it
    version TEXT NOT NULL, -- of the bot then; empty if it named none
    reason  TEXT NOT NULL, -- empty once the bot is gone
    PRIMARY KEY (player, at)
) STRICT, WITHOUT ROWID;
