package store

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inner returns a page of a tree that leads to the page left so many times, and last to the page right.
func inner(size, cells, left, right int) []byte { // https://www.sqlite.org/fileformat2.html#b_tree_pages
	page := make([]byte, size)
	page[0] = 5
	binary.BigEndian.PutUint16(page[3:], uint16(cells))
	binary.BigEndian.PutUint16(page[5:], uint16(size-5*cells))
	binary.BigEndian.PutUint32(page[8:], uint32(right))
	for i := range cells {
		at := size - 5*(i+1)
		binary.BigEndian.PutUint32(page[at:], uint32(left))
		page[at+4] = 1
		binary.BigEndian.PutUint16(page[12+2*i:], uint16(at))
	}
	return page
}

// endless makes a SQLite file of which a table has no end that is ever reached: the pages of its tree lead to one page each, a thousand times,
// and the last of them to the table's rows. SQLite reads it without complaint.
func endless(t *testing.T, path, table string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var size, root int
	_, errPlain := db.Exec(`PRAGMA journal_mode = DELETE`)
	if err := errors.Join(errPlain, db.QueryRow(`PRAGMA page_size`).Scan(&size),
		db.QueryRow(`SELECT rootpage FROM sqlite_master WHERE name = $1`, table).Scan(&root), db.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := len(file) / size
	inner := func(child int) []byte { return inner(size, (size-12)/8, child, child) }
	own := file[(root-1)*size : root*size]
	file = append(file, own...)
	copy(file[(root-1)*size:], inner(pages+4))
	for i := range 3 {
		file = append(file, inner(pages+1+i)...)
	}
	binary.BigEndian.PutUint32(file[28:], uint32(pages+4))
	copy(file[92:96], file[24:28])
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreThatHoldsItsRecordsAgainAndAgainIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, Record{PointID: "x"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	endless(t, path, "record")
	if s, err = OpenReadOnly(path); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	count := 0
	for _, failed := range s.Each(t.Context(), Filter{}) {
		if err = failed; err == nil {
			count++
		}
	}
	if ProblemOf(err) != Corrupt || !strings.Contains(err.Error(), "of more bytes than the file has") {
		t.Errorf("%d records, %v", count, err)
	}
	many := make([]string, maxPointsPerQuery+1) // which are looked for here, and none of them is there
	if _, err := s.Records(t.Context(), Filter{PointIDs: many}); ProblemOf(err) != Corrupt {
		t.Errorf("of points that it lacks: %v", err)
	}
}

func TestAStoreWithVersionsWithoutEndIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	closedStore(t, path)
	endless(t, path, "brokermark_store")
	if _, err := OpenReadOnly(path); ProblemOf(err) != Corrupt || !strings.Contains(err.Error(), "it has 2 versions instead of one") {
		t.Errorf("got %v", err)
	}
}

// The rows of the list of tables that SQLite takes again and again without complaint are those of the indexes that it made itself.
func TestAStoreWhoseListOfTablesHasNoEndIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	closedStore(t, path)
	executes(claimTable)(t, path)
	executes(`PRAGMA journal_mode = DELETE`)(t, path)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	size := int(binary.BigEndian.Uint16(file[16:]))
	first, rows := bytes.Clone(file[:size]), 2*int(binary.BigEndian.Uint16(file[103:])) // bytes of pointers to the rows
	leaf := func(pointers []byte) []byte {
		page := bytes.Clone(first)
		clear(page[:108+rows])
		page[0] = 13
		binary.BigEndian.PutUint16(page[3:], uint16(len(pointers)/2))
		copy(page[5:7], first[105:])
		copy(page[8:], pointers)
		return page
	}
	var own []byte
	for pointer := range slices.Chunk(first[108:108+rows], 2) {
		if at := int(binary.BigEndian.Uint16(pointer)); bytes.Contains(first[at:min(size, at+60)], []byte("sqlite_autoindex")) {
			own = pointer
		}
	}
	pages := len(file) / size
	file = append(append(file, leaf(first[108:108+rows])...), leaf(own)...)
	for i := range 6 {
		file = append(file, inner(size, (size-12)/8, pages+2+i, pages+2+i)...)
	}
	top := inner(size, 1, pages+1, pages+8)
	copy(file[100:], top[:14])
	clear(file[114:size])
	copy(file[size-5:], top[size-5:])
	binary.BigEndian.PutUint32(file[28:], uint32(pages+8))
	copy(file[92:96], file[24:28])
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reader := exec.CommandContext(t.Context(), exe) // SQLite reads on until the process ends
	reader.Env = append(os.Environ(), childStore+"_READ="+path)
	began := time.Now()
	said, err := reader.CombinedOutput()
	if took := time.Since(began); err != nil || !strings.Contains(string(said), "the list of its tables has no end") || took > 10*time.Second {
		t.Errorf("%s, %v after %s", said, err, took)
	}
}
