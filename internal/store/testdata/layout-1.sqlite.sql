CREATE TABLE record (
		id         INTEGER PRIMARY KEY AUTOINCREMENT,
		point_id   TEXT    NOT NULL,
		study      TEXT    NOT NULL,
		repetition INTEGER NOT NULL,
		status     TEXT    NOT NULL,
		began      INTEGER NOT NULL, -- nanoseconds since 1970
		schema     INTEGER NOT NULL,
		body       TEXT    NOT NULL  -- the whole record as JSON
	);
CREATE INDEX record_point ON record (point_id, repetition, status);
CREATE INDEX record_study ON record (study);
CREATE TABLE brokermark_store (layout INTEGER PRIMARY KEY);
INSERT INTO brokermark_store (layout) VALUES (1);
