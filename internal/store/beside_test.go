package store

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

// cuttingJournal is a journal of SQLite by which a store had one page.
func cuttingJournal() []byte {
	journal := []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	for _, word := range []uint32{0, 1, 1, 512, 4096} {
		journal = binary.BigEndian.AppendUint32(journal, word)
	}
	return append(journal, make([]byte, 512-len(journal))...)
}

// In a folder such as /tmp others may put files beside a store that they can't write.
func TestFilesOfOthersBesideAStoreInAnOpenFolderAreRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root can make files of another user")
	}
	const neighbour = 4711
	content := map[string][]byte{"-journal": cuttingJournal()}
	for _, c := range []struct {
		suffix        string
		folder        os.FileMode
		owner, keeper int // of the file, of the store
		refused       bool
	}{
		{"-journal", 0o777 | os.ModeSticky, neighbour, 0, true},
		{"-wal", 0o777 | os.ModeSticky, neighbour, 0, true},
		{"-shm", 0o777 | os.ModeSticky, neighbour, 0, true},
		{"-wal", 0o777 | os.ModeSticky, neighbour, neighbour, false}, // its owner uses it
		{"-wal", 0o775, neighbour, 0, false},                         // a team's
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, c.folder); err != nil {
			t.Fatal(err)
		}
		store := filepath.Join(dir, "s.db")
		closedStore(t, store)
		executes(`PRAGMA journal_mode = DELETE`)(t, store)
		if err := os.WriteFile(store+c.suffix, content[c.suffix], 0o666); err != nil {
			t.Fatal(err)
		}
		for path, owner := range map[string]int{store: c.keeper, store + c.suffix: c.owner} {
			if err := os.Lchown(path, owner, owner); err != nil {
				t.Fatal(err)
			}
		}
		err := checkFile(store, appending)
		if c.refused {
			var s *Store
			if s, err = Open(store); err == nil {
				_ = s.Close()
			}
		}
		if refused := err != nil && strings.Contains(err.Error(), "another user made"); refused != c.refused || !refused && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		_ = os.Remove(store + c.suffix) // without the mend SQLite has done so
		if got := pointIDs(t, store); len(got) != 1 {
			t.Errorf("%+v: the store holds %d records", c, len(got))
		}
	}
}

// Between the look beside a store and its opening another user must not get a file in.
func TestNoFileOfOthersComesBesideAStoreWhileItIsOpened(t *testing.T) {
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root can be another user")
	}
	for _, mode := range []access{appending, reading} {
		dir := t.TempDir()
		for _, folder := range []string{filepath.Dir(dir), dir} {
			if err := os.Chmod(folder, 0o777|os.ModeSticky); err != nil {
				t.Fatal(err)
			}
		}
		store := filepath.Join(dir, "s.db")
		closedStore(t, store)
		before := existingFiles(store)
		db, made, err := openSQLite(store, mode, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for _, suffix := range suffixes {
			neighbour := exec.Command("sh", "-c", `cat > "$0" || mv "$1" "$0" || rm -f "$0"`, store+suffix, store)
			neighbour.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 4711, Gid: 4711}}
			neighbour.Stdin = bytes.NewReader(cuttingJournal())
			if out, err := neighbour.CombinedOutput(); err == nil {
				t.Errorf("%s: another user has changed %s: %s", mode, suffix, out)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		unguard(store, before, made)
		if got := pointIDs(t, store); len(got) != 1 {
			t.Errorf("%s: the store holds %d records", mode, len(got))
		}
		for _, open := range []func(string) (*Store, error){Open, OpenReadOnly} {
			s, err := open(store)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := filepath.Glob(store + "-*"); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %q, %v", mode, left, err)
		}
	}
}

// Who can make a link where a store is expected must not choose the file that is written.
func TestALinkOfAnotherUserIsNoStore(t *testing.T) {
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root can make files of another user")
	}
	store := filepath.Join(t.TempDir(), "s.db")
	closedStore(t, store)
	for owner, refused := range map[int]bool{0: false, 4711: true} {
		link := filepath.Join(t.TempDir(), "s.db")
		if err := os.Symlink(store, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Lchown(link, owner, owner); err != nil {
			t.Fatal(err)
		}
		for _, mode := range []access{reading, appending} {
			if err := checkFile(link, mode); refused != (ProblemOf(err) == BadURL && strings.Contains(err.Error(), link+" is a link that another user made (uid 4711)")) {
				t.Errorf("a link of user %d: %v", owner, err)
			}
		}
	}
}

// A view of a few bytes can compute records without end, or of any size.
func TestAStoreThatMakesItsRecordsUpIsRefused(t *testing.T) {
	const columns = `'a' AS point_id, 's' AS study, 1 AS repetition, 'ok' AS status, 0 AS began, 1 AS schema, '{}' AS body`
	for name, statement := range map[string]string{
		"view record": `DROP TABLE record; CREATE VIEW record AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT n AS id, ` + columns + ` FROM c`,
		"view Record": `DROP TABLE record; CREATE VIEW Record AS SELECT 1 AS id, ` + columns,
		"column body": `ALTER TABLE record DROP COLUMN body; ALTER TABLE record ADD COLUMN body TEXT AS (printf('%.*c', 500000000, 'x')) VIRTUAL`,
		"virtual record": `DROP TABLE record; CREATE VIRTUAL TABLE record USING fts5(id, point_id, study, repetition, status, began, schema, body);
			PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE  ' || substr(sql, 8) WHERE name = 'record'`,
		"table pragma_table_list": `DROP TABLE record; CREATE VIEW record AS SELECT 1 AS id, ` + columns + `; CREATE TABLE pragma_table_list (schema, type, name)`,
		"column layout": `DROP TABLE brokermark_store; CREATE TABLE brokermark_store (x, layout AS (2 + 0 * length(printf('%.*c', 500000000, 'x'))));
			INSERT INTO brokermark_store (x) VALUES (1)`,
		"column point_id": `CREATE TABLE claim (repetition, until, point_id AS (printf('%.*c', 500000000, 'x')))`,
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		closedStore(t, path)
		executes(statement)(t, path)
		for _, open := range []func(string) (*Store, error){Open, OpenReadOnly} {
			began := time.Now()
			s, err := open(path)
			if err == nil {
				_ = s.Close()
			}
			if ProblemOf(err) != Foreign || !strings.Contains(err.Error(), "("+name+")") || time.Since(began) > 5*time.Second {
				t.Errorf("%s: %v after %s", name, err, time.Since(began))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "s.db")
	withRecord(t, path, "first")
	executes(`CREATE VIEW mine AS SELECT point_id FROM record`)(t, path) // a view of the user's own, beside the records
	if got := pointIDs(t, path); len(got) != 1 {
		t.Errorf("a store with a further view: %v", got)
	}
}
