package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/brokermark/brokermark/internal/bounded"
	"github.com/brokermark/brokermark/internal/clock"
)

// madeUpSQLite list what computes its rows when it is read, possibly without end: first what would hide SQLite's own lists from the second.
var madeUpSQLite = []string{
	`SELECT type || ' ' || name FROM sqlite_master WHERE lower(name) IN ('pragma_table_list', 'pragma_table_xinfo')`,
	`SELECT iif(t.type = 'table', 'column ' || c.name, t.type || ' ' || t.name) FROM pragma_table_list t, pragma_table_xinfo(t.name) c WHERE
	t.schema = 'main' AND lower(t.name) IN ('record', 'brokermark_store', 'claim', 'watched') AND (t.type <> 'table' OR c.hidden <> 0)`,
}

// sqliteFile returns the backend for a store in a file.
func sqliteFile(path string) *backend {
	existed := existingFiles(path)
	var made []string
	return &backend{
		file: path,
		open: func(mode access, patience time.Duration) (db *sql.DB, err error) {
			db, made, err = openSQLite(path, mode, patience)
			return db, err
		},
		enableAppends: enableWAL,
		openFrozen:    func() (*sql.DB, error) { return openFrozen(path) },
		appendable:    func() error { return checkFile(path, appending) },
		abandon:       func() { abandon(path, existed) },
		tidy:          func() { tidy(path, existed) },
		unguard:       func() { unguard(path, existed, made) },
		diagnose:      func(err error, action string) diagnosis { return diagnoseSQLite(path, err, action) },
		dialect: dialect{
			tables:      `SELECT name FROM sqlite_master WHERE type = 'table'`,
			madeUp:      madeUpSQLite,
			now:         `CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)`,
			create:      tableStatements("INTEGER PRIMARY KEY AUTOINCREMENT", "TEXT"),
			alternative: "file",
		},
	}
}

// openSQLite returns a connection pool for the store at path, and the files that guard created. SQLite opens the file with the
// first statement.
func openSQLite(path string, mode access, patience time.Duration) (db *sql.DB, made []string, err error) {
	if err := checkFile(path, mode); err != nil {
		return nil, nil, err
	}
	if made, err = guard(path); err != nil {
		return nil, nil, err
	}
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds()))
	if mode == appending {
		q.Set("_txlock", "immediate")
		q.Add("_pragma", "synchronous(FULL)")  // in WAL mode: a commit is on the disk when it returns
		q.Add("_pragma", "cache_size(-16384)") // KiB: enough for all pages that an import changes at a time
		q.Add("_pragma", "page_size(8192)")    // of a new file: a page of 4096 bytes has room for one short record only
	} else {
		q.Set("mode", "ro")
		q.Add("_pragma", "query_only(true)")
	}
	db, err = sql.Open("sqlite", sqliteURL(path, q.Encode()))
	return db, made, err
}

// checkFile refuses a path that can't be opened as a store, with a clearer error than SQLite's.
func checkFile(path string, mode access) error {
	if _, err := bounded.OwnPath(path); err != nil {
		return &Error{Problem: BadURL, Store: path, Detail: fmt.Sprintf("can't be opened: %v; name the file itself", err)}
	}
	info, err := os.Stat(path)
	missing := errors.Is(err, os.ErrNotExist)
	switch {
	case missing && mode == reading:
		return &Error{Problem: Missing, Store: path, Detail: "does not exist: run a study first, or name another file with --store"}
	case missing:
		if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, os.ErrNotExist) {
			return &Error{Problem: BadURL, Store: path, Detail: "lies in a folder that does not exist: make it, or name another file"}
		}
	case err != nil:
		return err
	case info.IsDir():
		return &Error{Problem: BadURL, Store: path, Detail: "is a directory: name a file in it"}
	case !info.Mode().IsRegular(): // SQLite would create its journal beside a device
		return &Error{Problem: BadURL, Store: path, Detail: "is no ordinary file"}
	}
	if !missing { // otherwise SQLite removes the files beside it
		if err := checkBeside(path, info); err != nil {
			return err
		}
	}
	if mode == reading {
		return nil
	}
	if name := remoteFileSystem(path); name != "" {
		return &Error{Problem: BadURL, Store: path, Detail: "lies on a file system of the network (" + name +
			"), where two machines would damage it: name a file on a disk of this machine, or a PostgreSQL database"}
	}
	return checkRights(path, missing)
}

// remoteFileSystem names the network file system that the file at path is or would be on; empty for a local one. SQLite's
// write-ahead log needs memory shared by all its users.
func remoteFileSystem(path string) string {
	var fs unix.Statfs_t
	if statfs(path, &fs) != nil && statfs(filepath.Dir(path), &fs) != nil {
		return ""
	}
	return nameOfRemote(&fs)
}

// statfs is replaced by a test.
var statfs = unix.Statfs

// checkRights refuses a file that this user may not write, or in whose folder it may not create files. SQLite opens such a file
// and fails at the first append.
func checkRights(path string, missing bool) error {
	if unix.Access(path, unix.W_OK) != nil && !missing {
		return &Error{Problem: Other, Store: path, Detail: "can't be written by this user"}
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, _ := filepath.Abs(filepath.Dir(path))
	_, err := os.Stat(path + "-wal")
	switch {
	case unix.Access(folder, unix.W_OK|unix.X_OK) == nil:
	case missing:
		return &Error{Problem: Other, Store: path, Detail: mayNotMake(folder)}
	case err != nil: // otherwise another process keeps them there
		return &Error{Problem: Other, Store: path, Detail: mayNotMakeBeside(folder)}
	}
	return nil
}

func mayNotMake(folder string) string {
	return "can't be made: this user may not make files in " + folder
}

func mayNotMakeBeside(folder string) string {
	return "can't be opened: this user may not make files beside it, in " + folder
}

// sqliteURL returns the URI of a file with options for opening it (https://www.sqlite.org/uri.html).
func sqliteURL(path, options string) string {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: options}
	return u.String()
}

// enableWAL switches to the write-ahead log, so that readers never wait for writers. While another process switches the same new
// file, SQLite returns "busy" at once in spite of its busy timeout, so enableWAL tries again.
func enableWAL(ctx context.Context, db *sql.DB, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		_, err := db.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
		if primaryCode(err) != sqlite3.SQLITE_BUSY {
			return err
		}
		if clock.Pause(ctx, 5*time.Millisecond) != nil {
			return err
		}
	}
}

// primaryCode returns the kind of SQLite's error within err, or 0 if there is none. It is the low byte of the result code, which
// the other bytes refine.
func primaryCode(err error) int {
	if cause, ok := errors.AsType[*sqlite.Error](err); ok {
		return cause.Code() & 0xff
	}
	return 0
}

// diagnoseSQLite explains an error by its result code (https://www.sqlite.org/rescode.html).
func diagnoseSQLite(path string, err error, action string) diagnosis {
	cause, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return diagnosis{}
	}
	folder, _ := filepath.Abs(filepath.Dir(path))
	switch cause.Code() {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: // SHMSIZE: no room for the index of the write-ahead log
		return diagnosis{Full, "has no room left, its disk is full: could not " + action + "; earlier records are intact", hidden{err}}
	case sqlite3.SQLITE_READONLY_DIRECTORY:
		return diagnosis{Other, mayNotMakeBeside(folder), hidden{err}}
	}
	switch primaryCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return diagnosis{Locked, "is locked by another process: could not " + action, err}
	case sqlite3.SQLITE_NOTADB:
		return diagnosis{Foreign, "is not a SQLite file: name another file", err}
	case sqlite3.SQLITE_CORRUPT:
		return diagnosis{Corrupt, "is damaged: could not " + action, err}
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY:
		if _, statErr := os.Stat(path); primaryCode(err) == sqlite3.SQLITE_CANTOPEN && errors.Is(statErr, os.ErrNotExist) {
			return diagnosis{Other, mayNotMake(folder), hidden{err}}
		}
		return diagnosis{Other, "can't be opened for that by this user: could not " + action, err}
	}
	return diagnosis{Other, "could not " + action, err}
}

// hidden wraps an error whose text adds nothing to the sentence about it, such as "disk I/O error (4874)". errors.As still finds it.
type hidden struct{ error }

func (hidden) Error() string   { return "" }
func (h hidden) Unwrap() error { return h.error }

// SQLite keeps two files beside an open store: store.db-wal, the write-ahead log with the newest records, and store.db-shm, an
// index of that log which all processes share. The functions below handle the cases in which a reader can't create these files or
// shouldn't leave them: a full disk, or a folder that it may not write to.

// minIndexSize is the size in bytes of the smallest shared index that SQLite creates.
const minIndexSize = 32 << 10

// existingFiles reports for each file of the store at path whether it exists.
func existingFiles(path string) map[string]bool {
	exists := map[string]bool{}
	for _, suffix := range append([]string{""}, suffixes...) {
		_, err := os.Stat(path + suffix)
		exists[path+suffix] = err == nil
	}
	return exists
}

// abandon removes the files that a failed attempt to open the store at path created: those that did not exist before and are too
// short to hold anything, as on a full disk. It keeps them if another process has opened the store since, whose commits to a
// removed log would be lost.
func abandon(path string, existed map[string]bool) {
	db, err := sql.Open("sqlite", sqliteURL(path, "mode=rw&_pragma=locking_mode(EXCLUSIVE)"))
	if err != nil {
		return
	}
	defer db.Close()
	// A process that uses the log keeps a lock that shuts out the exclusive one.
	if _, err := db.Exec(`BEGIN EXCLUSIVE`); primaryCode(err) == sqlite3.SQLITE_BUSY {
		return
	}
	for file, maxSize := range map[string]int64{path: 0, path + "-wal": 0, path + "-shm": minIndexSize - 1} {
		info, err := os.Stat(file)
		if err == nil && !existed[file] && info.Mode().IsRegular() && info.Size() <= maxSize {
			_ = os.Remove(file)
		}
	}
}

// mayNotWriteBeside reports whether err means that this user may not create the files beside the store.
func mayNotWriteBeside(err error) bool {
	kind := primaryCode(err)
	return kind == sqlite3.SQLITE_READONLY || kind == sqlite3.SQLITE_CANTOPEN
}

// openFrozen opens the store's main file alone. It returns nil if the write-ahead log isn't empty, because its records would be missing.
func openFrozen(path string) (*sql.DB, error) {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil, nil
	}
	return sql.Open("sqlite", sqliteURL(path, "mode=ro&immutable=1&_pragma=query_only(true)"))
}

// tidy removes the files that reading created beside the store at path. SQLite does so itself when the last connection that may
// write is closed, so tidy opens and closes one.
func tidy(path string, existed map[string]bool) {
	if _, err := os.Stat(path + "-shm"); err != nil || existed[path+"-shm"] {
		return
	}
	db, err := sql.Open("sqlite", sqliteURL(path, "mode=rw"))
	if err != nil {
		return
	}
	defer db.Close()
	_, _ = db.Exec(`SELECT count(*) FROM sqlite_master`) // fails for a user who may not write: then the files stay
}

// extent compares the bytes of the rows that were read with those of the store's file. A file in which pages lead to the same rows again and
// again, as only a stranger makes one, would have no end.
type extent struct {
	store *Store
	read  int64
	size  int64 // of the file when it was last looked at: it grows while others append
}

// add counts a row.
func (e *extent) add(bytes int) error {
	if e.read += int64(bytes); e.store.backend.file == "" || e.read <= e.size {
		return nil
	}
	info, err := os.Stat(e.store.backend.file)
	if err != nil { // it was removed meanwhile
		return nil
	}
	e.size = info.Size()
	if log, err := os.Stat(e.store.backend.file + "-wal"); err == nil {
		e.size += log.Size()
	}
	if e.read > e.size {
		return e.store.problem(Corrupt, "is damaged: it holds records again and again, of more bytes than the file has")
	}
	return nil
}

// suffixes are the endings of the files that SQLite looks for beside a store. SQLite replays any journal that it finds there, or
// truncates the store.
var suffixes = []string{journal, "-wal", "-shm"}

const journal = "-journal"

// checkBeside refuses a store if a file beside it may belong to another user.
func checkBeside(path string, store os.FileInfo) error {
	path, open := inOpenFolder(path)
	if !open {
		return nil
	}
	trusted := []int{0, os.Geteuid(), ownerOf(store)}
	for _, suffix := range suffixes {
		info, err := os.Lstat(path + suffix)
		if err == nil && !slices.Contains(trusted, ownerOf(info)) {
			return &Error{Problem: BadURL, Store: path, Detail: "has a file beside it that another user made, which would change what it holds: " +
				path + suffix + "; name a store in a folder of yours"}
		}
	}
	return nil
}

// inOpenFolder returns the path with links resolved, and whether its folder is sticky, as /tmp is: any user may create files
// there, which only their owners may remove. A folder that is shared without the sticky bit also shares its stores.
func inOpenFolder(path string) (string, bool) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, err := os.Stat(filepath.Dir(path))
	return path, err == nil && folder.Mode()&os.ModeSticky != 0
}

// guard creates the missing files beside a store in an open folder and returns their names. Otherwise another user could create
// them between checkBeside and SQLite's open. SQLite treats empty files like missing ones.
func guard(path string) (made []string, err error) {
	store, err := os.Stat(path)
	path, open := inOpenFolder(path)
	if err != nil || !open || ownerOf(store) != os.Geteuid() {
		return nil, nil
	}
	for _, suffix := range suffixes {
		f, err := os.OpenFile(path+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, store.Mode().Perm())
		if err == nil {
			made = append(made, path+suffix)
			_ = f.Close()
		}
	}
	if err = checkBeside(path, store); err != nil {
		removeEmpty(made)
	}
	return made, err
}

// unguard removes the files that guard made for a store that is now closed. existed holds the files that were there before.
func unguard(path string, existed map[string]bool, made []string) {
	for _, file := range made {
		if _, err := os.Lstat(file); err == nil && !strings.HasSuffix(file, journal) { // SQLite left it there: another process may use it
			abandon(path, existed)
			break
		}
	}
	removeEmpty(slices.DeleteFunc(made, func(file string) bool { return !strings.HasSuffix(file, journal) }))
}

func removeEmpty(files []string) {
	for _, file := range files {
		if info, err := os.Lstat(file); err == nil && info.Size() == 0 {
			_ = os.Remove(file)
		}
	}
}

// ownerOf returns the user that a file belongs to.
func ownerOf(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return os.Geteuid()
}
