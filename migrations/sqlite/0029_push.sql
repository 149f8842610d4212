-- Browsers that show notices to somebody who is not there, by the push services of their makers.

PRAGMA user_version = 29;

CREATE TABLE push_subscription (
    endpoint TEXT PRIMARY KEY NOT NULL, -- whoever knows it and the keys can write to the browser
    owner    INTEGER NOT NULL REFERENCES player (key),
    p256dh   TEXT NOT NULL, -- the browser's public key
    auth     TEXT NOT NULL, -- what else a notice is encrypted with
    language TEXT NOT NULL,
    since    INTEGER NOT NULL
) STRICT;

CREATE INDEX push_subscription_of ON push_subscription (owner, since);
