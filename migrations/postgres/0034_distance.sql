-- How far the database is from each node. A node of before does not say.
ALTER TABLE member ADD COLUMN answers_us BIGINT CHECK (answers_us >= 0); -- after how many microseconds it answers
