-- Ratings that began anew, because the owner of a bot said that it is something else.
CREATE TABLE rating_reset (
    player  BIGINT NOT NULL REFERENCES player (key),
    at      BIGINT NOT NULL,
    after   BIGINT NOT NULL CHECK (after >= 0), -- number of the last finished game before it
    version TEXT NOT NULL, -- of the bot then; empty if it named none
    reason  TEXT NOT NULL, -- empty once the bot is gone
    PRIMARY KEY (player, at)
);
