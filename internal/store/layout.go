package store

import (
	"context"
	"database/sql"
	"fmt"
)

// prepare checks that the database is a store this version can use. When appending it makes an empty one a store and
// brings an older one up to date.
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
// processes may find the same empty database: the lock comes first, and who comes second finds nothing to do.
func (s *Store) upgrade(ctx context.Context) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if s.backend.lock != "" {
		if _, err := tx.ExecContext(ctx, s.backend.lock); err != nil {
			return err
		}
	}
	have, err := s.layout(ctx, tx)
	if err != nil {
		return err
	}
	for _, step := range s.backend.layouts[have:] {
		for _, statement := range step {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM brokermark_store`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO brokermark_store (layout) VALUES ($1)`, s.backend.layout()); err != nil {
		return err
	}
	return tx.Commit()
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// layout is the version of the tables, 0 in an empty database. What this version must leave alone is an error: a
// newer layout, and what isn't a store.
func (s *Store) layout(ctx context.Context, q querier) (int, error) {
	tables, err := column[string](ctx, q, s.backend.tables)
	switch {
	case err != nil:
		return 0, s.explain(err, "read it")
	case len(tables) == 0:
		return 0, nil
	}
	ours := false
	for _, t := range tables {
		ours = ours || t == "brokermark_store"
	}
	if !ours {
		return 0, &Error{Problem: Foreign, Store: s.name, Detail: "is a database of something else: name another " + s.backend.elsewhere}
	}
	found, err := column[int](ctx, q, `SELECT layout FROM brokermark_store`)
	switch {
	case err != nil:
		return 0, s.explain(err, "read its version")
	case len(found) != 1:
		return 0, &Error{Problem: Corrupt, Store: s.name, Detail: fmt.Sprintf("is damaged: it has %d versions instead of one", len(found))}
	case found[0] > s.backend.layout():
		return 0, &Error{Problem: Newer, Store: s.name, Detail: fmt.Sprintf(
			"was written by a newer brokermark (layout %d, this one knows %d): update brokermark or name another %s",
			found[0], s.backend.layout(), s.backend.elsewhere)}
	}
	return found[0], nil
}

// column reads the only column of a query.
func column[T any](ctx context.Context, q querier, query string) ([]T, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var values []T
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, rows.Err()
}
