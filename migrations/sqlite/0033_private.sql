-- Links to games that are in no list. The games themselves say so by why they are not rated.

PRAGMA user_version = 33;

ALTER TABLE challenge_link ADD COLUMN is_private INTEGER NOT NULL DEFAULT 0 CHECK (is_private IN (0, 1));
