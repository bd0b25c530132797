package store

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// numbered yields n different records.
func numbered(n int) iter.Seq2[Checked, error] {
	return func(yield func(Checked, error) bool) {
		for i := range n {
			r := Record{PointID: fmt.Sprint("p", i%7), Repetition: i + 1, Study: "s", Status: OK, Began: time.Unix(int64(i), 1).UTC()}
			if row, err := rowOf(r); !yield(Checked{r, row}, err) {
				return
			}
		}
	}
}

func countOf(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.db.QueryRow(`SELECT COUNT(*) FROM record`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAnImportStoresEachRecordOnceAndInOrder(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		const n = 2*maxBatchRows + 3
		twice := func(yield func(Checked, error) bool) {
			for r, err := range numbered(n) {
				for range 2 {
					if !yield(r, err) {
						return
					}
				}
			}
		}
		if stored, there, err := s.Import(t.Context(), twice); err != nil || stored != n || there != n {
			t.Fatalf("%d stored, %d there, %v; want %d and as many", stored, there, err, n)
		}
		if stored, there, err := s.Import(t.Context(), numbered(n+1)); err != nil || stored != 1 || there != n {
			t.Errorf("again: %d stored, %d there, %v; want the new one", stored, there, err)
		}
		records, err := s.Records(t.Context(), Filter{})
		if err != nil || len(records) != n+1 {
			t.Fatalf("%d records, %v", len(records), err)
		}
		for i, r := range records {
			if r.Repetition != i+1 {
				t.Fatalf("record %d is repetition %d", i, r.Repetition)
			}
		}
	})
}

// A store may hold more than the memory, and so may a file.
func TestAnImportHoldsNoMoreThanAFewBatches(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		const most = 2*maxBatchRows + 2*batchSize
		read, ahead := 0, 0
		watched := func(yield func(Checked, error) bool) {
			for r, err := range numbered(5 * maxBatchRows) {
				if read++; read%batchSize == 0 {
					ahead = max(ahead, read-countOf(t, s))
				}
				if !yield(r, err) {
					return
				}
			}
		}
		if stored, _, err := s.Import(t.Context(), watched); err != nil || stored != 5*maxBatchRows {
			t.Fatalf("%d stored, %v", stored, err)
		}
		if ahead > most {
			t.Errorf("%d records were read and not stored; at most %d are to be in memory", ahead, most)
		}
	})
}

func TestABatchHasNoMoreThanSoManyBytes(t *testing.T) {
	var sizes []int
	long := func(yield func(Checked, error) bool) {
		for r := range numbered(5) {
			r.row.body = strings.Repeat("x", maxBatchBytes/3+1)
			if !yield(r, nil) {
				return
			}
		}
	}
	err := eachBatch(t.Context(), long, func(rows []row) { sizes = append(sizes, len(rows)) })
	if err != nil || !slices.Equal(sizes, []int{2, 2, 1}) {
		t.Errorf("batches of %v records, %v", sizes, err)
	}
}

func TestAnImportEndsWithTheFirstErrorAndKeepsWhatCameBefore(t *testing.T) {
	s, _ := newStore(t)
	bad := errors.New("f.jsonl:301: not a record")
	stored, _, err := s.Import(t.Context(), func(yield func(Checked, error) bool) {
		for r := range numbered(300) {
			if !yield(r, nil) {
				return
			}
		}
		yield(Checked{}, bad)
	})
	if !errors.Is(err, bad) || stored != 300 || countOf(t, s) != 300 {
		t.Errorf("%d stored, %d there, %v", stored, countOf(t, s), err)
	}
	full, _ := newStore(t)
	full.db.SetMaxOpenConns(1) // the page limit holds per connection
	if _, err := full.db.Exec(`PRAGMA max_page_count = 40`); err != nil {
		t.Fatal(err)
	}
	read := 0
	stored, _, err = full.Import(t.Context(), func(yield func(Checked, error) bool) {
		for r := range numbered(20 * maxBatchRows) {
			if read++; !yield(r, nil) {
				return
			}
		}
	})
	if ProblemOf(err) != Full || stored != countOf(t, full) || read == 20*maxBatchRows {
		t.Errorf("%d of %d stored after %d were read: %v", countOf(t, full), stored, read, err)
	}
}

// countingReader counts the bytes that are read of it.
type countingReader struct {
	io.Reader
	n int
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n += n
	return n, err
}

func TestAFileOfRecordsIsReadAsItsRecordsAre(t *testing.T) {
	whole := line(t, record("a", 1))
	file := &countingReader{Reader: strings.NewReader(strings.Repeat(whole, 100*batchSize))}
	for range eachLine("f.jsonl", file) {
		break
	}
	if most := len(whole)*batchSize + 64<<10; file.n > most {
		t.Errorf("%d bytes were read for the first record, want at most %d", file.n, most)
	}
}

// A damaged record of another study stands for the many that a report of one study has no time to read.
func TestOnlyWhatAFilterSelectsIsDecoded(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		if _, _, err := s.Import(t.Context(), numbered(20)); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, s, Record{PointID: "mine", Study: "mine", Repetition: 100, Status: Void, Began: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
		if _, err := s.db.Exec(`UPDATE record SET schema = 99 WHERE study = 's'`); err != nil {
			t.Fatal(err)
		}
		for _, f := range []Filter{
			{Study: "mine"}, {PointPrefix: "mi"}, {Repetition: 100}, {Statuses: []Status{Void}}, {From: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		} {
			if records, err := s.Records(t.Context(), f); err != nil || len(records) != 1 {
				t.Errorf("%+v: %d records, %v", f, len(records), err)
			}
		}
		if _, err := s.Records(t.Context(), Filter{}); ProblemOf(err) != Version {
			t.Errorf("the others can be read: %v", err)
		}
	})
}

// What is stored reads as what was checked, whatever else stands in the line.
func TestALineIsStoredAsItStands(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		path := filepath.Join(t.TempDir(), "f.jsonl")
		for i, text := range []string{
			`{"schema":1,"id":7,"point_id":"a","POINT_ID":"b","repetition":%d,"status":"ok","spec":{"broker":"sim"},"unknown":[[{}]],"reason":"\u0000 \ud800"}`,
			"  {\"schema\":1,\"point_id\":\"a\",\"repetition\":%d,\"status\":\"ok\",\"spec\":{\"broker\":\"sim\"},\"reason\":\"\xff\"}\t\r",
		} {
			writes(fmt.Sprintf(text, i+1)+"\n")(t, path)
			given, err := Collect(ReadRecords(path))
			if err != nil || len(given) != 1 {
				t.Fatalf("%d records, %v", len(given), err)
			}
			if stored, _, err := s.Import(t.Context(), ReadRecords(path)); err != nil || stored != 1 {
				t.Fatalf("%d stored, %v", stored, err)
			}
			got, err := s.Records(t.Context(), Filter{Repetition: i + 1})
			if err != nil || len(got) != 1 {
				t.Fatalf("%d records, %v", len(got), err)
			}
			want := given[0].Record
			if want.ID = got[0].ID; !reflect.DeepEqual(got[0], want) {
				t.Errorf("%s is stored as %+v", text, got[0])
			}
		}
	})
}
