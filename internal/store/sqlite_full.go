package store

import (
	"database/sql"
	"errors"
	"net/url"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// sharedIndex is the least that SQLite needs of the file beside a store that its processes share.
const sharedIndex = 32 << 10

// beside tells which of the files of the store at path are there.
func beside(path string) map[string]bool {
	there := map[string]bool{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_, err := os.Stat(path + suffix)
		there[path+suffix] = err == nil
	}
	return there
}

// abandon removes what an attempt to open the store at path left, which is of no use to anyone: files that were not there
// before, and that are too short to hold anything. A disk that is full leaves such.
func abandon(path string, there map[string]bool) {
	for file, most := range map[string]int64{path: 0, path + "-wal": 0, path + "-shm": sharedIndex - 1} {
		if info, err := os.Stat(file); !there[file] && err == nil && info.Mode().IsRegular() && info.Size() <= most {
			_ = os.Remove(file)
		}
	}
}

// mayNotShare tells that the store can't be read because nothing may be written beside it.
func mayNotShare(err error) bool {
	var cause *sqlite.Error
	if !errors.As(err, &cause) {
		return false
	}
	kind := cause.Code() & 0xff
	return kind == sqlite3.SQLITE_READONLY || kind == sqlite3.SQLITE_CANTOPEN
}

// openFrozen reads the file alone, without what its processes share, for which a full disk has no room and a folder that may
// not be written to no leave. Where somebody's append waits in the log it opens nothing: the append would be missed.
func openFrozen(path string) (*sql.DB, error) {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil, nil
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&immutable=1&_pragma=query_only(true)"}
	return sql.Open("sqlite", name.String())
}

// tidy removes what reading has left beside the store at path: SQLite does so itself when the last of its connections that
// may write is closed.
func tidy(path string, there map[string]bool) {
	if _, err := os.Stat(path + "-shm"); err != nil || there[path+"-shm"] {
		return
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=rw"}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return
	}
	defer db.Close()
	_, _ = db.Exec(`SELECT count(*) FROM sqlite_master`) // whoever may not write leaves the files
}
