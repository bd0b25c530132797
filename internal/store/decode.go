package store

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// storedRecord is a row of the table record.
type storedRecord struct {
	id     int64
	schema int    // version of the JSON in body
	body   string // the record as JSON
}

// batchSize is the number of records decoded at a time, on all cores. A record is about ten kilobytes of JSON: a report over
// thousands of records spends most of its time decoding them.
const batchSize = 128

// nextBatch reads up to batchSize records, fewer if they are large, of the given points, or of every point if points is empty. It
// calls restart before it waits for a row. The batch is empty after the last row and after an error of rows.
func nextBatch(rows *sql.Rows, points map[string]bool, restart func()) ([]storedRecord, error) {
	var batch []storedRecord
	for size := 0; len(batch) < batchSize && size < maxBatchBytes; {
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
			batch, size = append(batch, r), size+len(r.body)
		}
	}
	return batch, nil
}

// onAllCores calls one for each element, on all cores, and returns the results in order. If a call fails, it returns the results
// before that element, and the error.
func onAllCores[From, To any](from []From, one func(From) (To, error)) ([]To, error) {
	made, errs := make([]To, len(from)), make([]error, len(from))
	var making sync.WaitGroup
	var taken atomic.Int64
	for range min(len(from), runtime.GOMAXPROCS(0)) {
		making.Go(func() {
			for i := taken.Add(1) - 1; i < int64(len(from)); i = taken.Add(1) - 1 {
				made[i], errs[i] = one(from[i])
			}
		})
	}
	making.Wait()
	for i, err := range errs {
		if err != nil {
			return made[:i], err
		}
	}
	return made, nil
}

// asRecord are the options that decode a record with encoding/json/v2, which takes a third of the time of encoding/json.
var asRecord = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(exact)))

// exact decodes a number in a setting without losing digits: 9223372036854775807 doesn't fit into a float64.
func exact(from *jsontext.Decoder, setting *any) error {
	if from.PeekKind() != jsontext.KindNumber {
		return errors.ErrUnsupported // decode it the usual way
	}
	number, err := from.ReadValue()
	*setting = json.Number(number)
	return err
}

// maxObjects bounds the JSON objects of a record: three bytes of JSON may become a kilobyte of memory.
const maxObjects = 250_000

// Fits refuses the JSON of a record that would need far more memory than any measured record.
func Fits(body []byte) error {
	switch n := bytes.Count(body, []byte("{")); {
	case len(body) > maxRecord:
		return fmt.Errorf("it has %d bytes; allowed: up to %d", len(body), maxRecord)
	case n > maxObjects:
		return fmt.Errorf("it has %d objects; allowed: up to %d", n, maxObjects)
	}
	return nil
}

// decode reads a record. It refuses one of another schema.
func (s *Store) decode(stored storedRecord) (Record, error) {
	if stored.schema != Schema {
		return Record{}, s.problem(Version, "holds record %d of another version of brokermark (schema %d, this one reads %d): read it with that one",
			stored.id, stored.schema, Schema)
	}
	var r Record
	body := []byte(stored.body)
	err := Fits(body)
	if err == nil {
		err = jsonv2.Unmarshal(body, &r, asRecord)
	}
	if err != nil {
		return Record{}, &Error{Problem: Corrupt, Store: s.name, Detail: fmt.Sprintf("is damaged: record %d can't be read", stored.id), Err: err}
	}
	r.ID = stored.id
	return r, nil
}
