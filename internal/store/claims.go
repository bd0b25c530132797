package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// claimTable holds which runner runs which repetition now. It is no part of the layout: a store without it is complete, and an
// older brokermark that doesn't know it can go on with the store.
const claimTable = `CREATE TABLE IF NOT EXISTS claim (
	point_id   TEXT    NOT NULL,
	repetition INTEGER NOT NULL,
	holder     TEXT    NOT NULL,
	until      BIGINT  NOT NULL, -- milliseconds since 1970, by the clock of the database
	PRIMARY KEY (point_id, repetition)
)`

// Claims makes the claims of one runner. Several runners with the same store share the repetitions of a study: each
// claims a repetition before it runs it. A claim that isn't renewed ends with its lease.
type Claims struct {
	store      *Store
	holder     string // names this runner
	lease      time.Duration
	lastBefore int64 // ID of the last record that was stored before this runner began
	doneAfter  int64 // records that ended ok or were refused count as done if their ID is greater
}

// Standing is what a claim has found out about a repetition.
type Standing string

// The standings of a repetition.
const (
	Claimed Standing = "claimed" // it is the caller's
	Held    Standing = "held"    // another runner has claimed it
	Done    Standing = "done"    // its record is stored
)

// Claims makes claims for a runner that begins now. If again is set, repetitions that were stored before are to be run once more.
func (s *Store) Claims(ctx context.Context, again bool, lease time.Duration) (*Claims, error) {
	c := &Claims{store: s, holder: rand.Text(), lease: lease}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := s.transact(ctx, func(tx *sql.Tx) error {
		if err := execAll(ctx, tx, s.backend.lock, claimTable); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM record`).Scan(&c.lastBefore)
	})
	if err != nil {
		return nil, s.explain(err, "claim repetitions")
	}
	if again {
		c.doneAfter = c.lastBefore
	}
	return c, nil
}

// Claim claims a repetition, unless another runner holds it or it is done. It is done if it ended ok or was refused, or if
// another runner has tried it since this one began. If Claim returns Claimed, the caller passes the repetition to Keep.
func (c *Claims) Claim(ctx context.Context, pointID string, repetition int) (Standing, error) {
	ctx, cancel := c.store.soon(ctx)
	defer cancel()
	standing, err := c.claim(ctx, pointID, repetition)
	return standing, c.store.explain(err, fmt.Sprintf("claim repetition %d of point %s", repetition, pointID))
}

func (c *Claims) claim(ctx context.Context, pointID string, repetition int) (Standing, error) {
	tx, err := c.store.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit; a claim of what is done is taken back
	now := c.store.backend.now
	take := `INSERT INTO claim (point_id, repetition, holder, until) VALUES ($1, $2, $3, ` + now + ` + $4)
		ON CONFLICT (point_id, repetition) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE claim.until < ` + now + ` OR claim.holder = excluded.holder RETURNING holder`
	var holder string
	err = tx.QueryRowContext(ctx, take, pointID, repetition, c.holder, c.lease.Milliseconds()).Scan(&holder)
	if errors.Is(err, sql.ErrNoRows) {
		return Held, nil
	}
	if err != nil {
		return "", err
	}
	// This is read after the claim was taken: the last holder stored its record before it released its claim.
	const done = `SELECT COUNT(*) FROM record WHERE point_id = $1 AND repetition = $2 AND
		(id > $3 AND status IN ('ok', 'refused') OR id > $4 AND status IN ('failed', 'void'))`
	var n int
	if err := tx.QueryRowContext(ctx, done, pointID, repetition, c.doneAfter, c.lastBefore).Scan(&n); err != nil {
		return "", err
	}
	if n > 0 {
		return Done, nil
	}
	return Claimed, tx.Commit()
}

// Keep renews a claim until release is called, which ends the claim.
func (c *Claims) Keep(pointID string, repetition int) (release func()) {
	return c.store.keep(leased{
		table: "claim", where: `point_id = $1 AND repetition = $2 AND holder = $3`,
		args: []any{pointID, repetition, c.holder}, lease: c.lease,
	})
}
