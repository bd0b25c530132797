package consumer

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/brokermark/brokermark/internal/pgurl"
	"github.com/brokermark/brokermark/internal/pipeline/ride"
)

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
