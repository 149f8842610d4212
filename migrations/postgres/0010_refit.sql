-- Ratings that are owed since games of a whole account were taken out, which is done in portions.
CREATE TABLE refit (
    variant TEXT COLLATE "C" PRIMARY KEY,
    after   BIGINT NOT NULL CHECK (after >= 0) -- number of the last finished game before them
);
