-- Where people have their mail, if they say so, and the links that are sent there.

PRAGMA user_version = 24;

CREATE TABLE mail (
    owner       INTEGER PRIMARY KEY REFERENCES player (key),
    address     TEXT NOT NULL,
    language    TEXT NOT NULL, -- of what is written there
    notices     INTEGER NOT NULL CHECK (notices IN (0, 1)), -- whether to be told of bots that are paused
    since       INTEGER NOT NULL,
    verified_at INTEGER -- when the link that was sent there was opened
) STRICT;

CREATE INDEX mail_at ON mail (lower(address)) WHERE verified_at IS NOT NULL;

CREATE TABLE mail_link (
    owner      INTEGER NOT NULL REFERENCES mail (owner),
    purpose    TEXT NOT NULL CHECK (purpose IN ('verify', 'reset')),
    digest     BLOB NOT NULL UNIQUE, -- SHA-256 of its secret
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (owner, purpose)
) STRICT;
