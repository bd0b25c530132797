package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Lease is how long a claim holds when its runner is not heard of any more: killed, suspended, or off the network.
const Lease = 30 * time.Second

// claimTable holds who runs which repetition now. It is no part of the layout: a store without it is complete, and an
// older brokermark that doesn't know it can go on with the store.
const claimTable = `CREATE TABLE IF NOT EXISTS claim (
	point_id   TEXT    NOT NULL,
	repetition INTEGER NOT NULL,
	holder     TEXT    NOT NULL,
	until      BIGINT  NOT NULL, -- milliseconds since 1970, by the clock of the database
	PRIMARY KEY (point_id, repetition)
)`

// Claims are what one runner claims of a store: several runners share the repetitions of a study instead of each doing
// all. A claim that isn't renewed ends with its lease.
type Claims struct {
	store  *Store
	holder string
	since  int64 // the last record there was when this runner began
	again  bool
	lease  time.Duration
}

// Standing tells whether a repetition is to be run.
type Standing int

// What a claim can find.
const (
	Claimed Standing = iota // it is the caller's
	Held                    // another runner is at it
	Done                    // its record is there
)

// Claims begins a runner's claims. With again only what is stored from now on counts as done.
func (s *Store) Claims(ctx context.Context, again bool, lease time.Duration) (*Claims, error) {
	c := &Claims{store: s, holder: rand.Text(), again: again, lease: lease}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	tx, err := s.begin(ctx)
	if err != nil {
		return nil, s.explain(err, "claim repetitions")
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	err = s.execAll(ctx, tx, s.backend.lock, claimTable)
	if err == nil {
		err = tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM record`).Scan(&c.since)
	}
	if err == nil {
		err = tx.Commit()
	}
	return c, s.explain(err, "claim repetitions")
}

// Claim claims a repetition, unless another runner holds it or it is done: it ended ok or was refused, or another
// runner tried it since this one began. The claim has to be released.
func (c *Claims) Claim(ctx context.Context, pointID string, repetition int) (Standing, error) {
	ctx, cancel := context.WithTimeout(ctx, min(2*c.store.patience, whileAway))
	defer cancel()
	standing, err := c.claim(ctx, pointID, repetition)
	return standing, c.store.explain(err, fmt.Sprintf("claim repetition %d of point %s", repetition, pointID))
}

func (c *Claims) claim(ctx context.Context, pointID string, repetition int) (Standing, error) {
	tx, err := c.store.db.BeginTx(ctx, nil)
	if err != nil {
		return Held, err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	now := c.store.backend.now
	take := `INSERT INTO claim (point_id, repetition, holder, until) VALUES ($1, $2, $3, ` + now + ` + $4)
		ON CONFLICT (point_id, repetition) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE claim.until < ` + now + ` OR claim.holder = excluded.holder RETURNING holder`
	var holder string
	switch err := tx.QueryRowContext(ctx, take, pointID, repetition, c.holder, c.lease.Milliseconds()).Scan(&holder); {
	case errors.Is(err, sql.ErrNoRows):
		return Held, nil
	case err != nil:
		return Held, err
	}
	// Looked up with the claim in hand: its last holder stored its record before it let go.
	const done = `SELECT COUNT(*) FROM record WHERE point_id = $1 AND repetition = $2 AND
		(id > $3 AND status IN ('ok', 'refused') OR id > $4 AND status IN ('failed', 'void'))`
	from := int64(0)
	if c.again {
		from = c.since
	}
	var n int
	if err := tx.QueryRowContext(ctx, done, pointID, repetition, from, c.since).Scan(&n); err != nil {
		return Held, err
	}
	if n > 0 {
		return Done, nil
	}
	return Claimed, tx.Commit()
}

// Keep renews a claim until the call it returns releases it.
func (c *Claims) Keep(pointID string, repetition int) (release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(c.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = c.exec(ctx, `UPDATE claim SET until = `+c.store.backend.now+` + $4`, pointID, repetition, c.lease.Milliseconds())
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
		_ = c.exec(context.Background(), `DELETE FROM claim`, pointID, repetition)
	}
}

// exec changes this runner's own claim, if it still has it. A store that is away doesn't mind: the lease ends.
func (c *Claims) exec(ctx context.Context, change, pointID string, repetition int, more ...any) error {
	ctx, cancel := context.WithTimeout(ctx, min(2*c.store.patience, whileAway))
	defer cancel()
	_, err := c.store.db.ExecContext(ctx, change+` WHERE point_id = $1 AND repetition = $2 AND holder = $3`,
		append([]any{pointID, repetition, c.holder}, more...)...)
	return err
}

// execAll runs statements that answer nothing; empty ones are left out.
func (s *Store) execAll(ctx context.Context, tx *sql.Tx, statements ...string) error {
	for _, statement := range statements {
		if statement == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
