-- Browsers that show notices to somebody who is not there, by the push services of their makers.
CREATE TABLE push_subscription (
    endpoint TEXT COLLATE "C" PRIMARY KEY, -- whoever knows it and the keys can write to the browser
    owner    BIGINT NOT NULL REFERENCES player (key),
    p256dh   TEXT NOT NULL, -- the browser's public key
    auth     TEXT NOT NULL, -- what else a notice is encrypted with
    language TEXT NOT NULL,
    since    BIGINT NOT NULL
);

CREATE INDEX push_subscription_of ON push_subscription (owner, since);
