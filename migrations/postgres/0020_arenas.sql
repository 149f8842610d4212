-- Arenas, in which whoever is free is paired again; who came late or went early; why a tournament was called off.
ALTER TABLE tournament DROP CONSTRAINT tournament_format_check;
ALTER TABLE tournament ADD CONSTRAINT tournament_format_check
    CHECK (format IN ('match', 'round_robin', 'gauntlet', 'swiss', 'knockout', 'ladder', 'arena'));
ALTER TABLE tournament ADD COLUMN maker BIGINT REFERENCES player (key); -- none of the operators' own
ALTER TABLE tournament ADD COLUMN open_people BOOLEAN NOT NULL DEFAULT false; -- whether people may come later
ALTER TABLE tournament ADD COLUMN because TEXT CHECK (because <> ''); -- why it was called off, if somebody said

ALTER TABLE tournament_entrant ADD COLUMN came BIGINT NOT NULL DEFAULT 0 CHECK (came >= 0); -- the game due then
ALTER TABLE tournament_entrant ADD COLUMN went BIGINT CHECK (went >= 0); -- the same when they withdrew

ALTER TABLE tournament_plan DROP CONSTRAINT tournament_plan_format_check;
ALTER TABLE tournament_plan ADD CONSTRAINT tournament_plan_format_check
    CHECK (format IN ('round_robin', 'gauntlet', 'swiss', 'knockout', 'ladder', 'arena'));
ALTER TABLE tournament_plan ADD COLUMN minutes BIGINT; -- of an arena
