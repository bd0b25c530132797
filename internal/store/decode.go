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
	body   []byte // the record as JSON
}

// batchSize is the number of records decoded at a time, on all cores. A record is about ten kilobytes of JSON: a report over
// thousands of records spends most of its time decoding them.
const batchSize = 128

// What JSON may take in memory while it is decoded, by weight: a record, and a batch before its last record.
const (
	maxRecordWeight = 192 << 20
	maxBatchWeight  = 32 << 20
)

// weight is the most memory, in bytes, that the JSON of a record takes while it is decoded: with its text the objects, of which each of two
// bytes may take a quarter of a kilobyte, and the elements of lists and mappings. The rates of a curve take more: see curveOf.
func weight(body []byte) int {
	return 3*len(body) + 256*bytes.Count(body, []byte("{")) + 64*(bytes.Count(body, []byte("["))+bytes.Count(body, []byte(",")))
}

// nextBatch reads up to batchSize records, and few where they are large, of the given points, or of every point if there are none. It calls
// restart before it waits for a row, and sum with the bytes of each one. The batch is empty after the last row and after an error of rows.
func nextBatch(rows *sql.Rows, points map[string]bool, restart func(), sum func(bytes int) error) ([]storedRecord, error) {
	var batch []storedRecord
	for size := 0; len(batch) < batchSize && size < maxBatchWeight; {
		restart()
		if !rows.Next() {
			break
		}
		var r storedRecord
		var pointID string
		if err := rows.Scan(&r.id, &pointID, &r.schema, &r.body); err != nil {
			return nil, err
		}
		if err := sum(1 + len(pointID) + len(r.body)); err != nil {
			return nil, err
		}
		if len(points) == 0 || points[pointID] {
			batch, size = append(batch, r), size+weight(r.body)
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

// asRecord is how the JSON of a record is read: by the package that Go 1.27 calls encoding/json/v2, in a third of the time of its elder.
var asRecord = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true), jsonv2.WithUnmarshalers(jsonv2.JoinUnmarshalers(
	jsonv2.UnmarshalFromFunc(exact), jsonv2.UnmarshalFromFunc(curveOf))))

// exact decodes a number in a setting without losing digits: 9223372036854775807 doesn't fit into a float64.
func exact(from *jsontext.Decoder, setting *any) error {
	if from.PeekKind() != jsontext.KindNumber {
		return errors.ErrUnsupported // decode it the usual way
	}
	number, err := from.ReadValue()
	*setting = json.Number(number)
	return err
}

const (
	mostRates = 10_000 // that the curve of a spec may have
	leastRate = 256    // bytes of JSON: less than the counts, latencies and costs of any rate, also of one that failed
)

// curveOf reads the rates of a curve, and no more than there may be. Each takes a kilobyte once it is decoded, and ten in a report, so it
// must not be of two bytes.
func curveOf(from *jsontext.Decoder, curve *[]CurvePoint) error {
	if from.PeekKind() != jsontext.KindBeginArray {
		return errors.ErrUnsupported // as everything else is read
	}
	_, err := from.ReadToken()
	for *curve = nil; err == nil && from.PeekKind() != jsontext.KindEndArray; {
		if len(*curve) == mostRates {
			return fmt.Errorf("its curve has more than %d rates", mostRates)
		}
		var one CurvePoint
		began := from.InputOffset()
		err = jsonv2.UnmarshalDecode(from, &one)
		if n := from.InputOffset() - began; err == nil && n < leastRate {
			return fmt.Errorf("rate %d of its curve has %d bytes; each has its figures, and %d bytes at least", len(*curve)+1, n, leastRate)
		}
		*curve = append(*curve, one)
	}
	if err == nil {
		_, err = from.ReadToken()
	}
	return err
}

// Fits refuses the JSON of a record that would need far more memory than any measured record.
func Fits(body []byte) error {
	switch n := weight(body); {
	case len(body) > maxRecord:
		return fmt.Errorf("it has %d bytes; allowed: up to %d", len(body), maxRecord)
	case n > maxRecordWeight:
		return fmt.Errorf("its objects and values take up to %d MB of memory; allowed: up to %d", n>>20, maxRecordWeight>>20)
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
	err := Fits(stored.body)
	if err == nil {
		err = jsonv2.Unmarshal(stored.body, &r, asRecord)
	}
	if err != nil {
		return Record{}, &Error{Problem: Corrupt, Store: s.name, Detail: fmt.Sprintf("is damaged: record %d can't be read", stored.id), Err: err}
	}
	r.ID = stored.id
	return r, nil
}
