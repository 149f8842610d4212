-- Offers by correspondence that anyone may take stand in a list.

PRAGMA user_version = 28;

ALTER TABLE challenge_link ADD COLUMN listed INTEGER NOT NULL DEFAULT 0 CHECK (listed IN (0, 1));
