-- Games by correspondence have ratings of their own, which are worked out from their results.

PRAGMA user_version = 27;

CREATE INDEX settlement_by_correspondence ON settlement (number) WHERE unrated_because = 'correspondence';

-- While somebody has one, the clocks of their games by correspondence stand. One that was ended early ends where it was.
CREATE TABLE vacation (
    player   INTEGER NOT NULL REFERENCES player (key),
    from_ms  INTEGER NOT NULL,
    until_ms INTEGER NOT NULL CHECK (until_ms >= from_ms),
    PRIMARY KEY (player, from_ms)
) STRICT, WITHOUT ROWID;

CREATE INDEX vacation_ends ON vacation (until_ms);
