-- What people report about others.

PRAGMA user_version = 13;

CREATE TABLE report (
    number     INTEGER PRIMARY KEY,
    reporter   INTEGER REFERENCES player (key), -- none of guests who have gone
    player     INTEGER NOT NULL REFERENCES player (key), -- whom it is about
    game       TEXT, -- the public id
    reason     TEXT NOT NULL CHECK (reason IN ('name', 'cheating', 'stalling', 'harassment', 'other')),
    note       TEXT NOT NULL, -- empty when the reporter has left
    at         INTEGER NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('open', 'taken', 'dismissed', 'resolved')),
    handled_by TEXT, -- who has taken it or dealt with it
    CHECK ((state = 'open') = (handled_by IS NULL))
) STRICT;

CREATE INDEX report_in_state ON report (state, number);
CREATE INDEX report_about ON report (player);

-- One open report of somebody about somebody.
CREATE UNIQUE INDEX report_by ON report (reporter, player) WHERE state IN ('open', 'taken');
CREATE INDEX report_of ON report (reporter, number);
