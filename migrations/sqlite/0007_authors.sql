-- What the owner of a remote bot wants to know: its versions with their self-tests, and its last faults.

PRAGMA user_version = 7;

-- Every version that a bot has given itself, the last few. A test that was passed stays passed.
CREATE TABLE bot_version (
    player     INTEGER NOT NULL REFERENCES player (key),
    version    TEXT NOT NULL, -- empty if the bot names none
    first_seen INTEGER NOT NULL,
    last_seen  INTEGER NOT NULL,
    passed_at  INTEGER,
    tested_at  INTEGER,
    report     TEXT, -- of the last self-test, as JSON
    PRIMARY KEY (player, version),
    CHECK ((tested_at IS NULL) = (report IS NULL))
) STRICT, WITHOUT ROWID;

-- What a bot did wrong, the last few of each bot.
CREATE TABLE bot_fault (
    key    INTEGER PRIMARY KEY,
    player INTEGER NOT NULL REFERENCES player (key),
    game   TEXT, -- the public id
    kind   TEXT NOT NULL CHECK (kind IN ('illegal_move', 'illegal', 'time', 'left', 'disconnected')),
    note   TEXT NOT NULL,
    at     INTEGER NOT NULL
) STRICT;

CREATE INDEX bot_fault_of_player ON bot_fault (player, key);
