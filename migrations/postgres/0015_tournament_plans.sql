-- Tournaments that people have made and that are to come.
CREATE TABLE tournament_plan (
    id           TEXT COLLATE "C" PRIMARY KEY, -- that of the tournament which it becomes
    name         TEXT COLLATE "C" NOT NULL UNIQUE,
    maker        BIGINT NOT NULL REFERENCES player (key),
    begins_at    BIGINT NOT NULL,
    format       TEXT COLLATE "C" NOT NULL
                 CHECK (format IN ('round_robin', 'gauntlet', 'swiss', 'knockout', 'ladder')),
    rounds       BIGINT, -- of a Swiss, if its maker says
    pairs        BIGINT NOT NULL CHECK (pairs > 0),
    bank_ms      BIGINT,
    increment_ms BIGINT NOT NULL,
    move_ms      BIGINT,
    rated        BOOLEAN NOT NULL,
    open_bots    BOOLEAN NOT NULL
);

CREATE INDEX tournament_plan_of ON tournament_plan (maker);

-- Who takes part in one.
CREATE TABLE tournament_entry (
    plan   TEXT COLLATE "C" NOT NULL REFERENCES tournament_plan (id),
    player BIGINT NOT NULL REFERENCES player (key),
    place  BIGINT NOT NULL CHECK (place >= 0), -- grows in the order in which they entered
    PRIMARY KEY (plan, player)
);

CREATE INDEX tournament_entry_of ON tournament_entry (player);
