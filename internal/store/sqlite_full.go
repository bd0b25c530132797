package store

import (
	"database/sql"
	"net/url"
	"os"
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

// openFrozen reads the file alone, without what its processes share, for which a full disk has no room. Nobody can append to
// it there; where somebody's append waits in the log, it is refused: it would be missed.
func openFrozen(path string) (*sql.DB, error) {
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil, &Error{Problem: Full, Store: path, Detail: "has no room left, its disk is full: could not read it"}
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: "mode=ro&immutable=1&_pragma=query_only(true)"}
	return sql.Open("sqlite", name.String())
}
