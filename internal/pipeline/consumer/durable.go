package consumer

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/pgurl"
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

const sqliteSchema = `
CREATE TABLE IF NOT EXISTS ride (id BLOB PRIMARY KEY, skier INTEGER NOT NULL, time INTEGER NOT NULL, lift INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS day (
	skier INTEGER NOT NULL, resort INTEGER NOT NULL, season INTEGER NOT NULL, day INTEGER NOT NULL,
	rides INTEGER NOT NULL, vertical INTEGER NOT NULL, PRIMARY KEY (skier, resort, season, day)
) WITHOUT ROWID;`

// ofOthers returns an error if SQLite would open what another user has made: it writes to what a link leads to, and changes the file as
// a journal beside it says.
func ofOthers(path string) error {
	path, err := bounded.OwnPath(path)
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		info, missing := os.Lstat(path + suffix)
		if err != nil || missing != nil {
			continue
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
			err = fmt.Errorf("%s belongs to another user", path+suffix)
		}
	}
	return err
}

// OpenSQLite opens or makes the state in a file.
func OpenSQLite(path string) (State, error) {
	q := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)", "busy_timeout(10000)"}}
	db, err := sql.Open("sqlite", "file:"+path+"?"+q.Encode())
	if err == nil {
		err = ofOthers(path)
	}
	if err == nil {
		_, err = db.Exec(sqliteSchema)
	}
	if err != nil {
		return nil, fmt.Errorf("the consumer's state in %s: %w", path, err)
	}
	return newDurable(db, commitSQLite), nil
}

func commitSQLite(db *sql.DB, all []*application) (err error) {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	for _, a := range all {
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
	done, err := tx.Exec(`INSERT INTO ride VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, r.ID[:], r.Skier, r.Time, r.Lift)
	if err != nil {
		return false, err
	}
	if n, err := done.RowsAffected(); n == 0 || err != nil {
		return false, err
	}
	_, err = tx.Exec(`INSERT INTO day VALUES (?, ?, ?, ?, 1, ?)
		ON CONFLICT DO UPDATE SET rides = rides + 1, vertical = vertical + excluded.vertical`, r.Skier, r.Resort, r.Season, r.Day, r.Vertical())
	return true, err
}

// Consumers that start at once must not make the tables at once: IF NOT EXISTS alone lets both try.
const postgresSchema = `
SELECT pg_advisory_xact_lock(hashtext('brokermark pipeline'));
CREATE TABLE IF NOT EXISTS ride (id BYTEA PRIMARY KEY, skier INTEGER NOT NULL, time INTEGER NOT NULL, lift INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS day (
	skier INTEGER NOT NULL, resort INTEGER NOT NULL, season INTEGER NOT NULL, day INTEGER NOT NULL,
	rides BIGINT NOT NULL, vertical BIGINT NOT NULL, PRIMARY KEY (skier, resort, season, day)
);`

// count inserts rides, in order of their IDs, and returns the IDs of the new ones; days count only these. Both tables are
// written in order, so that two consumers of one database can't wait for each other.
const count = `
WITH given AS (
	SELECT * FROM unnest($1::bytea[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[])
		AS r (id, skier, resort, season, day, time, lift)
), fresh AS (
	INSERT INTO ride SELECT id, skier, time, lift FROM given ORDER BY id ON CONFLICT DO NOTHING RETURNING id
), days AS (
	INSERT INTO day SELECT skier, resort, season, day, count(*), sum(lift * $8::int) FROM given JOIN fresh USING (id)
		GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
	ON CONFLICT (skier, resort, season, day) DO UPDATE SET rides = day.rides + excluded.rides, vertical = day.vertical + excluded.vertical
)
SELECT id FROM fresh`

// postgresTime bounds opening the state and each transaction: a server that doesn't answer must not hold the consumer for ever.
const postgresTime = 30 * time.Second

// OpenPostgres opens or makes the state in the current schema of a PostgreSQL database, postgres://user:password@host/database.
// Several consumers may share it. Whatever the server's default, a transaction is on the disk when it returns.
func OpenPostgres(address string) (State, error) {
	config, err := pgurl.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the consumer's state %w", err)
	}
	if config.RuntimeParams["synchronous_commit"] == "" {
		config.RuntimeParams["synchronous_commit"] = "on"
	}
	db := stdlib.OpenDB(*config)
	ctx, cancel := context.WithTimeout(context.Background(), postgresTime)
	defer cancel()
	if _, err := db.ExecContext(ctx, postgresSchema); err != nil {
		if why := pgurl.NoTLS(err); why != "" {
			err = errors.New("it " + why)
		}
		return nil, errors.Join(fmt.Errorf("the consumer's state in PostgreSQL at %s: %w", config.Host, err), db.Close())
	}
	return newDurable(db, commitPostgres), nil
}

func commitPostgres(db *sql.DB, all []*application) error {
	ctx, cancel := context.WithTimeout(context.Background(), postgresTime)
	defer cancel()
	first := map[ride.ID]*application{} // who brings it first
	var rides []*ride.Ride
	for _, a := range all {
		for i := range a.rides {
			if r := &a.rides[i]; first[r.ID] == nil {
				first[r.ID] = a
				rides = append(rides, r)
			}
		}
	}
	slices.SortFunc(rides, func(a, b *ride.Ride) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	rows, err := db.QueryContext(ctx, count, arguments(rides)...)
	if err != nil {
		return err
	}
	return eachID(rows, func(id ride.ID) error {
		first[id].fresh++
		return nil
	})
}

// arguments returns the arguments of count: a list for each column, and the vertical of a lift.
func arguments(rides []*ride.Ride) []any {
	ids := make([][]byte, len(rides))
	var columns [6][]int32
	for i, r := range rides {
		ids[i] = r.ID[:]
		for c, n := range [6]int{r.Skier, r.Resort, r.Season, r.Day, r.Time, r.Lift} {
			columns[c] = append(columns[c], int32(n))
		}
	}
	list := []any{ids}
	for _, c := range columns {
		list = append(list, c)
	}
	return append(list, ride.LiftMetres)
}
