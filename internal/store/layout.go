package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// prepare checks that the database is a store that this version can use. For appending it makes an empty database a store,
// and brings an older store up to date.
func (s *Store) prepare(ctx context.Context) error {
	have, err := s.layout(ctx, s.db)
	if err != nil {
		return err
	}
	want := s.backend.layout()
	if s.access == reading {
		switch {
		case have == 0:
			return &Error{Problem: Missing, Store: s.name, Detail: "holds nothing yet: run a study first"}
		case have < want:
			return &Error{Problem: Older, Store: s.name, Detail: fmt.Sprintf(
				"was written by an older brokermark (layout %d, this one needs %d): the next brokermark run with it brings it up to date", have, want)}
		}
		return nil
	}
	if err := s.backend.enter(ctx, s.db, s.patience); err != nil {
		return s.explain(err, "open it for appending")
	}
	if have == want {
		return nil
	}
	return s.explain(s.upgrade(ctx), "bring its tables up to date")
}

// upgrade changes the tables from the layout they have to the one this version knows, all or nothing. Several
// processes may find the same empty database: the lock comes first, and the second process finds nothing to do.
func (s *Store) upgrade(ctx context.Context) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		if err := execAll(ctx, tx, s.backend.lock); err != nil {
			return err
		}
		have, err := s.layout(ctx, tx)
		if err != nil {
			return err
		}
		for _, step := range s.backend.layouts[have:] {
			if err := execAll(ctx, tx, step...); err != nil {
				return err
			}
		}
		if err := execAll(ctx, tx, `DELETE FROM brokermark_store`); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO brokermark_store (layout) VALUES ($1)`, s.backend.layout())
		return err
	})
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// layout reads the version of the tables, 0 for an empty database. It is an error if the database is no store, or if a
// newer version has written it: this one must leave both alone.
func (s *Store) layout(ctx context.Context, q querier) (int, error) {
	tables, err := column[string](ctx, q, s.backend.tables)
	if err != nil {
		return 0, s.explain(err, "read it")
	}
	if len(tables) == 0 {
		return 0, nil
	}
	if !slices.Contains(tables, "brokermark_store") {
		return 0, &Error{Problem: Foreign, Store: s.name, Detail: "is a database of something else: name another " + s.backend.elsewhere}
	}
	versions, err := column[int](ctx, q, `SELECT layout FROM brokermark_store`)
	switch {
	case err != nil:
		return 0, s.explain(err, "read its version")
	case len(versions) != 1:
		return 0, &Error{Problem: Corrupt, Store: s.name, Detail: fmt.Sprintf("is damaged: it has %d versions instead of one", len(versions))}
	case versions[0] > s.backend.layout():
		return 0, &Error{Problem: Newer, Store: s.name, Detail: fmt.Sprintf(
			"was written by a newer brokermark (layout %d, this one knows %d): update brokermark or name another %s",
			versions[0], s.backend.layout(), s.backend.elsewhere)}
	}
	return versions[0], nil
}

// column reads the only column of a query.
func column[T any](ctx context.Context, q querier, query string) ([]T, error) {
	return queryAll(ctx, q, query, func(v *T) []any { return []any{v} })
}

// queryAll reads all rows of a query. fields lists where the columns of a row go.
func queryAll[T any](ctx context.Context, q querier, query string, fields func(row *T) []any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(&row)...); err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, rows.Err()
}
