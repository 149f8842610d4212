-- The moves of one commit are one row, not one in the log of each game: src/storage/rows/journal.rs.

PRAGMA user_version = 37;

-- When it is long enough its oldest row goes, once each game that goes on has it as rows in `event`. The log of a
-- game that has ended is in `packed_log`.
CREATE TABLE journal (
    id     INTEGER PRIMARY KEY,
    events BLOB NOT NULL
) STRICT;

CREATE TRIGGER journal_is_not_changed BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;

CREATE TRIGGER journal_goes_from_its_start BEFORE DELETE ON journal
    WHEN old.id <> (SELECT min(id) FROM journal)
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
