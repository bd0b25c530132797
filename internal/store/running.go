package store

import (
	"context"
	"slices"
	"sync"
	"time"
)

// watchedTable holds where runs that are under way can be watched. Like claims it is no part of the layout.
const watchedTable = `CREATE TABLE IF NOT EXISTS watched (
	url   TEXT   NOT NULL,
	host  TEXT   NOT NULL,
	until BIGINT NOT NULL, -- milliseconds since 1970, by the clock of the database
	PRIMARY KEY (host, url)
)`

// Page is where a run that is under way can be watched: a URL, and the name of the machine that has it.
type Page struct{ URL, Host string }

// Claim is a repetition that a runner is at.
type Claim struct {
	PointID    string
	Repetition int
}

// Running is what is under way with a store.
type Running struct {
	Claims []Claim
	Pages  []Page
}

// Announce tells who looks at the store where a run can be watched, until the call it returns, or at most a lease longer than
// the runner lives. Nothing depends on it: a store that doesn't take it costs the run nothing.
func (s *Store) Announce(ctx context.Context, p Page, lease time.Duration) (withdraw func(), err error) {
	if err := s.announce(ctx, p, lease); err != nil {
		return func() {}, s.explain(err, "say where the run can be watched")
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = s.write(ctx, `UPDATE watched SET until = `+s.backend.now+` + $1 WHERE host = $2 AND url = $3`, lease.Milliseconds(), p.Host, p.URL)
			}
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		renewing.Wait()
		_ = s.write(context.WithoutCancel(ctx), `DELETE FROM watched WHERE host = $1 AND url = $2`, p.Host, p.URL)
	}), nil
}

func (s *Store) announce(ctx context.Context, p Page, lease time.Duration) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tx, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if err := s.execAll(ctx, tx, s.backend.lock, watchedTable, `DELETE FROM watched WHERE until < `+s.backend.now); err != nil {
		return err
	}
	const insert = `INSERT INTO watched (url, host, until) VALUES ($1, $2, `
	if _, err := tx.ExecContext(ctx, insert+s.backend.now+` + $3) ON CONFLICT (host, url) DO UPDATE SET until = excluded.until`,
		p.URL, p.Host, lease.Milliseconds()); err != nil {
		return err
	}
	return tx.Commit()
}

// write changes a row or gives up soon: the lease ends by itself.
func (s *Store) write(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, min(2*s.patience, whileAway))
	defer cancel()
	_, err := s.db.ExecContext(ctx, statement, args...)
	return err
}

// Running tells what is under way now.
func (s *Store) Running(ctx context.Context) (Running, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	r, err := s.running(ctx)
	return r, s.explain(err, "see what is under way")
}

func (s *Store) running(ctx context.Context) (r Running, err error) {
	tables, err := column[string](ctx, s.db, s.backend.tables)
	if err != nil {
		return r, err
	}
	if slices.Contains(tables, "claim") {
		r.Claims, err = rows(ctx, s, `SELECT point_id, repetition FROM claim WHERE until >= `+s.backend.now+` ORDER BY point_id, repetition`,
			func(c *Claim) []any { return []any{&c.PointID, &c.Repetition} })
		if err != nil {
			return r, err
		}
	}
	if slices.Contains(tables, "watched") {
		r.Pages, err = rows(ctx, s, `SELECT url, host FROM watched WHERE until >= `+s.backend.now+` ORDER BY host, url`,
			func(p *Page) []any { return []any{&p.URL, &p.Host} })
	}
	return r, err
}

// rows reads what a query finds; into names where the columns go.
func rows[T any](ctx context.Context, s *Store, query string, into func(*T) []any) ([]T, error) {
	found, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []T
	for found.Next() {
		var one T
		if err := found.Scan(into(&one)...); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, found.Err()
}
