package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
)

// Several runners with the same store can share the repetitions of a study. A runner claims a repetition before it runs it, with a
// row in the table claim; the others skip a claimed repetition. A claim is a lease: its runner renews it, and when the runner dies
// the claim ends by itself, so that another may take the repetition.

// claimTable is created by the first runner that shares the store; a store without the table is valid.
const claimTable = `CREATE TABLE IF NOT EXISTS claim (
	point_id   TEXT    NOT NULL,
	repetition INTEGER NOT NULL,
	holder     TEXT    NOT NULL,
	until      BIGINT  NOT NULL, -- milliseconds since 1970, by the clock of the database
	PRIMARY KEY (point_id, repetition)
)`

// Claims makes the claims of one runner.
type Claims struct {
	store    *Store
	holder   string // a random name of this runner
	lease    time.Duration
	startID  int64 // ID of the newest record when this runner began
	doneFrom int64 // only records with a greater ID show that a repetition is done
}

// Standing is the state of a repetition that a runner tried to claim.
type Standing string

// The standings of a repetition.
const (
	Claimed Standing = "claimed" // this runner has it
	Held    Standing = "held"    // another runner has it
	Done    Standing = "done"    // its record is stored
)

// Claims returns the claims of a runner that begins now. again makes it repeat repetitions that were done before.
func (s *Store) Claims(ctx context.Context, again bool, lease time.Duration) (*Claims, error) {
	c := &Claims{store: s, holder: rand.Text(), lease: lease}
	err := s.transact(ctx, "claim repetitions", func(ctx context.Context, tx *sql.Tx) error {
		if err := execAll(ctx, tx, s.backend.lock, claimTable); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(id), 0) FROM record`).Scan(&c.startID)
	})
	if err != nil {
		return nil, err
	}
	if again {
		c.doneFrom = c.startID
	}
	return c, nil
}

// Claim claims a repetition unless another runner holds it or it is done. It is done if it ended ok or was refused, or if
// another runner has tried it since this one began. A caller that gets Claimed calls Keep next.
func (c *Claims) Claim(ctx context.Context, pointID string, repetition int) (Standing, error) {
	ctx, cancel := c.store.briefly(ctx)
	defer cancel()
	standing, err := c.claim(ctx, pointID, repetition)
	return standing, c.store.explain(err, fmt.Sprintf("claim repetition %d of point %s", repetition, pointID))
}

// claim takes the claim first and then looks whether the repetition is done. The other order would run a repetition twice: another
// runner could store its record and release its claim in between.
func (c *Claims) claim(ctx context.Context, pointID string, repetition int) (Standing, error) {
	tx, err := c.store.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }() // gives back the claim of a repetition that is done; does nothing after Commit
	taken, err := c.take(ctx, tx, pointID, repetition)
	if err != nil {
		return "", err
	}
	if !taken {
		return Held, nil
	}
	const countDone = `SELECT COUNT(*) FROM record WHERE point_id = $1 AND repetition = $2 AND
		(id > $3 AND status IN ('ok', 'refused') OR id > $4 AND status IN ('failed', 'void'))`
	var done int
	if err := tx.QueryRowContext(ctx, countDone, pointID, repetition, c.doneFrom, c.startID).Scan(&done); err != nil {
		return "", err
	}
	if done > 0 {
		return Done, nil
	}
	return Claimed, tx.Commit()
}

// take claims a repetition that is not held, whose claim has expired, or that this runner holds already.
func (c *Claims) take(ctx context.Context, tx *sql.Tx, pointID string, repetition int) (bool, error) {
	now := c.store.backend.now
	statement := `INSERT INTO claim (point_id, repetition, holder, until) VALUES ($1, $2, $3, ` + now + ` + $4)
		ON CONFLICT (point_id, repetition) DO UPDATE SET holder = excluded.holder, until = excluded.until
		WHERE claim.until < ` + now + ` OR claim.holder = excluded.holder`
	result, err := tx.ExecContext(ctx, statement, pointID, repetition, c.holder, c.lease.Milliseconds())
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows > 0, err
}

// Keep renews a claim until release is called, which gives it up.
func (c *Claims) Keep(pointID string, repetition int) (release func()) {
	return c.store.keep("claim", c.lease, `point_id = $1 AND repetition = $2 AND holder = $3`, pointID, repetition, c.holder)
}

// Lease is how long a claim or an announcement stays valid after its process last renewed it. The process may have been killed,
// suspended, or cut off from the network.
const Lease = 30 * time.Second

// keep renews the lease of rows of a table three times per lease, by setting their column "until", until the caller calls
// release, which deletes the rows. where is a condition with the arguments args. keep ignores errors of the database: a lease
// that isn't renewed simply expires.
func (s *Store) keep(table string, lease time.Duration, where string, args ...any) (release func()) {
	exec := func(ctx context.Context, statement string) {
		ctx, cancel := s.briefly(ctx)
		defer cancel()
		_, _ = s.db.ExecContext(ctx, statement+` WHERE `+where, args...)
	}
	ctx, cancel := context.WithCancel(context.Background())
	end := clock.Repeat(lease/3, func() {
		exec(ctx, fmt.Sprintf(`UPDATE %s SET until = %s + %d`, table, s.backend.now, lease.Milliseconds()))
	})
	return sync.OnceFunc(func() {
		cancel()
		end()
		exec(context.Background(), `DELETE FROM `+table)
	})
}

// briefly limits an operation that the program can do without to two seconds: a store that doesn't answer must not hold it up.
func (s *Store) briefly(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(2*s.patience, limitWhileAway))
}

// watchedTable lists the live pages of runs in progress. Like claimTable it is created when first needed.
const watchedTable = `CREATE TABLE IF NOT EXISTS watched (
	url   TEXT   NOT NULL,
	host  TEXT   NOT NULL,
	until BIGINT NOT NULL, -- milliseconds since 1970, by the clock of the database
	PRIMARY KEY (host, url)
)`

// Page is the live page of a run in progress: its URL, and the name of the machine that serves it.
type Page struct{ URL, Host string }

// Claim is a repetition claimed by a runner.
type Claim struct {
	PointID    string
	Repetition int
}

// Running lists the claimed repetitions and the live pages of the runs that use a store.
type Running struct {
	Claims []Claim
	Pages  []Page
}

// Announce lists the live page of a run until withdraw is called or, if the process dies, until the lease expires. A run may
// continue when Announce fails; withdraw is never nil.
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

// Running returns the claims and pages whose leases have not expired.
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

// leased reads columns of the rows whose lease has not expired, in the order of these columns. It returns none if the table doesn't exist.
func leased[T any](ctx context.Context, s *Store, table, columns string, into func(*T) []any) ([]T, error) {
	tables, err := column[string](ctx, s.db, s.backend.tables)
	if err != nil || !slices.Contains(tables, table) {
		return nil, err
	}
	return queryAll(ctx, s.db, into, `SELECT `+columns+` FROM `+table+` WHERE until >= `+s.backend.now+` ORDER BY `+columns)
}
