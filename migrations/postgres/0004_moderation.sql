-- Players who are kept out, and a log of all that operators do.
ALTER TABLE player
    ADD COLUMN banned_because TEXT,
    ADD COLUMN banned_until   BIGINT;

ALTER TABLE audit
    DROP CONSTRAINT audit_action_check,
    ADD CONSTRAINT audit_action_check
        CHECK (action IN ('void', 'ban', 'unban', 'rename', 'reset_password', 'sign_out')),
    ADD COLUMN detail  TEXT,
    ADD COLUMN by_whom TEXT;
