package consumer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"sync"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
)

// durable keeps the state in a SQLite file. A ride and what it adds to its skier's day are one transaction, flushed to the
// disk before Apply returns and so before the message is acknowledged: after a crash the broker delivers again what was
// not acknowledged, and the ride's ID tells what was counted already.
type durable struct {
	db   *sql.DB
	work chan *application
	done sync.WaitGroup
}

// application is the rides of one delivery, waiting for their transaction.
type application struct {
	rides []ride.Ride
	fresh int
	err   chan error
}

const schema = `
CREATE TABLE IF NOT EXISTS ride (id BLOB PRIMARY KEY, skier INTEGER NOT NULL, time INTEGER NOT NULL, lift INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS day (
	skier INTEGER NOT NULL, resort INTEGER NOT NULL, season INTEGER NOT NULL, day INTEGER NOT NULL,
	rides INTEGER NOT NULL, vertical INTEGER NOT NULL, PRIMARY KEY (skier, resort, season, day)
) WITHOUT ROWID;`

// OpenSQLite opens or makes the state in a file.
func OpenSQLite(path string) (State, error) {
	q := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err == nil {
		_, err = db.Exec(schema)
	}
	if err != nil {
		return nil, fmt.Errorf("the consumer's state in %s: %w", path, err)
	}
	d := &durable{db: db, work: make(chan *application, gathered)}
	d.done.Go(d.write)
	return d, nil
}

// gathered is how many deliveries share a transaction at most.
const gathered = 256

func (d *durable) Apply(rides []ride.Ride) (int, error) {
	a := &application{rides: rides, err: make(chan error, 1)}
	d.work <- a
	err := <-a.err
	return a.fresh, err
}

// write is the only goroutine that writes: what several threads deliver meanwhile is one transaction.
func (d *durable) write() {
	for first := range d.work {
		all := []*application{first}
		for more := true; more && len(all) < gathered; {
			select {
			case a, ok := <-d.work:
				if more = ok; ok {
					all = append(all, a)
				}
			default:
				more = false
			}
		}
		err := d.commit(all)
		for _, a := range all {
			a.err <- err
		}
	}
}

func (d *durable) commit(all []*application) (err error) {
	tx, err := d.db.Begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	for _, a := range all {
		a.fresh = 0
		for i := range a.rides {
			fresh, err := insert(tx, &a.rides[i])
			if err != nil {
				return err
			}
			if fresh {
				a.fresh++
			}
		}
	}
	return tx.Commit()
}

func insert(tx *sql.Tx, r *ride.Ride) (fresh bool, err error) {
	ctx := context.Background()
	done, err := tx.ExecContext(ctx, `INSERT INTO ride VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, r.ID[:], r.Skier, r.Time, r.Lift)
	if err != nil {
		return false, err
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO day VALUES (?, ?, ?, ?, 1, ?)
		ON CONFLICT DO UPDATE SET rides = rides + 1, vertical = vertical + excluded.vertical`, r.Skier, r.Resort, r.Season, r.Day, r.Vertical())
	return true, err
}

func (d *durable) Vertical(q server.Query) (metres int64, err error) {
	err = d.db.QueryRow(`SELECT coalesce(sum(vertical), 0) FROM day
		WHERE skier = ? AND resort = ? AND (season = ? OR ? = 0) AND (day = ? OR ? = 0)`, q.Skier, q.Resort, q.Season, q.Season, q.Day, q.Day).Scan(&metres)
	return metres, err
}

func (d *durable) Totals() (t Totals, err error) {
	err = d.db.QueryRow(`SELECT (SELECT count(*) FROM ride), count(DISTINCT skier), coalesce(sum(rides), 0) FROM day`).Scan(&t.Rides, &t.Skiers, &t.Counted)
	return t, err
}

func (d *durable) IDs(each func(ride.ID) error) error {
	rows, err := d.db.Query(`SELECT id FROM ride`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		if err := each(ride.ID(raw)); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (d *durable) Close() error {
	close(d.work)
	d.done.Wait()
	return d.db.Close()
}
