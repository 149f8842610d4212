-- What old games have beside their moves goes after a while; up to which number that was done.
CREATE TABLE forgotten (
    lessons BIGINT NOT NULL CHECK (lessons >= 0), -- texts of what learners learnt
    notes   BIGINT NOT NULL CHECK (notes >= 0)    -- what bots of the house thought in games among themselves
);

INSERT INTO forgotten (lessons, notes) VALUES (0, 0);

-- The log of a game stays as it is but for what a bot thought, which may go.
DROP TRIGGER event_is_not_changed ON event;

CREATE TRIGGER event_is_not_changed BEFORE UPDATE OF
    game, seq, kind, first_ms, second_ms, at, column_no, spent_ms, credited_ms, plies, result, reason, at_fault ON event
    FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

CREATE TRIGGER event_is_not_deleted BEFORE DELETE OR TRUNCATE ON event
    FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

CREATE TRIGGER event_is_not_annotated BEFORE UPDATE OF info ON event
    FOR EACH ROW WHEN (NEW.info IS NOT NULL) EXECUTE FUNCTION is_append_only();
