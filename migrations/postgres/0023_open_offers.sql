-- Offers by correspondence that anyone may take stand in a list.
ALTER TABLE challenge_link ADD COLUMN listed BOOLEAN NOT NULL DEFAULT FALSE;
