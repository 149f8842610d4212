-- What failed lately, by key: times in microseconds, the oldest first. Not worth a disk write: a server that dies forgets
-- it. The keys are digests, for what was tried may have been a password in the wrong field.
CREATE UNLOGGED TABLE attempt (
    rule  TEXT COLLATE "C" NOT NULL,
    key   TEXT COLLATE "C" NOT NULL,
    times BIGINT[] NOT NULL,
    last  BIGINT NOT NULL,
    PRIMARY KEY (rule, key)
);
CREATE INDEX attempt_last ON attempt (last);
