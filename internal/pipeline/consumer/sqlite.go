package consumer

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/brokermark/brokermark/internal/pipeline/ride"
)

const sqliteSchema = `
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
