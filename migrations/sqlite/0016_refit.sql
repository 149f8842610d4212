-- Ratings that are owed since games of a whole account were taken out, which is done in portions.

PRAGMA user_version = 16;

CREATE TABLE refit (
    variant TEXT PRIMARY KEY,
    after   INTEGER NOT NULL CHECK (after >= 0) -- number of the last finished game before them
) STRICT, WITHOUT ROWID;
