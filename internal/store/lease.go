package store

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Lease is how long a claim or an announcement counts after its process was last heard of: it may have been killed,
// suspended, or cut off from the network.
const Lease = 30 * time.Second

// leased are the rows of a table that a process keeps while it lives. The table's column until says when their lease ends.
type leased struct {
	table string
	where string // a condition with the arguments $1, $2, …
	args  []any
	lease time.Duration
}

// keep renews the lease of rows three times in its duration, until release is called, which deletes them. It ignores
// errors of the database: without renewal the lease ends by itself.
func (s *Store) keep(rows leased) (release func()) {
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
				_ = s.execSoon(ctx, `UPDATE `+rows.table+` SET until = `+until+` WHERE `+rows.where, rows.args...)
			}
		}
	})
	return sync.OnceFunc(func() {
		cancel()
		renewing.Wait()
		_ = s.execSoon(context.Background(), `DELETE FROM `+rows.table+` WHERE `+rows.where, rows.args...)
	})
}

// execSoon executes a statement, or gives up after two seconds: its caller doesn't depend on it.
func (s *Store) execSoon(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := s.soon(ctx)
	defer cancel()
	_, err := s.db.ExecContext(ctx, statement, args...)
	return err
}

// soon bounds an operation that the program can do without if the store is away.
func (s *Store) soon(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(2*s.patience, limitWhileAway))
}
