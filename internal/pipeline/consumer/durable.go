package consumer

import (
	"database/sql"
	"strings"
	"sync"

	"github.com/brokermark/brokermark/internal/pipeline/ride"
	"github.com/brokermark/brokermark/internal/pipeline/server"
)

// durable keeps the state in a database. A ride and what it adds to its skier's day are one transaction, flushed to the
// disk before Apply returns and so before the message is acknowledged: after a crash the broker redelivers unacknowledged
// messages, and the rides' IDs show which were counted already.
type durable struct {
	db     *sql.DB
	commit func(db *sql.DB, all []*application) error // in one transaction
	work   chan *application
	done   sync.WaitGroup
}

// The questions to the database. In the vertical's, 0 stands for any season or day.
const (
	verticalQuestion = `SELECT CAST(coalesce(sum(vertical), 0) AS BIGINT) FROM day WHERE skier = $1 AND resort = $2 AND $3 IN (season, 0) AND $4 IN (day, 0)`
	totalsQuestion   = `SELECT (SELECT count(*) FROM ride), count(DISTINCT skier), CAST(coalesce(sum(rides), 0) AS BIGINT) FROM day`
)

// application is the rides of one delivery, waiting for their transaction.
type application struct {
	rides []ride.Ride
	fresh int
	err   chan error
}

// Open opens or makes the state that a word names: "" is in memory, postgres://user@host/database is in PostgreSQL,
// everything else is a SQLite file.
func Open(state string) (State, error) {
	switch {
	case state == "":
		return NewMemory(), nil
	case strings.HasPrefix(state, "postgres://"), strings.HasPrefix(state, "postgresql://"):
		return OpenPostgres(state)
	}
	return OpenSQLite(state)
}

func newDurable(db *sql.DB, commit func(*sql.DB, []*application) error) *durable {
	d := &durable{db: db, commit: commit, work: make(chan *application, gathered)}
	d.done.Go(d.write)
	return d
}

// gathered is how many deliveries share a transaction at most.
const gathered = 256

func (d *durable) Apply(rides []ride.Ride) (int, error) {
	a := &application{rides: rides, err: make(chan error, 1)}
	d.work <- a
	err := <-a.err
	return a.fresh, err
}

// write is the only goroutine that writes: it puts messages that several threads deliver meanwhile into one transaction.
func (d *durable) write() {
	for first := range d.work {
		all := []*application{first}
		for len(all) < gathered && len(d.work) > 0 { // only this goroutine takes from it
			all = append(all, <-d.work)
		}
		err := d.commit(d.db, all)
		for _, a := range all {
			a.err <- err
		}
	}
}

func (d *durable) Vertical(q server.Query) (metres int64, err error) {
	err = d.db.QueryRow(verticalQuestion, q.Skier, q.Resort, q.Season, q.Day).Scan(&metres)
	return metres, err
}

func (d *durable) Totals() (t Totals, err error) {
	err = d.db.QueryRow(totalsQuestion).Scan(&t.Rides, &t.Skiers, &t.Counted)
	return t, err
}

func (d *durable) IDs(each func(ride.ID) error) error {
	rows, err := d.db.Query(`SELECT id FROM ride`)
	if err != nil {
		return err
	}
	return eachID(rows, each)
}

// eachID passes the only column of rows on, and closes them.
func eachID(rows *sql.Rows, pass func(ride.ID) error) error {
	defer rows.Close()
	for rows.Next() {
		var raw []byte
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		if err := pass(ride.ID(raw)); err != nil {
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
