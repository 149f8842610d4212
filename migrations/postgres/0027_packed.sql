-- The log of a finished game becomes one row: src/storage/rows/packed.rs.
CREATE TABLE packed_log (
    game     BIGINT PRIMARY KEY,
    events   BYTEA NOT NULL,
    notes    BYTEA, -- what bots thought, private to their owners
    result   TEXT COLLATE "C" NOT NULL,
    reason   TEXT COLLATE "C" NOT NULL,
    at_fault TEXT COLLATE "C"
);

-- Both are compressed already.
ALTER TABLE packed_log ALTER COLUMN events SET STORAGE EXTERNAL, ALTER COLUMN notes SET STORAGE EXTERNAL;

-- Up to which finished game, by its number, that was done.
CREATE TABLE packing (
    number BIGINT NOT NULL CHECK (number >= 0)
);

INSERT INTO packing (number) VALUES (0);

-- The log of a game stays, as rows or packed.
DROP TRIGGER event_is_not_deleted ON event;

CREATE TRIGGER event_is_not_emptied BEFORE TRUNCATE ON event
    FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

CREATE FUNCTION is_packed_first() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
    IF EXISTS (SELECT FROM gone g WHERE NOT EXISTS (SELECT FROM packed_log p WHERE p.game = g.game)) THEN
        RAISE EXCEPTION 'event is append-only';
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER event_is_not_deleted AFTER DELETE ON event REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION is_packed_first();

CREATE TRIGGER packed_log_is_not_changed BEFORE UPDATE OF game, events, result, reason, at_fault ON packed_log
    FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

CREATE TRIGGER packed_log_is_not_deleted BEFORE DELETE OR TRUNCATE ON packed_log
    FOR EACH STATEMENT EXECUTE FUNCTION is_append_only();

CREATE TRIGGER packed_log_is_not_annotated BEFORE UPDATE OF notes ON packed_log
    FOR EACH ROW WHEN (NEW.notes IS NOT NULL) EXECUTE FUNCTION is_append_only();
