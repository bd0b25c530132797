package store

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/brokermark/brokermark/internal/bounded"
)

// A file of records holds one JSON object per line; outboxes and exports write such files. A last line without a newline was cut
// off by a crash or a full disk and is ignored.

// maxRecord bounds a line, in bytes.
const maxRecord = 64 << 20

// ReadRecords reads a file of records one by one. A line that is no valid record (Check) yields an error and ends the loop.
func ReadRecords(path string) iter.Seq2[Checked, error] {
	return ReadRecordsFrom(path, func() (io.ReadCloser, error) { return bounded.Open(path) })
}

// ReadRecordsFrom is ReadRecords for a reader that open returns each time a loop begins. Errors call it name.
func ReadRecordsFrom(name string, open func() (io.ReadCloser, error)) iter.Seq2[Checked, error] {
	return func(yield func(Checked, error) bool) {
		f, err := open()
		if err != nil {
			yield(Checked{}, err)
			return
		}
		defer f.Close()
		for r, err := range eachLine(name, f) {
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// notARecord is the error of a single line; the lines after it can still be read.
type notARecord struct{ error }

func (e notARecord) Unwrap() error { return e.error }

// is reports whether err is, or wraps, an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// eachLine reads the records of a file. A line that is no record, or that Check refuses, yields an error of type notARecord. Any
// other error ends the loop.
func eachLine(path string, from io.Reader) iter.Seq2[Checked, error] {
	return func(yield func(Checked, error) bool) {
		l := lines{path: path, from: bufio.NewReaderSize(from, 64<<10)}
		for {
			batch, failed := l.next()
			all, _ := onAllCores(batch, func(one recordLine) (recordLine, error) {
				one.decode(path)
				return one, nil
			})
			for _, one := range all {
				if !yield(one.record, one.damage) {
					return
				}
			}
			switch {
			case failed != nil:
				yield(Checked{}, failed)
				return
			case len(batch) == 0:
				return
			}
		}
	}
}

// lines reads the lines of a file.
type lines struct {
	path string
	from *bufio.Reader
	n    int // lines read so far
}

// recordLine is a line of a file, and its record or the reason why it is none.
type recordLine struct {
	n      int // counts from 1
	text   []byte
	record Checked
	damage error
}

// next reads up to batchSize lines; none at the end. They may come with an error.
func (l *lines) next() (batch []recordLine, err error) {
	for size := 0; len(batch) < batchSize && size < maxBatchWeight; {
		text, err := l.read()
		if errors.Is(err, io.EOF) {
			break
		}
		l.n++
		if err != nil {
			return batch, fmt.Errorf("%s:%d: %w", l.path, l.n, err)
		}
		batch, size = append(batch, recordLine{n: l.n, text: text}), size+weight(text)
	}
	return batch, nil
}

// read reads a line with its end. The error is io.EOF if there is none.
func (l *lines) read() ([]byte, error) {
	var text []byte
	for {
		part, err := l.from.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxRecord:
			return nil, fmt.Errorf("not a record: a line of more than %d bytes", maxRecord)
		case !errors.Is(err, bufio.ErrBufferFull):
			return text, err
		}
	}
}

func (l *recordLine) decode(path string) {
	if l.n == 1 {
		l.text = bounded.Unmarked(l.text)
	}
	r, err := decodeLine(&Store{name: path}, l.n, l.text) // errors name the file as they would name a store
	if err == nil {
		if l.record, err = checked(r, string(l.text)); err != nil {
			err = fmt.Errorf("%s:%d: %w", path, l.n, err)
		}
	}
	if l.text = nil; err != nil {
		l.damage = notARecord{err}
	}
}

// decodeLine makes a record of line n of a file.
func decodeLine(file *Store, n int, text []byte) (Record, error) {
	r, err := file.decode(storedRecord{id: int64(n), schema: Schema, body: text})
	if err != nil || r.Schema != Schema {
		var head struct{ Schema int }
		if json.Unmarshal(text, &head) != nil || head.Schema < 1 {
			return Record{}, fmt.Errorf("%s:%d: not a record", file.name, n)
		}
		if head.Schema != Schema {
			return file.decode(storedRecord{id: int64(n), schema: head.Schema})
		}
	}
	r.ID = 0 // the store assigns one
	return r, err
}
