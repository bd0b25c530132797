package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Lease is how long a claim or an announcement stays valid after its process last renewed it. The process may have been killed,
// suspended, or cut off from the network.
const Lease = 30 * time.Second

// leasedRows are rows of a table that a process keeps while it lives. Their column "until" holds when their lease ends.
type leasedRows struct {
	table string
	where string // a condition with the arguments $1, $2, …
	args  []any
	lease time.Duration
}

// keep renews the lease of rows three times in its duration, until release is called, which deletes them. It ignores
// errors of the database, because a lease that isn't renewed ends by itself.
func (s *Store) keep(rows leasedRows) (release func()) {
	until := fmt.Sprintf("%s + %d", s.backend.now, rows.lease.Milliseconds())
	ctx, cancel := context.WithCancel(context.Background())
	var renewing sync.WaitGroup
	renewing.Go(func() {
		tick := time.NewTicker(rows.lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = s.execBriefly(ctx, `UPDATE `+rows.table+` SET until = `+until+` WHERE `+rows.where, rows.args...)
			}
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		renewing.Wait()
		_ = s.execBriefly(context.Background(), `DELETE FROM `+rows.table+` WHERE `+rows.where, rows.args...)
	})
}

// execBriefly executes a statement within the limit of briefly.
func (s *Store) execBriefly(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := s.briefly(ctx)
	defer cancel()
	_, err := s.db.ExecContext(ctx, statement, args...)
	return err
}

// briefly limits an operation that the program can do without to two seconds: a store that doesn't answer must not hold it up.
func (s *Store) briefly(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(2*s.patience, limitWhileAway))
}
