package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// layout is the version of a store's tables, stored in the table brokermark_store. The JSON of the records has a version of its
// own, Schema.
const layout = 2

// tableStatements create the tables. id and body are the types of two columns. The other columns of a record repeat fields that
// queries select by.
func tableStatements(id, body string) []string {
	return []string{
		`CREATE TABLE record (
			id         ` + id + `,
			point_id   TEXT    NOT NULL,
			study      TEXT    NOT NULL,
			broker     TEXT    NOT NULL, -- empty: see brokerOf
			repetition INTEGER NOT NULL,
			status     TEXT    NOT NULL,
			began      BIGINT  NOT NULL, -- nanoseconds since 1970
			schema     INTEGER NOT NULL,
			body       ` + body + ` NOT NULL -- the whole record as JSON
		)`,
		`CREATE INDEX record_point ON record (point_id, repetition, status, began)`,
		`CREATE INDEX record_study ON record (study)`,
		`CREATE INDEX record_broker ON record (broker)`,
		`CREATE TABLE brokermark_store (layout INTEGER PRIMARY KEY)`,
	}
}

// prepare checks that this version can use the database. If the store is opened for appending, it also creates the tables.
func (s *Store) prepare(ctx context.Context) error {
	exists, err := s.checkLayout(ctx, s.db)
	switch {
	case err != nil:
		return err
	case s.access == reading && !exists:
		return s.problem(Missing, "holds nothing yet: run a study first")
	case s.access == reading:
		return nil
	}
	if err := s.backend.enableAppends(ctx, s.db, s.patience); err != nil {
		return s.explain(err, "open it for appending")
	}
	if exists {
		return nil
	}
	return s.create(ctx)
}

// create creates the tables in one transaction. Several processes may find the same empty database, so it looks again under the lock:
// the second process finds nothing to do.
func (s *Store) create(ctx context.Context) error {
	return s.transact(ctx, "create its tables", func(ctx context.Context, tx *sql.Tx) error {
		if err := execAll(ctx, tx, s.backend.lock); err != nil {
			return err
		}
		exists, err := s.checkLayout(ctx, tx)
		if err != nil || exists {
			return err
		}
		return execAll(ctx, tx, slices.Concat(s.backend.create, []string{fmt.Sprintf(`INSERT INTO brokermark_store (layout) VALUES (%d)`, layout)})...)
	})
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// checkLayout reports whether the database has tables. It fails if they belong to another program or to another version of
// brokermark, which must not be changed.
func (s *Store) checkLayout(ctx context.Context, q querier) (exists bool, err error) {
	tables, err := column[string](ctx, q, s.backend.tables)
	if err != nil {
		return false, s.explain(err, "read it")
	}
	if len(tables) == 0 {
		return false, nil
	}
	if !slices.Contains(tables, "brokermark_store") {
		return false, s.problem(Foreign, "is a database of something else: name another %s", s.backend.alternative)
	}
	for _, query := range s.backend.madeUp {
		madeUp, err := column[string](ctx, q, query)
		switch {
		case err != nil:
			return false, s.explain(err, "read it")
		case len(madeUp) > 0:
			return false, s.problem(Foreign, "holds no records, but what makes them up when they are read (%s): name another %s", madeUp[0], s.backend.alternative)
		}
	}
	versions, err := column[int](ctx, q, `SELECT layout FROM brokermark_store LIMIT 2`)
	switch {
	case err != nil:
		return false, s.explain(err, "read its version")
	case len(versions) != 1:
		return false, s.problem(Corrupt, "is damaged: it has %d versions instead of one", len(versions))
	case versions[0] != layout:
		return false, s.problem(Version, "was written by another version of brokermark (layout %d, this one has %d): read it with that one, or name another %s",
			versions[0], layout, s.backend.alternative)
	}
	return true, nil
}

func column[T any](ctx context.Context, q querier, query string) ([]T, error) {
	return queryAll(ctx, q, func(v *T) []any { return []any{v} }, query)
}

// queryAll reads all rows of a query. columns returns the destinations of a row's columns in a T.
func queryAll[T any](ctx context.Context, q querier, columns func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var row T
		if err := rows.Scan(columns(&row)...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
