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
	"sync"
	"sync/atomic"
	"time"
)

// Filter selects records that meet all of its conditions. The zero Filter selects every record.
type Filter struct {
	Study    string    // of this study; "": of any
	PointIDs []string  // of one of these points; none: of any
	Statuses []Status  // with one of these statuses; none: with any
	Since    time.Time // begun then or later; zero: at any time
}

// maxPointsPerQuery bounds the arguments of one SQL statement. Every database takes more than this.
const maxPointsPerQuery = 500

// where returns the filter as an SQL condition with its arguments, such as " WHERE study = $1 AND began >= $2". It leaves out the
// condition on points if there are too many for one statement: the caller has to check that one itself.
func (f Filter) where() (string, []any) {
	var terms []string
	var args []any
	if f.Study != "" {
		args = append(args, storable(f.Study))
		terms = append(terms, fmt.Sprintf("study = $%d", len(args)))
	}
	if len(f.Statuses) > 0 {
		terms = append(terms, "status IN ("+placeholders(len(args)+1, len(f.Statuses))+")")
		for _, status := range f.Statuses {
			args = append(args, string(status))
		}
	}
	if n := len(f.PointIDs); n > 0 && n <= maxPointsPerQuery {
		terms = append(terms, "point_id IN ("+placeholders(len(args)+1, n)+")")
		args = append(args, anySlice(f.PointIDs)...)
	}
	if !f.Since.IsZero() {
		args = append(args, f.Since.UnixNano())
		terms = append(terms, fmt.Sprintf("began >= $%d", len(args)))
	}
	if terms == nil {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

// placeholders returns n numbered arguments of SQL: "$3, $4" for first 3 and n 2.
func placeholders(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("$%d", first+i)
	}
	return strings.Join(list, ", ")
}

func anySlice(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
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
		ctx, timeout := newRowTimeout(ctx, 2*s.patience)
		defer timeout.end()
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

// each passes the selected records to yield until it returns false.
func (s *Store) each(ctx context.Context, f Filter, timeout *rowTimeout, yield func(Record) bool) error {
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
		batch, err := nextBatch(rows, points, timeout)
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

// nextBatch reads up to batchSize records of the given points, or of every point if there are none. The batch is empty after the
// last row and after an error of rows.
func nextBatch(rows *sql.Rows, points map[string]bool, timeout *rowTimeout) ([]storedRecord, error) {
	defer timeout.pause() // while the caller works on the batch
	var batch []storedRecord
	for len(batch) < batchSize {
		timeout.restart()
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

// rowTimeout cancels a query if no row comes for some time. A deadline for the whole query would also end a long one that makes
// progress.
type rowTimeout struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelCauseFunc
}

// newRowTimeout starts a timeout. The context ends with it, with the cause DeadlineExceeded.
func newRowTimeout(ctx context.Context, limit time.Duration) (context.Context, *rowTimeout) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	return ctx, &rowTimeout{timer: timer, limit: limit, cancel: cancel}
}

func (t *rowTimeout) restart() { t.timer.Reset(t.limit) }
func (t *rowTimeout) pause()   { t.timer.Stop() }
func (t *rowTimeout) end()     { t.timer.Stop(); t.cancel(nil) }

// decodeAll decodes records on all cores. If one can't be decoded, it returns those before it and the error.
func (s *Store) decodeAll(batch []storedRecord) ([]Record, error) {
	records, errs := make([]Record, len(batch)), make([]error, len(batch))
	var next atomic.Int64 // index of the next record that no goroutine has taken
	var workers sync.WaitGroup
	for range min(len(batch), runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(batch)); i = next.Add(1) - 1 {
				records[i], errs[i] = s.decode(batch[i])
			}
		})
	}
	workers.Wait()
	for i, err := range errs {
		if err != nil {
			return records[:i], err
		}
	}
	return records, nil
}

// decode reads a record of any schema that this version knows, and updates it to the current one.
func (s *Store) decode(stored storedRecord) (Record, error) {
	if stored.schema > s.forms.current {
		return Record{}, &Error{Problem: Newer, Store: s.name, Detail: fmt.Sprintf(
			"holds record %d of a newer brokermark (schema %d, this one knows %d): update brokermark", stored.id, stored.schema, s.forms.current)}
	}
	damaged := func(err error) error {
		return &Error{Problem: Corrupt, Store: s.name, Detail: fmt.Sprintf("is damaged: record %d can't be read", stored.id), Err: err}
	}
	body, err := s.forms.update(stored.schema, stored.body)
	if err != nil {
		return Record{}, damaged(err)
	}
	var r Record
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber() // a setting such as 9223372036854775807 has more digits than a float64
	if err := decoder.Decode(&r); err != nil {
		return Record{}, damaged(err)
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
			if done[r.pointID] == nil {
				done[r.pointID] = map[int]Status{}
			}
			done[r.pointID][r.number] = r.status
		}
	}
	return done, nil
}

type doneRepetition struct {
	pointID string
	number  int
	status  Status
}

// doneAmong lists the repetitions that ended ok or were refused, oldest record first.
func (s *Store) doneAmong(ctx context.Context, pointIDs []string) ([]doneRepetition, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	columns := func(r *doneRepetition) []any { return []any{&r.pointID, &r.number, &r.status} }
	return queryAll(ctx, s.db, columns, `SELECT point_id, repetition, status FROM record WHERE status IN ('ok', 'refused')
		AND point_id IN (`+placeholders(1, len(pointIDs))+`) ORDER BY id`, anySlice(pointIDs)...)
}
