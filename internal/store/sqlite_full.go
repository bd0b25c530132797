package store

// Reading a SQLite store where nothing can be written beside it: its disk is full, or its folder read-only. Usually all
// processes that have a store open share an index of its write-ahead log, in a file beside it.

import (
	"database/sql"
	"errors"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sharedIndex is the smallest size of the shared index, in bytes.
const sharedIndex = 32 << 10

// beside lists the files that make up the store at path, and whether each exists.
func beside(path string) map[string]bool {
	there := map[string]bool{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_, err := os.Stat(path + suffix)
		there[path+suffix] = err == nil
	}
	return there
}

// abandon removes files that a failed attempt to open the store at path made: those that were not there before and are too
// short to hold anything, as a full disk leaves them.
func abandon(path string, there map[string]bool) {
	for file, most := range map[string]int64{path: 0, path + "-wal": 0, path + "-shm": sharedIndex - 1} {
		if info, err := os.Stat(file); !there[file] && err == nil && info.Mode().IsRegular() && info.Size() <= most {
			_ = os.Remove(file)
		}
	}
}

// mayNotShare reports whether the store can't be read because its user may not write beside it.
func mayNotShare(err error) bool {
	var cause *sqlite.Error
	if !errors.As(err, &cause) {
		return false
	}
	kind := cause.Code() & 0xff
	return kind == sqlite3.SQLITE_READONLY || kind == sqlite3.SQLITE_CANTOPEN
}

// openFrozen opens the file alone, without its log and the shared index. It returns nil if the log holds records, which would
// be missed.
func openFrozen(path string) (*sql.DB, error) {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil, nil
	}
	return sql.Open("sqlite", sqliteURL(path, "mode=ro&immutable=1&_pragma=query_only(true)"))
}

// tidy removes the files that reading made beside the store at path. SQLite removes them itself when the last connection that
// may write is closed, so tidy opens and closes one.
func tidy(path string, there map[string]bool) {
	if _, err := os.Stat(path + "-shm"); err != nil || there[path+"-shm"] {
		return
	}
	db, err := sql.Open("sqlite", sqliteURL(path, "mode=rw"))
	if err != nil {
		return
	}
	defer db.Close()
	_, _ = db.Exec(`SELECT count(*) FROM sqlite_master`) // a user who may not write leaves the files
}
