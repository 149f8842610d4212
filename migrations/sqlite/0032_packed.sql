-- The log of a finished game becomes one row: src/storage/rows/packed.rs.

PRAGMA user_version = 32;

CREATE TABLE packed_log (
    game     INTEGER PRIMARY KEY REFERENCES game (key),
    events   BLOB NOT NULL,
    notes    BLOB, -- what bots thought, private to their owners
    result   TEXT NOT NULL,
    reason   TEXT NOT NULL,
    at_fault TEXT
) STRICT;

-- Up to which finished game, by its number, that was done.
CREATE TABLE packing (
    number INTEGER NOT NULL CHECK (number >= 0)
) STRICT;

INSERT INTO packing (number) VALUES (0);

-- The log of a game stays, as rows or packed.
DROP TRIGGER event_is_not_deleted;

CREATE TRIGGER event_is_not_deleted BEFORE DELETE ON event
    WHEN NOT EXISTS (SELECT 1 FROM packed_log WHERE game = old.game)
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;

CREATE TRIGGER packed_log_is_not_changed BEFORE UPDATE OF game, events, result, reason, at_fault ON packed_log
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;

CREATE TRIGGER packed_log_is_not_annotated BEFORE UPDATE OF notes ON packed_log WHEN new.notes IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;

CREATE TRIGGER packed_log_is_not_deleted BEFORE DELETE ON packed_log
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;
