-- What old games have beside their moves goes after a while; up to which number that was done.

PRAGMA user_version = 26;

CREATE TABLE forgotten (
    lessons INTEGER NOT NULL CHECK (lessons >= 0), -- texts of what learners learnt
    notes   INTEGER NOT NULL CHECK (notes >= 0)    -- what bots of the house thought in games among themselves
) STRICT;

INSERT INTO forgotten (lessons, notes) VALUES (0, 0);

-- The log of a game stays as it is but for what a bot thought, which may go.
DROP TRIGGER event_is_not_changed;

CREATE TRIGGER event_is_not_changed BEFORE UPDATE OF
    game, seq, kind, first_ms, second_ms, at, column_no, spent_ms, credited_ms, plies, result, reason, at_fault ON event
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;

CREATE TRIGGER event_is_not_annotated BEFORE UPDATE OF info ON event WHEN new.info IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'the log of a game is append-only'); END;
