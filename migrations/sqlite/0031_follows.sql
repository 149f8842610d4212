-- Whom people follow, and whom they block. Friends are two who follow each other.

PRAGMA user_version = 31;

CREATE TABLE follow (
    player   INTEGER NOT NULL REFERENCES player (key),
    followed INTEGER NOT NULL REFERENCES player (key),
    since    INTEGER NOT NULL,
    PRIMARY KEY (player, followed)
) STRICT, WITHOUT ROWID;

CREATE INDEX follow_of ON follow (followed);

CREATE TABLE block (
    player  INTEGER NOT NULL REFERENCES player (key),
    blocked INTEGER NOT NULL REFERENCES player (key),
    since   INTEGER NOT NULL,
    PRIMARY KEY (player, blocked)
) STRICT, WITHOUT ROWID;

CREATE INDEX block_of ON block (blocked);
