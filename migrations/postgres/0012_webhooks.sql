-- Addresses to which owners of bots have it told what happens to their bots.
CREATE TABLE webhook (
    owner        BIGINT PRIMARY KEY REFERENCES player (key),
    url          TEXT NOT NULL,
    salt         TEXT COLLATE "C" NOT NULL, -- with the key of the data directory it makes the key of the signatures
    since        BIGINT NOT NULL,
    failures     BIGINT NOT NULL, -- one after the other
    last_at      BIGINT, -- of the last delivery
    last_outcome TEXT, -- the status of the answer, or why there was none
    CHECK ((last_at IS NULL) = (last_outcome IS NULL))
);
