-- Whom people follow, and whom they block. Friends are two who follow each other.
CREATE TABLE follow (
    player   BIGINT NOT NULL REFERENCES player (key),
    followed BIGINT NOT NULL REFERENCES player (key),
    since    BIGINT NOT NULL,
    PRIMARY KEY (player, followed)
);

CREATE INDEX follow_of ON follow (followed);

CREATE TABLE block (
    player  BIGINT NOT NULL REFERENCES player (key),
    blocked BIGINT NOT NULL REFERENCES player (key),
    since   BIGINT NOT NULL,
    PRIMARY KEY (player, blocked)
);

CREATE INDEX block_of ON block (blocked);
