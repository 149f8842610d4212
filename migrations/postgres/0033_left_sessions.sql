-- How far sessions had been told when the daemon was stopped as planned. The next start reads them, and they are gone.
CREATE TABLE left_session (
    id    TEXT COLLATE "C" PRIMARY KEY,
    after BIGINT NOT NULL CHECK (after >= 0), -- the message from which on all is known
    ends  TEXT COLLATE "C" NOT NULL -- each the number of a later message and the game whose end it told: 41:game 57:game
);
