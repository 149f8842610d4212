-- Where people have their mail, if they say so, and the links that are sent there.
CREATE TABLE mail (
    owner       BIGINT PRIMARY KEY REFERENCES player (key),
    address     TEXT COLLATE "C" NOT NULL,
    language    TEXT COLLATE "C" NOT NULL, -- of what is written there
    notices     BOOLEAN NOT NULL, -- whether to be told of bots that are paused
    since       BIGINT NOT NULL,
    verified_at BIGINT -- when the link that was sent there was opened
);

CREATE INDEX mail_at ON mail (lower(address)) WHERE verified_at IS NOT NULL;

CREATE TABLE mail_link (
    owner      BIGINT NOT NULL REFERENCES mail (owner),
    purpose    TEXT COLLATE "C" NOT NULL CHECK (purpose IN ('verify', 'reset')),
    digest     BYTEA NOT NULL UNIQUE, -- SHA-256 of its secret
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (owner, purpose)
);
