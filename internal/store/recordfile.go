package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/brokermark/brokermark/internal/bounded"
)

// A file of records holds one JSON object a line, as an outbox and an export write it. A last line without its end was cut
// off by a crash or a full disk, and doesn't count.

// maxRecordFile bounds a file of records, in bytes.
const maxRecordFile = 1 << 30

// ReadRecords reads a file of records. A line that is none, lacks what every record has, or holds a figure that nobody can
// have measured, is an error.
func ReadRecords(path string) ([]Record, error) {
	records, damaged, err := readLines(path)
	if err == nil && len(damaged) > 0 {
		err = damaged[0]
	}
	if err != nil {
		return nil, err
	}
	for i, r := range records { // each from a line: none is damaged
		if err := r.Check(); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return records, nil
}

// readLines reads a file of records, and lists what is wrong with the lines that are none.
func readLines(path string) (records []Record, damaged []error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular() || info.Size() > maxRecordFile:
		return nil, nil, fmt.Errorf("%s: not an ordinary file of at most %d bytes", path, maxRecordFile)
	}
	return decodeLines(path, f)
}

func decodeLines(path string, from io.Reader) (records []Record, damaged []error, err error) {
	file := &Store{name: path} // errors name the file as they would name a store
	lines := bufio.NewReader(io.LimitReader(from, maxRecordFile))
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return records, damaged, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if n == 1 {
			line = bounded.Unmarked(line)
		}
		r, err := decodeLine(file, n, line)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		records = append(records, r)
	}
}

// decodeLine makes a record of line n of a file.
func decodeLine(file *Store, n int, line []byte) (Record, error) {
	var head struct{ Schema int }
	if err := json.Unmarshal(line, &head); err != nil || head.Schema < 1 {
		return Record{}, fmt.Errorf("%s:%d: not a record", file.name, n)
	}
	r, err := file.decode(storedRecord{id: int64(n), schema: head.Schema, body: string(line)})
	r.ID = 0 // the store gives it one
	return r, err
}

// waitingFile is a file of records that wait for their store. It is locked while its run lives.
type waitingFile struct {
	*os.File
	records int
	size    int64 // bytes of whole lines
}

// errInUse says that the run of a file goes on.
var errInUse = errors.New("its run goes on")

func newWaitingFile(path string) (*waitingFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return &waitingFile{File: f}, nil
}

// adoptWaitingFile opens the file of an earlier run. It returns errInUse if that run goes on.
func adoptWaitingFile(path string) (*waitingFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, errInUse
	}
	text, err := bounded.File(path, maxRecordFile)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &waitingFile{File: f, records: bytes.Count(text, []byte("\n")), size: int64(bytes.LastIndexByte(text, '\n') + 1)}, nil
}

// add writes r behind the last whole line, to the disk. It removes a line that was cut off, which would make one with r.
func (w *waitingFile) add(r Record) error {
	r.ID, r.Schema = 0, Schema
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := w.Truncate(w.size); err != nil {
		return err
	}
	n, err := w.Write(append(line, '\n'))
	if err := errors.Join(err, w.Sync()); err != nil {
		return err
	}
	w.records++
	w.size += int64(n)
	return nil
}

// setAside gives the file a name by which no run adopts it, and ends its lock. It returns that name.
func (w *waitingFile) setAside() (string, error) {
	path := w.Name() + ".damaged"
	for n := 2; os.Link(w.Name(), path) != nil; n++ { // unlike a rename, a link replaces no file
		if n > maxSetAside {
			return "", fmt.Errorf("set %s aside: no name up to %s is free, or the folder allows none", w.Name(), path)
		}
		path = fmt.Sprintf("%s.damaged-%d", w.Name(), n)
	}
	return path, w.remove()
}

// maxSetAside bounds the damaged files that one name may leave.
const maxSetAside = 100

// remove deletes the file and ends its lock.
func (w *waitingFile) remove() error {
	if err := os.Remove(w.Name()); err != nil {
		return err
	}
	return w.Close()
}
