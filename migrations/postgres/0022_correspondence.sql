-- Games by correspondence have ratings of their own, which are worked out from their results.
CREATE INDEX settlement_by_correspondence ON settlement (number) WHERE unrated_because = 'correspondence';

-- While somebody has one, the clocks of their games by correspondence stand. One that was ended early ends where it was.
CREATE TABLE vacation (
    player   BIGINT NOT NULL REFERENCES player (key),
    from_ms  BIGINT NOT NULL,
    until_ms BIGINT NOT NULL CHECK (until_ms >= from_ms),
    PRIMARY KEY (player, from_ms)
);

CREATE INDEX vacation_ends ON vacation (until_ms);
