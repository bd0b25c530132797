package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

const (
	// limitAfterInterrupt is how long the store may take to accept a finished record after the first Ctrl-C.
	limitAfterInterrupt = 3 * time.Second
	// limitWhileAway bounds an attempt to append after the store refused the record before: a run must not wait for it with every record.
	limitWhileAway = 2 * time.Second
)

// Outbox appends records to a store. Records that the store doesn't accept wait in a file until it does, so that a run of hours
// survives an outage of the store. An Outbox is not safe for concurrent use.
type Outbox struct {
	store   *Store
	pattern string   // of the names of files for this store, with - and * replaced
	folders []string // where files are created, in the order of preference
	last    io.Writer
	say     func(format string, args ...any)
	waiting []*waitingFile // the files that hold records, in the order of delivery; the last one takes the next record
}

// Outbox makes an outbox. It creates its file in the first of folders that works; if none does, it writes the record to last as
// one line of JSON. The first append also delivers records that earlier runs of this user left for the same store. say takes a
// sentence for the user.
func (s *Store) Outbox(say func(format string, args ...any), last io.Writer, folders ...string) *Outbox {
	o := s.emptyOutbox(say, last, folders)
	o.adopt()
	return o
}

func (s *Store) emptyOutbox(say func(format string, args ...any), last io.Writer, folders []string) *Outbox {
	sum := sha256.Sum256([]byte(s.place()))
	return &Outbox{store: s, pattern: "brokermark-unstored-" + hex.EncodeToString(sum[:]) + "-*.jsonl", folders: folders, last: last, say: say}
}

// hurry is how long a process that is about to exit tries to append a record.
const hurry = 2 * time.Second

// Keep appends r to the store at url for a process that is about to exit: it gives up after two seconds. If r then waits in a
// file, as with an Outbox, the error is an *Unstored with the file's name.
func Keep(url string, r Record, last io.Writer, folders ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), hurry)
	defer cancel()
	quiet := func(string, ...any) {}
	s, err := open(ctx, url, appending, hurry/2) // SQLite waits for a lock for that long, whatever ctx says
	var o *Outbox
	if err == nil {
		defer s.Close()
		o = s.Outbox(quiet, last, folders...)
		if err = o.deliver(ctx); err == nil {
			_, err = s.AppendOnce(ctx, r)
		}
		if err == nil {
			return nil
		}
	} else {
		b, name, bad := choose(url)
		if bad != nil {
			return bad
		}
		o = (&Store{name: name, backend: b}).emptyOutbox(quiet, last, folders)
	}
	if failed := o.spill(r); failed != nil {
		return errors.Join(err, failed)
	}
	return o.unstored(err)
}

// place identifies the store independently of the working directory: the absolute path of a file without links, or the URL of a server.
func (s *Store) place() string {
	if s.backend.file == "" {
		return s.name
	}
	if path, err := filepath.EvalSymlinks(s.backend.file); err == nil {
		path, _ = filepath.Abs(path) // fails where the working directory was removed
		return path
	}
	folder, _ := filepath.EvalSymlinks(filepath.Dir(s.backend.file)) // of a file that does not exist
	folder, _ = filepath.Abs(folder)
	return filepath.Join(folder, filepath.Base(s.backend.file))
}

// adopt takes over the files of runs that have ended and left records in them.
func (o *Outbox) adopt() {
	for _, dir := range o.folders {
		removeNameless(filepath.Join(dir, "."+o.pattern))
		paths, _ := filepath.Glob(filepath.Join(dir, o.pattern)) // an error is about the pattern
		for _, path := range paths {
			switch file, err := adoptWaitingFile(path); {
			case err == nil:
				o.waiting = append(o.waiting, file)
			case !errors.Is(err, errInUse):
				o.say("records that wait in %s can't be delivered: %v", path, err)
			}
		}
	}
}

// Append returns nil once r is safe, in the store or in a file, and an error if neither took it. After ctx ends, the store has
// three more seconds.
func (o *Outbox) Append(ctx context.Context, r Record) error {
	limit := 2 * o.store.patience
	if len(o.waiting) > 0 {
		limit = min(limit, limitWhileAway)
	}
	ctx, cancel := outlive(ctx, limit)
	defer cancel()
	err := o.deliver(ctx)
	if err == nil {
		_, err = o.store.AppendOnce(ctx, r)
	}
	if err == nil {
		return nil
	}
	waited := len(o.waiting) > 0
	if failed := o.spill(r); failed != nil {
		return errors.Join(err, failed)
	}
	if !waited {
		o.say("%v; records wait in %s until the store takes them", err, o.waiting[0].Name())
	}
	return nil
}

// outlive returns a context that ends after limit, or limitAfterInterrupt after parent has ended.
func outlive(parent context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), limit)
	stop := context.AfterFunc(parent, func() { time.AfterFunc(limitAfterInterrupt, cancel) })
	return ctx, func() { stop(); cancel() }
}

// spill writes r to the current file. If that fails, it writes to a new file in the first folder that works, or to last.
func (o *Outbox) spill(r Record) error {
	line, err := encode(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	failed := o.restore()
	if n := len(o.waiting); n > 0 && o.waiting[n-1].inPlace() {
		if err = o.waiting[n-1].add(line); err == nil {
			return nil
		}
		failed = errors.Join(failed, err)
	}
	file, err := o.newFile(line)
	if err != nil {
		return o.lastResort(line, errors.Join(failed, err))
	}
	o.waiting = append(o.waiting, file)
	return nil
}

// restore writes the records of a file that was deleted, and that only this process can still read, to another file.
func (o *Outbox) restore() error {
	var errs []error
	for i, w := range o.waiting {
		if w.inPlace() {
			continue
		}
		file, err := o.newFile(w.lines())
		if err != nil {
			errs = append(errs, fmt.Errorf("%s was removed: %w", w.Name(), err))
			continue
		}
		w.Close()
		o.waiting[i] = file
	}
	return errors.Join(errs...)
}

// newFile creates a file with these lines in the first folder that takes them.
func (o *Outbox) newFile(lines []byte) (*waitingFile, error) {
	var errs []error
	for _, dir := range o.folders {
		file, err := newWaitingFile(dir, o.pattern)
		if err == nil {
			if err = file.add(lines); err == nil {
				return file, nil
			}
			err = errors.Join(err, file.remove())
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// lastResort writes lines that no file took, because of err, to last. It returns an error, because they are not stored.
func (o *Outbox) lastResort(lines []byte, err error) error {
	if _, failed := o.last.Write(lines); failed != nil {
		return fmt.Errorf("keep the record in a file: %w", errors.Join(err, failed))
	}
	return fmt.Errorf("keep the record in a file: %w; it is the line of JSON above: save it in a file that ends in .jsonl and import that", err)
}

// deliver appends the waiting records to the store, file by file. It removes each file after its last record, and renames a file
// with damaged lines (leave). The error is the store's.
func (o *Outbox) deliver(ctx context.Context) error {
	for len(o.waiting) > 0 {
		w := o.waiting[0]
		var taken int
		var damaged []error
		var failed error
		for r, err := range eachLine(w.Name(), w.content()) {
			switch {
			case is[notARecord](err):
				damaged = append(damaged, err)
				continue
			case err != nil:
				failed = err
				continue
			}
			if _, err := o.store.appendNew(ctx, action(r.Record), []row{r.row}); err != nil {
				return err
			}
			taken++
		}
		o.waiting = o.waiting[1:]
		if failed != nil { // a broken disk: the next run tries it again
			o.say("records that wait in %s can't be delivered: %v", w.Name(), errors.Join(failed, w.Close()))
			continue
		}
		o.leave(w, taken, damaged)
	}
	return nil
}

// leave closes a file after taken records of it were stored. If lines are damaged, the file is kept under another name.
func (o *Outbox) leave(w *waitingFile, taken int, damaged []error) {
	records, lines := fmt.Sprintf("%d records", taken), fmt.Sprintf("%d damaged lines are", len(damaged))
	if taken == 1 {
		records = "record"
	}
	if len(damaged) == 1 {
		lines = "1 damaged line is"
	}
	if len(damaged) == 0 {
		o.say("the store has taken the %s that waited", records)
		if err := w.remove(); err != nil {
			o.say("%v: the next run with this store removes it", err)
		}
		return
	}
	path, err := w.setAside()
	if err != nil {
		o.say("%v", err)
	}
	o.say("the store has taken the %s that waited; %s kept in %s, the first: %v", records, lines, path, damaged[0])
}

// Close tries once more to deliver the waiting records; the error is an *Unstored if that fails. It doesn't close the store.
func (o *Outbox) Close(ctx context.Context) error {
	ctx, cancel := outlive(ctx, o.store.patience)
	defer cancel()
	if err := o.deliver(ctx); err != nil {
		return o.unstored(err)
	}
	return nil
}

// unstored closes the files in which records still wait because of err.
func (o *Outbox) unstored(err error) error {
	u := &Unstored{Store: o.store.name, Err: err}
	lost := o.restore()
	for _, w := range o.waiting {
		if w.inPlace() {
			u.Paths, u.Records = append(u.Paths, w.Name()), u.Records+w.records
		} else {
			u.Err = errors.Join(u.Err, o.lastResort(w.lines(), lost))
		}
		w.Close()
	}
	return u
}

// Unstored names the files with records that the store didn't accept.
type Unstored struct {
	Paths   []string
	Records int
	Store   string
	Err     error
}

func (e *Unstored) Error() string {
	return fmt.Sprintf("%v; records that wait in %s: %d", e.Err, strings.Join(e.Paths, " and "), e.Records)
}

func (e *Unstored) Unwrap() error { return e.Err }
