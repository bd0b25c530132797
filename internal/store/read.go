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

// Filter selects records; the zero Filter selects all of them.
type Filter struct {
	Study    string    // empty: of every study
	PointIDs []string  // none: of every point
	Statuses []Status  // none: of every status
	Since    time.Time // that began then or later; zero: at any time
}

// where writes the filter as SQL. If there are too many point IDs for one statement, it selects every point, and the
// reader of the rows has to leave out the others.
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
	if n := len(f.PointIDs); n > 0 && n <= pointsPerQuery {
		terms = append(terms, "point_id IN ("+placeholders(len(args)+1, n)+")")
		for _, id := range f.PointIDs {
			args = append(args, id)
		}
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

// Records reads the selected records in the order they were appended, all into memory.
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

// Each reads the selected records one by one, in the order they were appended. It sees the store as it was when the
// loop began. After an error it ends.
func (s *Store) Each(ctx context.Context, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		ctx, timeout := s.withReadTimeout(ctx)
		defer timeout.end()
		err := s.each(ctx, f, timeout, func(r Record) bool { return yield(r, nil) })
		if err == nil {
			return
		}
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = context.DeadlineExceeded
		}
		yield(Record{}, s.explain(err, "read its records"))
	}
}

// each passes every record to yield until that returns false.
func (s *Store) each(ctx context.Context, f Filter, timeout *readTimeout, yield func(Record) bool) error {
	where, args := f.where()
	rows, err := s.db.QueryContext(ctx, `SELECT id, point_id, schema, body FROM record`+where+` ORDER BY id`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	wanted := set(f.PointIDs)
	for {
		batch, err := nextBatch(rows, wanted, timeout)
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

// stored is a record as the database holds it.
type stored struct {
	id     int64
	schema int
	body   string
}

// batchSize is how many records are decoded at a time, on all cores. A record is some ten kilobytes of JSON: decoding
// takes most of the time of a report over thousands of them.
const batchSize = 128

// nextBatch reads up to batchSize records of the wanted points, or of every point if wanted is empty. It returns none after the
// last row, and after rows has met an error.
func nextBatch(rows *sql.Rows, wanted map[string]bool, timeout *readTimeout) ([]stored, error) {
	defer timeout.pause() // the caller may take as long as it likes
	var batch []stored
	for len(batch) < batchSize {
		timeout.restart()
		if !rows.Next() {
			break
		}
		var r stored
		var pointID string
		if err := rows.Scan(&r.id, &pointID, &r.schema, &r.body); err != nil {
			return nil, err
		}
		if len(wanted) == 0 || wanted[pointID] {
			batch = append(batch, r)
		}
	}
	return batch, nil
}

// readTimeout cancels a reading if the database returns no row for a while. A deadline for the whole reading would
// also end a long one that makes progress.
type readTimeout struct {
	timer  *time.Timer
	limit  time.Duration
	cancel context.CancelFunc
}

func (s *Store) withReadTimeout(ctx context.Context) (context.Context, *readTimeout) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &readTimeout{limit: 2 * s.patience, cancel: func() { cancel(nil) }}
	t.timer = time.AfterFunc(t.limit, func() { cancel(context.DeadlineExceeded) })
	return ctx, t
}

func (t *readTimeout) restart() { t.timer.Reset(t.limit) }
func (t *readTimeout) pause()   { t.timer.Stop() }
func (t *readTimeout) end()     { t.timer.Stop(); t.cancel() }

// decodeAll decodes records on all cores. If one can't be read, it returns those before it, and the error.
func (s *Store) decodeAll(list []stored) ([]Record, error) {
	records, failures := make([]Record, len(list)), make([]error, len(list))
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		working.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
				records[i], failures[i] = s.decode(list[i].id, list[i].schema, list[i].body)
			}
		})
	}
	working.Wait()
	for i, err := range failures {
		if err != nil {
			return records[:i], err
		}
	}
	return records, nil
}

// decode reads a record of any schema that this version knows.
func (s *Store) decode(id int64, schema int, body string) (Record, error) {
	if schema > s.forms.current {
		return Record{}, &Error{Problem: Newer, Store: s.name, Detail: fmt.Sprintf(
			"holds record %d of a newer brokermark (schema %d, this one knows %d): update brokermark", id, schema, s.forms.current)}
	}
	damaged := func(err error) error {
		return &Error{Problem: Corrupt, Store: s.name, Detail: fmt.Sprintf("is damaged: record %d can't be read", id), Err: err}
	}
	body, err := s.forms.update(schema, body)
	if err != nil {
		return Record{}, damaged(err)
	}
	var r Record
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber() // a setting such as 9223372036854775807 must not turn into a float
	if err := decoder.Decode(&r); err != nil {
		return Record{}, damaged(err)
	}
	r.ID = id
	return r, nil
}

// pointsPerQuery is less than the number of arguments that any database takes in one statement.
const pointsPerQuery = 500

// Done returns the repetitions of points that need not run again, by point ID and number: those that ended ok once, or were
// refused, with the latest such status. Failed and void ones may end better another time (the broker was down, the
// password wrong, the machine busy), and aborted ones never finished.
func (s *Store) Done(ctx context.Context, pointIDs []string) (map[string]map[int]Status, error) {
	done := map[string]map[int]Status{}
	for chunk := range slices.Chunk(pointIDs, pointsPerQuery) {
		if err := s.doneAmong(ctx, chunk, done); err != nil {
			return nil, s.explain(err, "read its records")
		}
	}
	return done, nil
}

func (s *Store) doneAmong(ctx context.Context, pointIDs []string, done map[string]map[int]Status) error {
	args := make([]any, len(pointIDs))
	for i, id := range pointIDs {
		args[i] = id
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, `SELECT point_id, repetition, status FROM record WHERE status IN ('ok', 'refused')
		AND point_id IN (`+placeholders(1, len(args))+`) ORDER BY id`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var pointID string
		var repetition int
		var status Status
		if err := rows.Scan(&pointID, &repetition, &status); err != nil {
			return err
		}
		if done[pointID] == nil {
			done[pointID] = map[int]Status{}
		}
		done[pointID][repetition] = status
	}
	return rows.Err()
}

// placeholders writes $from, $from+1, … for n arguments.
func placeholders(from, n int) string {
	marks := make([]string, n)
	for i := range marks {
		marks[i] = fmt.Sprintf("$%d", from+i)
	}
	return strings.Join(marks, ", ")
}

func set(names []string) map[string]bool {
	members := make(map[string]bool, len(names))
	for _, name := range names {
		members[name] = true
	}
	return members
}
