package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/study"
)

func TestWhatIsNoUsableStoreIsRefusedWithASentenceAndLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name    string
		file    string                           // appended to the test's directory
		make    func(t *testing.T, path string)  // what is there before
		open    func(url string) (*Store, error) // nil: both Open and OpenReadOnly must refuse
		problem Problem
		says    string
	}{
		{"missing, for a report", "none.db", nil, OpenReadOnly, Missing, "does not exist: run a study first"},
		{"empty, for a report", "s.db", writes(""), OpenReadOnly, Missing, "holds nothing yet"},
		{"directory", ".", nil, nil, BadURL, "is a directory"},
		{"text file", "s.db", writes(strings.Repeat("messages,rate\n", 100)), nil, Foreign, "is not a SQLite file"},
		{"another program's database", "s.db", executes(`CREATE TABLE bookmarks (url TEXT)`), nil, Foreign, "is a database of something else"},
		{"a store of a later version", "s.db", ofLayout(99), nil, Version, "was written by another version of brokermark (layout 99, this one has 2): read it with that one, or name another file"},
		{"a store of an earlier version", "s.db", ofLayout(0), nil, Version, "was written by another version of brokermark (layout 0, this one has 2)"},
		{"zeroed in the middle", "s.db", damaged, nil, Corrupt, "is damaged"},
		{"cut off", "s.db", cutOff, nil, Corrupt, "is damaged"},
		{"directory that isn't there", "no/such/dir/s.db", nil, Open, BadURL, "lies in a folder that does not exist"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.file)
			if c.make != nil {
				c.make(t, path)
			}
			before, _ := os.ReadFile(path)
			opens := []func(string) (*Store, error){Open, OpenReadOnly}
			if c.open != nil {
				opens = opens[:1]
				opens[0] = c.open
			}
			for _, open := range opens {
				err := useStore(open, path)
				if ProblemOf(err) != c.problem || !strings.Contains(fmt.Sprint(err), c.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("got problem %q, %v; want %q and a sentence with %q and the path", ProblemOf(err), err, c.problem, c.says)
				}
			}
			if after, _ := os.ReadFile(path); !slices.Equal(before, after) {
				t.Error("the file was changed")
			}
			if left, _ := filepath.Glob(path + "-*"); left != nil {
				t.Errorf("%v is left beside it", left)
			}
		})
	}
}

// useStore opens and reads, since a damaged page may show only when it is read.
func useStore(open func(string) (*Store, error), url string) error {
	s, err := open(url)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Records(context.Background(), Filter{})
	return err
}

func TestAnUnusableURLIsNamedWithoutItsPassword(t *testing.T) {
	for url, says := range map[string]string{
		"mysql://me:secret@db/x":                 `unknown scheme "mysql"`,
		"mysql://db/x?password=secret":           `unknown scheme "mysql"`,
		"postgres://me:se/cret@db/x":             "is no readable URL",
		"postgres://me:secret@db/x?sslmode=odd":  "sslmode is invalid",
		"postgres://me:secret@db:99999/x":        "is no usable URL",
		"postgres://db/x?password=secret&port=x": "is no usable URL",
		"":                                       "names no file",
		"sqlite:":                                "names no file",
	} {
		_, err := Open(url)
		if ProblemOf(err) != BadURL || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "cret") {
			t.Errorf("Open(%q): %v; want BadURL saying %q", url, err, says)
		}
	}
}

func TestAPathMayHoldAnyCharacter(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"plain.db", "a b.db", "100%25?.db", "ä#&=.db"} {
		for _, prefix := range []string{"", "sqlite:"} {
			s, err := Open(prefix + filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, s, Record{PointID: "p"})
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestAFullStoreRefusesTheRecordAndKeepsTheEarlierOnes(t *testing.T) {
	s, path := newStore(t)
	s.db.SetMaxOpenConns(1) // the page limit holds per connection
	mustAppend(t, s, Record{PointID: "first"})
	if _, err := s.db.Exec(`PRAGMA max_page_count = 20`); err != nil {
		t.Fatal(err)
	}
	_, err := s.Append(t.Context(), Record{PointID: "big", Reason: strings.Repeat("x", 1<<20)})
	if ProblemOf(err) != Full || !strings.Contains(err.Error(), "has no room left") {
		t.Errorf("got %v, want Full", err)
	}
	mustAppend(t, s, Record{PointID: "small"})
	if got := pointIDs(t, path); !slices.Equal(got, []string{"first", "small"}) {
		t.Errorf("stored: %v", got)
	}
}

func TestALockedStoreIsReportedAndRecovers(t *testing.T) {
	s, path := newStore(t)
	s.patience = 50 * time.Millisecond
	s.db.SetMaxOpenConns(1)
	if _, err := s.db.Exec(`PRAGMA busy_timeout = 50`); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", path+"?_txlock=exclusive")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Append(t.Context(), Record{PointID: "p"})
	if ProblemOf(err) != Locked || !strings.Contains(err.Error(), "is locked by another process: could not append repetition 0 of point p (waited 50ms)") {
		t.Errorf("got %v, want Locked", err)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, Record{PointID: "p"})
}

func TestAReadOnlyStoreTakesNoRecord(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		_, url := p.store(t)
		s, err := OpenReadOnly(url)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Append(t.Context(), Record{PointID: "p"}); err == nil || !strings.Contains(err.Error(), "was opened for reading only") {
			t.Errorf("Append: %v", err)
		}
	})
}

func TestARecordOfAnotherSchemaIsRefusedByNumber(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		for _, schema := range []int{0, 7} {
			s, _ := p.store(t)
			id := mustAppend(t, s, Record{PointID: "p"})
			if _, err := s.db.Exec(`UPDATE record SET schema = $1`, schema); err != nil {
				t.Fatal(err)
			}
			_, err := s.Records(t.Context(), Filter{})
			want := fmt.Sprintf("store %s holds record %d of another version of brokermark (schema %d, this one reads 1)", s.Name(), id, schema)
			if ProblemOf(err) != Version || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want Version saying %q", err, want)
			}
		}
	})
}

func TestEveryFieldOfARecordComesBackAsItWas(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		var want Record
		fill(t, reflect.ValueOf(&want).Elem(), new(int))
		want.Schema = Schema
		s, _ := p.store(t)
		want.ID = mustAppend(t, s, want)
		got, err := s.Records(t.Context(), Filter{})
		if err != nil || len(got) != 1 {
			t.Fatalf("%d records, %v", len(got), err)
		}
		if !reflect.DeepEqual(got[0], want) {
			g, _ := json.MarshalIndent(got[0], "", " ")
			w, _ := json.MarshalIndent(want, "", " ")
			t.Errorf("got  %s\nwant %s", g, w)
		}
	})
}

// fill gives every field a value of its own, so that two swapped or forgotten ones show.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Interface().(type) {
	case hist.Snapshot:
		h := hist.New()
		h.Record(int64(*n))
		v.Set(reflect.ValueOf(h.Snapshot()))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(*n), 123456789).UTC()))
		return
	case study.Sizes: // writes itself in its own words
		v.Set(reflect.ValueOf(study.Sizes{{Size: study.Size(*n), Weight: 1}, {Size: study.Size(*n + 1), Weight: 2}}))
		return
	case study.Consumers:
		v.Set(reflect.ValueOf(study.Consumers{*n, *n + 1}))
		return
	case study.Duration:
		v.Set(reflect.ValueOf(study.Duration(time.Duration(*n) * time.Second)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		fill(t, value, n)
		v.SetMapIndex(reflect.ValueOf(fmt.Sprintf("key%d", *n)), value)
	case reflect.Interface:
		v.Set(reflect.ValueOf(json.Number("9223372036854775807")))
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d <é|\">", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.1)
	default:
		t.Fatalf("a record now holds a %s: teach fill about it", v.Type())
	}
}

func TestAFilterSelects(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		mustAppend(t, s, Record{PointID: "a", Study: "x", Status: OK, Began: day})
		mustAppend(t, s, Record{PointID: "b", Study: "x", Status: Void, Repetition: 2, Began: day.Add(time.Hour), Spec: study.Spec{Broker: "kafka"}})
		kafka, err := s.Values(t.Context(), "broker")
		if err != nil || kafka != nil {
			t.Errorf("there is a record without a broker, and its brokers are %q, %v", kafka, err)
		}
		mustAppend(t, s, Record{PointID: "c", Study: "y", Status: OK, Began: day.Add(2 * time.Hour), Spec: study.Spec{Broker: "nats"}})
		many := []string{"b"}
		for i := range 2 * maxPointsPerQuery {
			many = append(many, fmt.Sprint("absent", i))
		}
		for _, c := range []struct {
			filter Filter
			want   string
		}{
			{Filter{Study: "z"}, ""},
			{Filter{}, "abc"},
			{Filter{Study: "x"}, "ab"},
			{Filter{Broker: "kafka"}, "ab"}, // a has none, or several
			{Filter{Study: "y", Broker: "nats"}, "c"},
			{Filter{PointIDs: []string{"c", "a"}}, "ac"},
			{Filter{PointIDs: many}, "b"},
			{Filter{Statuses: []Status{OK, Failed}}, "ac"},
			{Filter{Study: "x", Statuses: []Status{OK}, PointIDs: []string{"a", "b"}}, "a"},
			{Filter{PointPrefix: "b"}, "b"},
			{Filter{PointPrefix: "%"}, ""},
			{Filter{PointPrefix: "bb"}, ""},
			{Filter{Repetition: 2}, "b"},
			{Filter{From: day.Add(time.Hour)}, "bc"},
			{Filter{Before: day.Add(time.Hour)}, "a"},
			{Filter{Study: "x", From: day.Add(time.Hour), Before: day.Add(2 * time.Hour)}, "b"},
		} {
			records, err := s.Records(t.Context(), c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got string
			for _, r := range records {
				got += r.PointID
			}
			if got != c.want {
				t.Errorf("%+v: got %q, want %q", c.filter, got, c.want)
			}
		}
		for name, want := range map[string][]string{"study": {"x", "y"}, "status": {"ok", "void"}, "label": nil} {
			got, err := s.Values(t.Context(), name)
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	})
}

func TestFailedVoidAndAbortedRepetitionsAreNotDone(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		s, _ := p.store(t)
		for i, status := range []Status{OK, Failed, Void, Refused, Aborted, Failed} {
			mustAppend(t, s, Record{PointID: "p", Repetition: i + 1, Status: status})
		}
		mustAppend(t, s, Record{PointID: "p", Repetition: 2, Status: OK}) // run again on request
		mustAppend(t, s, Record{PointID: "other", Repetition: 1, Status: OK})
		many := []string{"p", "never ran"}
		for i := range 2 * maxPointsPerQuery {
			many = append(many, fmt.Sprint("absent", i))
		}
		done, err := s.Done(t.Context(), many)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[int]Status{1: OK, 2: OK, 4: Refused}; len(done) != 1 || !maps.Equal(done["p"], want) {
			t.Errorf("got %v, want %v for p only", done, want)
		}
	})
}
