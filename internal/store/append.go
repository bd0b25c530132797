package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/brokermark/brokermark/internal/doubt"
)

// row is a record as the columns of its table, without its ID.
type row struct {
	key
	study  string
	broker string // "": see brokerOf
	body   string // JSON
}

// key tells records apart: one repetition of a point does not begin twice in a nanosecond.
type key struct {
	pointID    string
	repetition int
	status     Status
	began      int64 // nanoseconds since 1970
}

func rowOf(r Record) (row, error) {
	body, err := encode(r)
	return rowWith(r, string(body)), err
}

func rowWith(r Record, body string) row {
	return row{key{r.PointID, r.Repetition, r.Status, r.Began.UnixNano()}, storable(r.Study), storable(brokerOf(r)), body}
}

// brokerOf returns the broker of a record for the column that filters select by. It returns "" if an axis of the study is called
// broker and has another value: a filter on broker then has to match either, which SQL can't.
func brokerOf(r Record) string {
	if axis, ok := r.Axes["broker"]; ok && axis != r.Spec.Broker {
		return ""
	}
	return r.Spec.Broker
}

// Checked is a record that Check has accepted.
type Checked struct {
	Record
	row row
}

// checked runs Check on a record that was decoded from text. The text is stored as it is unless a database would refuse it:
// encoding the record again would take as long as storing it.
func checked(r Record, text string) (c Checked, err error) {
	if err := r.Check(); err != nil {
		return Checked{}, err
	}
	if utf8.ValidString(text) {
		return Checked{r, rowWith(r, strings.TrimSpace(text))}, nil
	}
	c.Record = r
	c.row, err = rowOf(r)
	return c, err
}

// storable returns s without what PostgreSQL refuses in a text column: zero bytes and invalid UTF-8 become U+FFFD.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// Append adds r in one durable transaction and returns the ID it was given; r.ID and r.Schema are ignored. Once it
// returns nil, the record survives a crash of the machine. If ctx ends earlier, the record is not stored: a caller that must not
// lose a finished record passes a context that no interrupt cancels.
func (s *Store) Append(ctx context.Context, r Record) (id int64, err error) {
	one, err := rowOf(r)
	if err != nil {
		return 0, err
	}
	err = s.append(ctx, action(r), func(ctx context.Context, tx *sql.Tx) error {
		ids, err := insert(ctx, tx, []row{one})
		id = slices.Max(append(ids, 0))
		return err
	})
	if err != nil { // the transaction was not committed
		return 0, err
	}
	return id, nil
}

// AppendOnce appends r unless the store already holds it; existed reports whether it did. A caller can therefore repeat an append
// whose answer was lost.
func (s *Store) AppendOnce(ctx context.Context, r Record) (existed bool, err error) {
	one, err := rowOf(r)
	if err != nil {
		return false, err
	}
	stored, err := s.appendNew(ctx, action(r), []row{one})
	return err == nil && stored == 0, err
}

func action(r Record) string {
	return fmt.Sprintf("append repetition %d of point %s", r.Repetition, r.PointID)
}

// Import appends the records that the store does not hold yet. It returns how many it added and how many the store already held.
// Each transaction takes many records, and at most two transactions' records are in memory at a time. An error from records ends
// the import; the records before it are then stored.
func (s *Store) Import(ctx context.Context, records iter.Seq2[Checked, error]) (stored, there int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches, written := make(chan []row), make(chan struct{})
	go func() { // writes one batch while the next one is decoded
		defer close(written)
		for batch := range batches {
			n, err := s.appendNew(ctx, fmt.Sprintf("append %d records", len(batch)), batch)
			if err != nil {
				cancel(err)
				return
			}
			stored, there = stored+n, there+len(batch)-n
		}
	}()
	err = eachBatch(ctx, records, func(batch []row) {
		select {
		case batches <- batch:
		case <-ctx.Done():
		}
	})
	close(batches)
	<-written
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return stored, there, err
}

// Limits of a batch of rows: their number, and the bytes of JSON of a batch of several rows.
const (
	maxBatchRows  = 4096
	maxBatchBytes = 8 << 20
)

// eachBatch collects records into batches and calls pass for each one until ctx ends. It returns the error of a record or of pass.
func eachBatch(ctx context.Context, records iter.Seq2[Checked, error], pass func([]row)) (failed error) {
	var rows []row
	var size int
	for r, err := range records {
		if failed = err; failed != nil || ctx.Err() != nil {
			break
		}
		if len(rows) >= maxBatchRows || len(rows) > 0 && size+len(r.row.body) > maxBatchBytes {
			pass(rows)
			rows, size = nil, 0
		}
		rows, size = append(rows, r.row), size+len(r.row.body)
	}
	if len(rows) > 0 {
		pass(rows)
	}
	return failed
}

// append runs change in a transaction that appends records.
func (s *Store) append(ctx context.Context, action string, change func(ctx context.Context, tx *sql.Tx) error) error {
	if s.access == reading {
		return &Error{Problem: Other, Store: s.name, Detail: "was opened for reading only: could not " + action}
	}
	if err := s.inPlace(action); err != nil {
		return err
	}
	err := s.transact(ctx, action, func(ctx context.Context, tx *sql.Tx) error {
		if err := execAll(ctx, tx, s.backend.insert); err != nil {
			return err
		}
		return change(ctx, tx)
	})
	return cmp.Or(err, s.inPlace(action))
}

// inPlace returns an error if the path of a SQLite store is no longer that of the file which is open: what is written there, no other program
// will find.
func (s *Store) inPlace(action string) error {
	if s.file == nil {
		return nil
	}
	if now, err := os.Stat(s.backend.file); err == nil && os.SameFile(s.file, now) {
		return nil
	}
	return &Error{Problem: Other, Store: s.name, Detail: "was removed or replaced while it was in use: could not " + action}
}

// rowsPerStatement bounds the arguments of one statement: SQLite compares each of them with all the others.
const rowsPerStatement = 16

// appendNew inserts the rows that the store does not hold, in one transaction, and returns how many it inserted.
func (s *Store) appendNew(ctx context.Context, action string, rows []row) (stored int, err error) {
	err = s.append(ctx, action, func(ctx context.Context, tx *sql.Tx) error {
		known, q := map[key]bool{}, prepared{tx, map[string]*sql.Stmt{}}
		for chunk := range slices.Chunk(rows, rowsPerStatement) {
			held, err := heldOf(ctx, q, chunk)
			if err != nil {
				return err
			}
			for _, i := range held {
				known[chunk[i].key] = true
			}
			chunk = slices.DeleteFunc(slices.Clone(chunk), func(r row) bool {
				old := known[r.key]
				known[r.key] = true
				return old
			})
			if _, err := insert(ctx, q, chunk); err != nil {
				return err
			}
			stored += len(chunk)
		}
		return nil
	})
	if err != nil { // the transaction was not committed
		return 0, err
	}
	return stored, nil
}

// prepared prepares each query once per transaction: SQLite takes longer to parse an INSERT of many rows than to execute it.
type prepared struct {
	tx         *sql.Tx
	statements map[string]*sql.Stmt // by query
}

func (p prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement := p.statements[query]
	if statement == nil {
		var err error
		if statement, err = p.tx.PrepareContext(ctx, query); err != nil { // the end of the transaction closes it
			return nil, err
		}
		p.statements[query] = statement
	}
	return statement.QueryContext(ctx, args...)
}

// heldOf returns the indices of the rows that the store already holds.
func heldOf(ctx context.Context, q querier, rows []row) ([]int, error) {
	var args arguments
	var values []string
	for i, r := range rows {
		values = append(values, fmt.Sprintf("(%d, CAST(%s AS TEXT), CAST(%s AS BIGINT), CAST(%s AS TEXT), CAST(%s AS BIGINT))",
			i, args.add(r.pointID), args.add(r.repetition), args.add(string(r.status)), args.add(r.began)))
	}
	return queryAll(ctx, q, func(i *int) []any { return []any{i} }, `SELECT column1 FROM (VALUES `+strings.Join(values, ", ")+`) AS sought
		WHERE EXISTS (SELECT 1 FROM record WHERE point_id = column2 AND repetition = column3 AND status = column4 AND began = column5)`, args...)
}

// insert inserts rows and returns their IDs.
func insert(ctx context.Context, q querier, rows []row) ([]int64, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	var args arguments
	var values []string
	for _, r := range rows {
		var places []string
		for _, v := range []any{r.pointID, r.study, r.broker, r.repetition, string(r.status), r.began, Schema, r.body} {
			places = append(places, args.add(v))
		}
		values = append(values, "("+strings.Join(places, ", ")+")")
	}
	ids, err := queryAll(ctx, q, func(id *int64) []any { return []any{id} }, `INSERT INTO record (point_id, study, broker, repetition, status, began, schema, body)
		VALUES `+strings.Join(values, ", ")+` RETURNING id`, args...)
	if err == nil && len(ids) != len(rows) { // a trigger may leave some out
		err = fmt.Errorf("the database took %d of %d records", len(ids), len(rows))
	}
	return ids, err
}

// encode makes the JSON of a record for the store and for files. Numbers that aren't finite become null, because JSON has none,
// and a doubt names them.
func encode(r Record) ([]byte, error) {
	r.ID, r.Schema = 0, Schema
	body, err := json.Marshal(r)
	if unwritable := (*json.UnsupportedValueError)(nil); errors.As(err, &unwritable) {
		var names []string
		if _, err = withNulls(r, &names); err == nil {
			r.Doubts = append(r.Doubts, DoubtOf(doubt.NoFigure, "no finite figure was found for "+strings.Join(names, ", ")))
			body, err = withNulls(r, &names)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("record of %s, repetition %d, can't be written as JSON: %w", r.PointID, r.Repetition, err)
	}
	return body, nil
}

// withNulls makes the JSON of a record as encoding/json does, with null in place of each number that isn't finite. It appends the names of
// these numbers: "result.curve[0].publish_rate (NaN)".
func withNulls(r Record, names *[]string) ([]byte, error) {
	number := func(to *jsontext.Encoder, f float64) error {
		if !math.IsNaN(f) && !math.IsInf(f, 0) {
			return errors.ErrUnsupported // write it the usual way
		}
		err := to.WriteToken(jsontext.Null)
		var name strings.Builder
		for part := range to.StackPointer().Tokens() {
			if _, notIndex := strconv.Atoi(part); notIndex != nil {
				name.WriteString("." + part)
			} else {
				name.WriteString("[" + part + "]")
			}
		}
		*names = append(*names, fmt.Sprintf("%s (%v)", strings.TrimPrefix(name.String(), "."), f))
		return err
	}
	return jsonv2.Marshal(r, jsonv1.DefaultOptionsV1(), jsonv2.WithMarshalers(jsonv2.MarshalToFunc(number)))
}
