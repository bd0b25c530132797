package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// limitAfterInterrupt is how long a finished record may still take to reach the store after the first Ctrl-C.
	limitAfterInterrupt = 3 * time.Second
	// limitWhileAway bounds an attempt at a store that didn't take the record before: a run must not wait for it with
	// every record.
	limitWhileAway = 2 * time.Second
)

// Outbox appends records to a store. Those that the store doesn't take wait in a file until it does, so that a store which is away for
// minutes costs a run of hours nothing. It is not safe for use by several goroutines.
type Outbox struct {
	store   *Store
	folders []string // for the file, in the order in which they are tried
	say     func(format string, args ...any)
	waiting *waitingFile // nil if no record waits
}

// Outbox makes an outbox. Its file is made in the first of folders that allows it. Records that earlier runs with the same store left
// there are delivered with the first one.
func (s *Store) Outbox(say func(format string, args ...any), folders ...string) *Outbox {
	o := &Outbox{store: s, folders: folders, say: say}
	o.adopt()
	return o
}

// pattern is the name of a run's file, or with * for run the pattern of all. It differs from those of other stores.
func (o *Outbox) pattern(run string) string {
	sum := sha256.Sum256([]byte(o.store.name))
	return "brokermark-unstored-" + hex.EncodeToString(sum[:4]) + "-" + run + ".jsonl"
}

// adopt takes over the file of a run that ended while records waited in it, if there is one.
func (o *Outbox) adopt() {
	for _, dir := range o.folders {
		paths, _ := filepath.Glob(filepath.Join(dir, o.pattern("*"))) // an error is about the pattern
		for _, path := range paths {
			file, err := adoptWaitingFile(path)
			if err == nil {
				o.waiting = file
				return
			}
			if !errors.Is(err, errInUse) {
				o.say("records that wait in %s can't be delivered: %v", path, err)
			}
		}
	}
}

// Append returns nil when r is safe, in the store or in the file, and an error if neither took it. Once ctx has ended,
// the store has three more seconds.
func (o *Outbox) Append(ctx context.Context, r Record) error {
	limit := 2 * o.store.patience
	if o.waiting != nil {
		limit = min(limit, limitWhileAway)
	}
	ctx, cancel := outlive(ctx, limit)
	defer cancel()
	err := o.deliver(ctx)
	if err == nil {
		_, err = o.store.AppendOnce(ctx, r)
	}
	var unwritable *json.UnsupportedValueError
	if err == nil || errors.As(err, &unwritable) {
		return err
	}
	if failed := o.spill(r); failed != nil {
		return errors.Join(err, failed)
	}
	if o.waiting.records == 1 {
		o.say("%v; records wait in %s until the store takes them", err, o.waiting.Name())
	}
	return nil
}

// outlive returns a context that ends after limit, or when limitAfterInterrupt has passed since parent ended.
func outlive(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), limit)
	stop := context.AfterFunc(parent, func() { time.AfterFunc(limitAfterInterrupt, cancel) })
	return ctx, func() { stop(); cancel() }
}

// spill writes r to the file, which it makes for the first record.
func (o *Outbox) spill(r Record) error {
	if o.waiting == nil {
		if err := o.makeFile(); err != nil {
			return fmt.Errorf("keep the record in a file: %w", err)
		}
	}
	if err := o.waiting.add(r); err != nil {
		return fmt.Errorf("keep the record in %s: %w", o.waiting.Name(), err)
	}
	return nil
}

// makeFile makes this run's file in the first folder that allows it.
func (o *Outbox) makeFile() error {
	var errs []error
	for _, dir := range o.folders {
		file, err := newWaitingFile(filepath.Join(dir, o.pattern(strconv.Itoa(os.Getpid()))))
		if err == nil {
			o.waiting = file
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// deliver appends the records that wait to the store, in their order: those of this run's file, and those that earlier runs
// left. It removes each file after its last record; one with damaged lines it sets aside.
func (o *Outbox) deliver(ctx context.Context) error {
	for o.waiting != nil {
		records, damaged, err := readLines(o.waiting.Name())
		if err != nil {
			return err
		}
		for _, r := range records {
			if _, err := o.store.AppendOnce(ctx, r); err != nil {
				return err
			}
		}
		if err := o.leave(len(records), damaged); err != nil {
			return err
		}
		o.waiting = nil
		o.adopt()
	}
	return nil
}

// leave ends the use of a file from which the store has taken so many records. Lines that are no records stay in it, for people.
func (o *Outbox) leave(taken int, damaged []error) error {
	records, lines := fmt.Sprintf("%d records", taken), fmt.Sprintf("%d damaged lines are", len(damaged))
	if taken == 1 {
		records = "record"
	}
	if len(damaged) == 1 {
		lines = "1 damaged line is"
	}
	if len(damaged) == 0 {
		o.say("the store has taken the %s that waited", records)
		return o.waiting.remove()
	}
	path, err := o.waiting.setAside()
	if err != nil {
		return errors.Join(damaged[0], err)
	}
	o.say("the store has taken the %s that waited; %s kept in %s, the first: %v", records, lines, path, damaged[0])
	return nil
}

// Close tries once more to deliver the records that wait. The error is an *Unstored if that fails. The store stays open.
func (o *Outbox) Close(ctx context.Context) error {
	ctx, cancel := outlive(ctx, o.store.patience)
	defer cancel()
	err := o.deliver(ctx)
	if err == nil {
		return nil
	}
	defer o.waiting.Close()
	return &Unstored{Path: o.waiting.Name(), Records: o.waiting.records, Store: o.store.name, Err: err}
}

// Unstored says in which file records wait that the store didn't take.
type Unstored struct {
	Path    string
	Records int
	Store   string
	Err     error
}

func (e *Unstored) Error() string {
	return fmt.Sprintf("%v; records that wait in %s: %d", e.Err, e.Path, e.Records)
}

func (e *Unstored) Unwrap() error { return e.Err }
