CREATE TABLE record (
		id         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		point_id   TEXT    NOT NULL,
		study      TEXT    NOT NULL,
		repetition INTEGER NOT NULL,
		status     TEXT    NOT NULL,
		began      BIGINT  NOT NULL, -- nanoseconds since 1970
		schema     INTEGER NOT NULL,
		body       JSON    NOT NULL  -- the whole record; JSON keeps its text, JSONB would not
	);
CREATE INDEX record_point ON record (point_id, repetition, status);
CREATE INDEX record_study ON record (study);
CREATE TABLE brokermark_store (layout INTEGER PRIMARY KEY);
INSERT INTO brokermark_store (layout) VALUES (1);
