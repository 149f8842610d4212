-- Orders for the whole arena, in the log of all that operators do, and players who may play but ask nobody.
ALTER TABLE player
    ADD COLUMN muted_because TEXT COLLATE "C",
    ADD COLUMN muted_until   BIGINT;

-- What actions there are is known to the program, which refuses to read others.
ALTER TABLE audit
    DROP CONSTRAINT audit_action_check,
    ADD CONSTRAINT audit_action_check CHECK (action <> ''),
    ADD COLUMN until BIGINT;
