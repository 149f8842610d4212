-- Live ratings stand on the scale of the published ones, on which `random` has 0.

PRAGMA user_version = 17;

-- Thousandths of a point with which a bot of the house begins on 7x6; none of whoever begins as a newcomer.
ALTER TABLE player ADD COLUMN start INTEGER;

-- The line-up of the house as it was shipped when this was written.
UPDATE player SET start = CASE name
    WHEN 'random' THEN 0
    WHEN 'memory' THEN 155000
    WHEN 'memory-windows' THEN 268000
    WHEN 'stupid' THEN 273000
    WHEN 'greedy' THEN 723000
    WHEN 'perfect-4' THEN 956000
    WHEN 'negamax-2' THEN 1029000
    WHEN 'montecarlo' THEN 1089000
    WHEN 'lines69' THEN 1099000
    WHEN 'negamax' THEN 1137000
    WHEN 'perfect-8' THEN 1166000
    WHEN 'c4ai' THEN 1178000
    WHEN 'negamax-6' THEN 1203000
    WHEN 'negamax-8' THEN 1272000
    WHEN 'cutoff' THEN 1284000
    WHEN 'mcts' THEN 1513000
    WHEN 'alphabeta' THEN 1633000
    WHEN 'ntuple' THEN 1642000
    WHEN 'perfect' THEN 1756000
END WHERE house = 1;

-- Everybody began with 1500, and begins with 750 now. What games are worth depends on differences alone, so boards on
-- which nobody begins elsewhere are moved as they are; the program settles all games on 7x6 again, in the transaction
-- of this migration, and gives learners' curves the ratings that come out.
UPDATE rating SET rating = rating - 750000 WHERE variant <> '7x6';
UPDATE rating_entry SET before = before - 750000, after = after - 750000 WHERE variant <> '7x6';
