package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Filter selects records that meet all of its conditions. The zero Filter selects every record.
type Filter struct {
	Study    string   // of this study; "": of any
	PointIDs []string // of one of these points; none: of any
	Statuses []Status // with one of these statuses; none: with any
}

// maxPointsPerQuery bounds the arguments of one SQL statement. Every database takes more than this.
const maxPointsPerQuery = 500

// where returns the filter as an SQL condition with its arguments, such as " WHERE study = $1 AND point_id IN ($2)". It leaves out the
// condition on points if there are too many for one statement: the caller has to check that one itself.
func (f Filter) where() (string, arguments) {
	var terms []string
	var args arguments
	if f.Study != "" {
		terms = append(terms, "study = "+args.add(storable(f.Study)))
	}
	if len(f.Statuses) > 0 {
		terms = append(terms, "status IN ("+addAll(&args, f.Statuses)+")")
	}
	if n := len(f.PointIDs); n > 0 && n <= maxPointsPerQuery {
		terms = append(terms, "point_id IN ("+addAll(&args, f.PointIDs)+")")
	}
	if terms == nil {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

// arguments are those of an SQL statement.
type arguments []any

// add adds an argument and returns how the statement refers to it: the third one is "$3".
func (a *arguments) add(value any) string {
	*a = append(*a, value)
	return fmt.Sprintf("$%d", len(*a))
}

// addAll adds several texts and returns a list such as "$3, $4".
func addAll[T ~string](a *arguments, values []T) string {
	var list []string
	for _, v := range values {
		list = append(list, a.add(string(v)))
	}
	return strings.Join(list, ", ")
}

// Records reads the selected records into memory, in the order in which they were appended.
func (s *Store) Records(ctx context.Context, f Filter) ([]Record, error) {
	var records []Record
	for r, err := range s.Each(ctx, f) {
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

// Each reads the selected records one by one, in the order in which they were appended. It sees the store as it was when the
// loop began. An error ends the loop.
func (s *Store) Each(ctx context.Context, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		// A deadline for the whole query would also end a long one that makes progress, so it has one for each row.
		timeout := time.AfterFunc(2*s.patience, func() { cancel(context.DeadlineExceeded) })
		defer timeout.Stop()
		err := s.each(ctx, f, timeout, func(r Record) bool { return yield(r, nil) })
		if err == nil {
			return
		}
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = context.DeadlineExceeded // the database only reports that its query was cancelled
		}
		yield(Record{}, s.explain(err, "read its records"))
	}
}

// each passes the selected records to yield until it returns false. timeout runs while it waits for a row, and ends ctx.
func (s *Store) each(ctx context.Context, f Filter, timeout *time.Timer, yield func(Record) bool) error {
	where, args := f.where()
	rows, err := s.db.QueryContext(ctx, `SELECT id, point_id, schema, body FROM record`+where+` ORDER BY id`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	points := make(map[string]bool, len(f.PointIDs))
	for _, id := range f.PointIDs {
		points[id] = true
	}
	for {
		batch, err := nextBatch(rows, points, func() { timeout.Reset(2 * s.patience) })
		timeout.Stop()
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			return rows.Err()
		}
		records, err := s.decodeAll(batch)
		for _, r := range records {
			if !yield(r) {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// storedRecord is a row of the table record.
type storedRecord struct {
	id     int64
	schema int    // version of the JSON in body
	body   string // the record as JSON
}

// batchSize is how many records are decoded at a time, on all cores. A record is some ten kilobytes of JSON: decoding
// takes most of the time of a report over thousands of them.
const batchSize = 128

// nextBatch reads up to batchSize records of the given points, or of every point if there are none. It calls restart before it waits
// for a row. The batch is empty after the last row and after an error of rows.
func nextBatch(rows *sql.Rows, points map[string]bool, restart func()) ([]storedRecord, error) {
	var batch []storedRecord
	for len(batch) < batchSize {
		restart()
		if !rows.Next() {
			break
		}
		var r storedRecord
		var pointID string
		if err := rows.Scan(&r.id, &pointID, &r.schema, &r.body); err != nil {
			return nil, err
		}
		if len(points) == 0 || points[pointID] {
			batch = append(batch, r)
		}
	}
	return batch, nil
}

// decodeAll decodes records on all cores. If one can't be decoded, it returns those before it and the error.
func (s *Store) decodeAll(batch []storedRecord) ([]Record, error) {
	records, errs := make([]Record, len(batch)), make([]error, len(batch))
	var decoding errgroup.Group
	decoding.SetLimit(runtime.GOMAXPROCS(0))
	for i, stored := range batch {
		decoding.Go(func() error {
			records[i], errs[i] = s.decode(stored)
			return nil // so that the others are decoded as well
		})
	}
	_ = decoding.Wait()
	for i, err := range errs {
		if err != nil {
			return records[:i], err
		}
	}
	return records, nil
}

// decode reads a record. It refuses one of another schema.
func (s *Store) decode(stored storedRecord) (Record, error) {
	if stored.schema != Schema {
		return Record{}, s.problem(Version, "holds record %d of another version of brokermark (schema %d, this one reads %d): read it with that one",
			stored.id, stored.schema, Schema)
	}
	var r Record
	decoder := json.NewDecoder(strings.NewReader(stored.body))
	decoder.UseNumber() // a setting such as 9223372036854775807 has more digits than a float64
	if err := decoder.Decode(&r); err != nil {
		return Record{}, &Error{Problem: Corrupt, Store: s.name, Detail: fmt.Sprintf("is damaged: record %d can't be read", stored.id), Err: err}
	}
	r.ID = stored.id
	return r, nil
}

// Done returns the repetitions of points that need not run again, as statuses by point ID and number of the repetition: those that
// ended ok once, or were refused, with the latest such status. Failed and void repetitions may end better another time (the broker
// was down, the password wrong, the machine busy), and aborted ones never finished.
func (s *Store) Done(ctx context.Context, pointIDs []string) (map[string]map[int]Status, error) {
	done := map[string]map[int]Status{}
	for chunk := range slices.Chunk(pointIDs, maxPointsPerQuery) {
		repetitions, err := s.doneAmong(ctx, chunk)
		if err != nil {
			return nil, s.explain(err, "read its records")
		}
		for _, r := range repetitions {
			if done[r.PointID] == nil {
				done[r.PointID] = map[int]Status{}
			}
			done[r.PointID][r.Repetition] = r.Status
		}
	}
	return done, nil
}

// doneAmong reads point, repetition and status of the records that ended ok or were refused, oldest first.
func (s *Store) doneAmong(ctx context.Context, pointIDs []string) ([]Record, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	columns := func(r *Record) []any { return []any{&r.PointID, &r.Repetition, &r.Status} }
	var args arguments
	points := addAll(&args, pointIDs)
	return queryAll(ctx, s.db, columns, `SELECT point_id, repetition, status FROM record WHERE status IN ('ok', 'refused')
		AND point_id IN (`+points+`) ORDER BY id`, args...)
}
