-- Links to games that are in no list. The games themselves say so by why they are not rated.
ALTER TABLE challenge_link ADD COLUMN is_private BOOLEAN NOT NULL DEFAULT FALSE;
