package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Filter selects records that meet all of its conditions. The zero Filter selects every record.
type Filter struct {
	Study       string    // of this study; "": of any
	Broker      string    // of this broker, or of one that goes by two names; "": of any
	PointIDs    []string  // of one of these points; empty: any
	PointPrefix string    // of a point whose ID begins with it
	Repetition  int       // 0: any
	Statuses    []Status  // with one of these statuses; empty: any
	From        time.Time // began at this time or later, between 1678 and 2262; the zero time: any
	Before      time.Time // began earlier; the zero time: any
}

// maxPointsPerQuery bounds the arguments of one SQL statement. Every database takes more than this.
const maxPointsPerQuery = 500

// where returns the filter as an SQL condition with its arguments, such as " WHERE id IN (SELECT id FROM record WHERE study =
// $1)". If there are too many points for one statement, it leaves them out and the caller has to check them. The subquery finds
// the IDs by the indexes alone, so that the database neither scans nor sorts the long records.
func (f Filter) where() (string, arguments) {
	var terms []string
	var args arguments
	if f.Study != "" {
		terms = append(terms, "study = "+args.add(storable(f.Study)))
	}
	if f.Broker != "" {
		terms = append(terms, "broker IN ("+args.add(storable(f.Broker))+", '')")
	}
	if len(f.Statuses) > 0 {
		terms = append(terms, "status IN ("+addAll(&args, f.Statuses)+")")
	}
	if f.Repetition != 0 {
		terms = append(terms, "repetition = "+args.add(f.Repetition))
	}
	if !f.From.IsZero() {
		terms = append(terms, "began >= "+args.add(f.From.UnixNano()))
	}
	if !f.Before.IsZero() {
		terms = append(terms, "began < "+args.add(f.Before.UnixNano()))
	}
	if f.PointPrefix != "" {
		prefix := storable(f.PointPrefix)
		length := args.add(utf8.RuneCountInString(prefix))
		terms = append(terms, "substr(point_id, 1, CAST("+length+" AS INTEGER)) = "+args.add(prefix))
	}
	if n := len(f.PointIDs); n > 0 && n <= maxPointsPerQuery {
		terms = append(terms, "point_id IN ("+addAll(&args, f.PointIDs)+")")
	}
	if terms == nil {
		return "", nil
	}
	return " WHERE id IN (SELECT id FROM record WHERE " + strings.Join(terms, " AND ") + ")", args
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
		list = append(list, a.add(storable(string(v))))
	}
	return strings.Join(list, ", ")
}

// Records reads the selected records into memory, in the order in which they were appended.
func (s *Store) Records(ctx context.Context, f Filter) ([]Record, error) {
	return Collect(s.Each(ctx, f))
}

// Values lists the values that the records have in a column of Filter, or nothing if the records themselves have to be read for it.
func (s *Store) Values(ctx context.Context, name string) ([]string, error) {
	if !slices.Contains([]string{"study", "broker", "status"}, name) {
		return nil, nil
	}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	list, err := column[string](ctx, s.db, `SELECT DISTINCT `+name+` FROM record`)
	if err != nil || name == "broker" && slices.Contains(list, "") {
		return nil, s.explain(err, "read its records")
	}
	return list, nil
}

// Collect gathers records up to the first error.
func Collect[T any](records iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for r, err := range records {
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// Each reads the selected records one by one, in the order in which they were appended. It sees the store as it was when the
// loop began. An error ends the loop.
func (s *Store) Each(ctx context.Context, f Filter) iter.Seq2[Record, error] {
	return eachBy(ctx, s, f, s.decode)
}

// EachChecked reads all records, as Each does, of a store that may belong to another user. A record that Check refuses yields an
// error that is no *Error.
func (s *Store) EachChecked(ctx context.Context) iter.Seq2[Checked, error] {
	return eachBy(ctx, s, Filter{}, func(stored storedRecord) (c Checked, err error) {
		r, err := s.decode(stored)
		if err == nil {
			if c, err = checked(r, string(stored.body)); err != nil {
				err = notARecord{fmt.Errorf("%s: record %d: %w", s.name, r.ID, err)}
			}
		}
		return c, err
	})
}

// eachBy is Each for rows of which decode makes a T.
func eachBy[T any](ctx context.Context, s *Store, f Filter, decode func(storedRecord) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		// A deadline for the whole query would also end a long one that makes progress, so it has one for each row.
		timeout := time.AfterFunc(2*s.patience, func() { cancel(context.DeadlineExceeded) })
		defer timeout.Stop()
		err := each(ctx, s, f, timeout, decode, func(r T) bool { return yield(r, nil) })
		if err == nil {
			return
		}
		var none T
		if is[notARecord](err) {
			yield(none, err)
			return
		}
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = context.DeadlineExceeded // the database only reports that its query was cancelled
		}
		yield(none, s.explain(err, "read its records"))
	}
}

// each decodes the selected rows and yields them until yield returns false. timeout runs while it waits for a row, and ends ctx.
func each[T any](ctx context.Context, s *Store, f Filter, timeout *time.Timer, decode func(storedRecord) (T, error), yield func(T) bool) error {
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
	content := extent{store: s}
	for {
		batch, err := nextBatch(rows, points, func() { timeout.Reset(2 * s.patience) }, content.add)
		timeout.Stop()
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			return rows.Err()
		}
		records, err := onAllCores(batch, decode)
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

// Done returns the repetitions of points that need not run again, as statuses by point ID and repetition: those that ended ok
// once, or were refused, with the latest such status. Failed and void repetitions may succeed another time (the broker was down,
// the password wrong, the machine busy), and aborted ones never finished.
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
