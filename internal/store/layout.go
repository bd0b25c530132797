package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// The tables of a store have a version, the layout, in the table brokermark_store. Layout 0 is an empty database, layout 1 has the
// table record. A newer brokermark may add layouts; backend.layouts holds the statements that upgrade from each to the next.

// prepare checks that this version can use the database. If the store is opened for appending, it also creates the tables, or
// upgrades those of an older version.
func (s *Store) prepare(ctx context.Context) error {
	have, err := s.readLayout(ctx, s.db)
	if err != nil {
		return err
	}
	want := s.backend.layout()
	if s.access == reading {
		switch {
		case have == 0:
			return s.problem(Missing, "holds nothing yet: run a study first")
		case have < want:
			return s.problem(Older, "was written by an older brokermark (layout %d, this one needs %d): the next brokermark run with it brings it up to date", have, want)
		}
		return nil
	}
	if err := s.backend.enableAppends(ctx, s.db, s.patience); err != nil {
		return s.explain(err, "open it for appending")
	}
	if have == want {
		return nil
	}
	return s.upgrade(ctx)
}

// upgrade changes the tables to the newest layout in one transaction. Several processes may find the same empty database, so it
// reads the layout again under the lock: the second process finds nothing to do.
func (s *Store) upgrade(ctx context.Context) error {
	return s.transact(ctx, "bring its tables up to date", func(ctx context.Context, tx *sql.Tx) error {
		if err := execAll(ctx, tx, s.backend.lock); err != nil {
			return err
		}
		have, err := s.readLayout(ctx, tx)
		if err != nil {
			return err
		}
		for _, step := range s.backend.layouts[have:] {
			if err := execAll(ctx, tx, step...); err != nil {
				return err
			}
		}
		return execAll(ctx, tx, `DELETE FROM brokermark_store`, fmt.Sprintf(`INSERT INTO brokermark_store (layout) VALUES (%d)`, s.backend.layout()))
	})
}

// querier is a *sql.DB or a *sql.Tx.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// readLayout reads the layout of the tables. It fails if the database belongs to another program or to a newer brokermark, which
// must not be changed.
func (s *Store) readLayout(ctx context.Context, q querier) (int, error) {
	tables, err := column[string](ctx, q, s.backend.tables)
	if err != nil {
		return 0, s.explain(err, "read it")
	}
	if len(tables) == 0 {
		return 0, nil
	}
	if !slices.Contains(tables, "brokermark_store") {
		return 0, s.problem(Foreign, "is a database of something else: name another %s", s.backend.alternative)
	}
	versions, err := column[int](ctx, q, `SELECT layout FROM brokermark_store`)
	switch {
	case err != nil:
		return 0, s.explain(err, "read its version")
	case len(versions) != 1:
		return 0, s.problem(Corrupt, "is damaged: it has %d versions instead of one", len(versions))
	case versions[0] > s.backend.layout():
		return 0, s.problem(Newer, "was written by a newer brokermark (layout %d, this one knows %d): update brokermark or name another %s",
			versions[0], s.backend.layout(), s.backend.alternative)
	}
	return versions[0], nil
}

// column reads the only column of a query.
func column[T any](ctx context.Context, q querier, query string) ([]T, error) {
	return queryAll(ctx, q, func(v *T) []any { return []any{v} }, query)
}

// queryAll reads all rows of a query. columns returns where in a T the columns of a row go.
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
