-- Accounts that are operators, and their second factors.
CREATE TABLE operator (
    player    BIGINT PRIMARY KEY REFERENCES player (key),
    since     BIGINT NOT NULL,
    salt      TEXT COLLATE "C" NOT NULL, -- with the key of the data directory it makes the key of the codes
    last_step BIGINT NOT NULL, -- the last code that was used, by its time step
    recovery  TEXT COLLATE "C" NOT NULL -- digests of the codes for a lost phone, with spaces between them
);
