-- How far sessions had been told when the daemon was stopped as planned. The next start reads them, and they are gone.

PRAGMA user_version = 39;

CREATE TABLE left_session (
    id    TEXT NOT NULL PRIMARY KEY,
    after INTEGER NOT NULL CHECK (after >= 0), -- the message from which on all is known
    ends  TEXT NOT NULL -- each the number of a later message and the game whose end it told: 41:game 57:game
) STRICT, WITHOUT ROWID;
