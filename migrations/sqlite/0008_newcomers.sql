-- What can be won from newcomers is limited.

PRAGMA user_version = 8;

-- Whether each side's account was young when a rated game began; none for casual games, and for those that began before
-- there was a limit, which stay as they were.
ALTER TABLE game ADD COLUMN first_footing TEXT CHECK (first_footing IN ('house', 'settled', 'young'));
ALTER TABLE game ADD COLUMN second_footing TEXT
    CHECK (second_footing IN ('house', 'settled', 'young') AND (first_footing IS NULL) = (second_footing IS NULL));

-- When the game ended, if the opponent was a newcomer: the gains of a day are summed.
ALTER TABLE rating_entry ADD COLUMN from_newcomer_at INTEGER;

CREATE INDEX rating_entry_from_newcomer ON rating_entry (player, variant, from_newcomer_at)
    WHERE from_newcomer_at IS NOT NULL;
