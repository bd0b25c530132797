package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/brokermark/brokermark/internal/bounded"
)

const (
	// afterInterrupt is how long a finished record may still take to reach the store after the first Ctrl-C.
	afterInterrupt = 3 * time.Second
	// whileAway bounds an attempt at a store that didn't take the record before: a run must not wait for it again and
	// again.
	whileAway = 2 * time.Second
)

// Outbox appends records to a store, and keeps those that the store doesn't take now in a file until it does: a store
// that is away for minutes costs a run of hours nothing. Not safe for use by several goroutines.
type Outbox struct {
	store   *Store
	folders []string // for the file, in the order in which they are tried
	say     func(format string, args ...any)
	file    *os.File // nil while nothing waits
	waiting int
}

// Outbox makes one. The file is made in the first of folders that takes it. What an earlier run with the same store left
// there is delivered with the first record.
func (s *Store) Outbox(say func(format string, args ...any), folders ...string) *Outbox {
	o := &Outbox{store: s, folders: folders, say: say}
	o.adopt()
	return o
}

// pattern is that of the files' names: a store's are told from those of others.
func (o *Outbox) pattern(last string) string {
	sum := sha256.Sum256([]byte(o.store.name))
	return "brokermark-unstored-" + hex.EncodeToString(sum[:4]) + "-" + last + ".jsonl"
}

// adopt takes over the file of a run that has ended with records in it.
func (o *Outbox) adopt() {
	for _, dir := range o.folders {
		left, _ := filepath.Glob(filepath.Join(dir, o.pattern("*")))
		for _, path := range left {
			f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0)
			if err != nil {
				continue
			}
			if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil { // its run goes on
				f.Close()
				continue
			}
			text, err := bounded.File(path, maxFile)
			if err != nil {
				f.Close()
				continue
			}
			o.file, o.waiting = f, bytes.Count(text, []byte("\n"))
			return
		}
	}
}

// Append returns when r is safe, in the store or in the file; an error means that neither took it. ctx is obeyed: once
// it has ended the store has a few seconds.
func (o *Outbox) Append(ctx context.Context, r Record) error {
	bound := 2 * o.store.patience
	if o.waiting > 0 {
		bound = min(bound, whileAway)
	}
	ctx, cancel := insistent(ctx, bound, min(bound, afterInterrupt))
	defer cancel()
	err := o.deliver(ctx)
	if err == nil {
		if _, err = o.store.AppendOnce(ctx, r); err == nil {
			return nil
		}
	}
	var unwritable *json.UnsupportedValueError
	if errors.As(err, &unwritable) {
		return err
	}
	if spilled := o.spill(r); spilled != nil {
		return errors.Join(err, spilled)
	}
	if o.waiting == 1 {
		o.say("%v; records wait in %s until the store takes them", err, o.file.Name())
	}
	return nil
}

// insistent is a context that outlives parent by grace, and ends after bound in any case.
func insistent(parent context.Context, bound, grace time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), bound)
	stop := context.AfterFunc(parent, func() {
		select {
		case <-ctx.Done():
		case <-time.After(grace):
			cancel()
		}
	})
	return ctx, func() { stop(); cancel() }
}

// spill writes r to the end of the file, to the disk.
func (o *Outbox) spill(r Record) error {
	r.ID, r.Schema = 0, Schema
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := o.begin(); err != nil {
		return err
	}
	_, err = o.file.Write(append(line, '\n'))
	if err := errors.Join(err, o.file.Sync()); err != nil {
		return fmt.Errorf("keep the record in %s: %w", o.file.Name(), err)
	}
	o.waiting++
	return nil
}

func (o *Outbox) begin() error {
	if o.file != nil {
		return nil
	}
	var errs []error
	for _, dir := range o.folders {
		f, err := os.OpenFile(filepath.Join(dir, o.pattern(fmt.Sprint(os.Getpid()))), os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
		if err == nil {
			o.file = f
			return syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		errs = append(errs, err)
	}
	return fmt.Errorf("keep the record in a file: %w", errors.Join(errs...))
}

// deliver brings what waits into the store, in its order, and removes the file.
func (o *Outbox) deliver(ctx context.Context) error {
	if o.file == nil {
		return nil
	}
	records, err := ReadRecords(o.file.Name())
	if err != nil {
		return err
	}
	for _, r := range records {
		if _, err := o.store.AppendOnce(ctx, r); err != nil {
			return err
		}
	}
	if err := os.Remove(o.file.Name()); err != nil {
		return err
	}
	o.file.Close()
	o.say("the store has taken the %d records that waited", len(records))
	o.file, o.waiting = nil, 0
	return nil
}

// Close tries once more to deliver what waits, and says where it is otherwise. The store stays open.
func (o *Outbox) Close(ctx context.Context) error {
	ctx, cancel := insistent(ctx, o.store.patience, min(o.store.patience, afterInterrupt))
	defer cancel()
	err := o.deliver(ctx)
	if err == nil {
		return nil
	}
	defer o.file.Close()
	return &Unstored{Path: o.file.Name(), Records: o.waiting, Store: o.store.name, Err: err}
}

// Unstored says where records are that the store didn't take.
type Unstored struct {
	Path    string
	Records int
	Store   string
	Err     error
}

func (e *Unstored) Error() string {
	return fmt.Sprintf("%v; %d records wait in %s", e.Err, e.Records, e.Path)
}

func (e *Unstored) Unwrap() error { return e.Err }

// maxFile bounds a file of records.
const maxFile = 1 << 30

// ReadRecords reads a file of records, one JSON object a line, as an outbox and an export write them. A last line without
// its end was cut off by a crash, and is left out.
func ReadRecords(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxFile:
		return nil, fmt.Errorf("%s: not an ordinary file of at most %d bytes", path, maxFile)
	}
	return decodeLines(path, f)
}

func decodeLines(path string, from io.Reader) ([]Record, error) {
	file := &Store{name: path, forms: known}
	var list []Record
	lines := bufio.NewReader(io.LimitReader(from, maxFile))
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		var head struct{ Schema int }
		if err := json.Unmarshal(line, &head); err != nil || head.Schema < 1 {
			return nil, fmt.Errorf("%s:%d: not a record", path, n)
		}
		r, err := file.decode(int64(n), head.Schema, string(line))
		if err != nil {
			return nil, err
		}
		r.ID = 0
		list = append(list, r)
	}
}
