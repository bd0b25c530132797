package store

// SQLite keeps two files beside a store that is open: store.db-wal, the write-ahead log with the newest records, and store.db-shm,
// an index of that log which all processes share. This file deals with them where a reader can't create or shouldn't leave them:
// on a full disk, or in a folder it may not write to.

import (
	"database/sql"
	"os"

	sqlite3 "modernc.org/sqlite/lib"
)

// minIndexSize is the size in bytes of the smallest shared index that SQLite makes.
const minIndexSize = 32 << 10

// existingFiles reports for each file of the store at path whether it exists.
func existingFiles(path string) map[string]bool {
	exists := map[string]bool{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_, err := os.Stat(path + suffix)
		exists[path+suffix] = err == nil
	}
	return exists
}

// abandon removes the files that a failed attempt to open the store at path created: those that did not exist before and are too
// short to hold anything, as a full disk leaves them.
func abandon(path string, existed map[string]bool) {
	for file, maxSize := range map[string]int64{path: 0, path + "-wal": 0, path + "-shm": minIndexSize - 1} {
		info, err := os.Stat(file)
		if err == nil && !existed[file] && info.Mode().IsRegular() && info.Size() <= maxSize {
			_ = os.Remove(file)
		}
	}
}

// mayNotWriteBeside reports whether err says that this user may not create the files beside the store.
func mayNotWriteBeside(err error) bool {
	cause := sqliteError(err)
	if cause == nil {
		return false
	}
	kind := primaryCode(cause)
	return kind == sqlite3.SQLITE_READONLY || kind == sqlite3.SQLITE_CANTOPEN
}

// openFrozen opens the store's main file alone. It returns nil if the write-ahead log isn't empty: its records would be missing.
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
