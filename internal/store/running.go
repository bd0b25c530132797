package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"
)

// watchedTable lists the live pages of runs that are under way. Like claimTable it is made when it is needed: a store without it
// is complete.
const watchedTable = `CREATE TABLE IF NOT EXISTS watched (
	url   TEXT   NOT NULL,
	host  TEXT   NOT NULL,
	until BIGINT NOT NULL, -- milliseconds since 1970, by the clock of the database
	PRIMARY KEY (host, url)
)`

// Page is the live page of a run that is under way: its URL, and the name of the machine that serves it.
type Page struct{ URL, Host string }

// Claim is a repetition that a runner has claimed.
type Claim struct {
	PointID    string
	Repetition int
}

// Running lists the repetitions and runs that are under way with a store.
type Running struct {
	Claims []Claim
	Pages  []Page
}

// Announce lists the live page of a run until withdraw is called or, if the process dies, until the lease ends. A run may go on if
// it fails; withdraw is never nil.
func (s *Store) Announce(ctx context.Context, p Page, lease time.Duration) (withdraw func(), err error) {
	if err := s.announce(ctx, p, lease); err != nil {
		return func() {}, err
	}
	return s.keep("watched", lease, `host = $1 AND url = $2`, p.Host, p.URL), nil
}

func (s *Store) announce(ctx context.Context, p Page, lease time.Duration) error {
	return s.transact(ctx, "store where the run can be watched", func(ctx context.Context, tx *sql.Tx) error {
		if err := execAll(ctx, tx, s.backend.lock, watchedTable, `DELETE FROM watched WHERE until < `+s.backend.now); err != nil {
			return err
		}
		insert := fmt.Sprintf(`INSERT INTO watched (url, host, until) VALUES ($1, $2, %s + %d)
			ON CONFLICT (host, url) DO UPDATE SET until = excluded.until`, s.backend.now, lease.Milliseconds())
		_, err := tx.ExecContext(ctx, insert, p.URL, p.Host)
		return err
	})
}

// Running reads what is under way now.
func (s *Store) Running(ctx context.Context) (Running, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	r, err := s.running(ctx)
	return r, s.explain(err, "read what is under way")
}

func (s *Store) running(ctx context.Context) (r Running, err error) {
	r.Claims, err = leased(ctx, s, "claim", "point_id, repetition", func(c *Claim) []any { return []any{&c.PointID, &c.Repetition} })
	if err != nil {
		return r, err
	}
	r.Pages, err = leased(ctx, s, "watched", "host, url", func(p *Page) []any { return []any{&p.Host, &p.URL} })
	return r, err
}

// leased reads columns of the rows whose lease goes on, in their order. It returns none if the store has no such table.
func leased[T any](ctx context.Context, s *Store, table, columns string, into func(*T) []any) ([]T, error) {
	tables, err := column[string](ctx, s.db, s.backend.tables)
	if err != nil || !slices.Contains(tables, table) {
		return nil, err
	}
	return queryAll(ctx, s.db, into, `SELECT `+columns+` FROM `+table+` WHERE until >= `+s.backend.now+` ORDER BY `+columns)
}
