-- Accounts that are operators, and their second factors.

PRAGMA user_version = 14;

CREATE TABLE operator (
    player    INTEGER PRIMARY KEY REFERENCES player (key),
    since     INTEGER NOT NULL,
    salt      TEXT NOT NULL, -- with the key of the data directory it makes the key of the codes
    last_step INTEGER NOT NULL, -- the last code that was used, by its time step
    recovery  TEXT NOT NULL -- digests of the codes for a lost phone, with spaces between them
) STRICT;
