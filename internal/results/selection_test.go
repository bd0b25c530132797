package results

import (
	"context"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
)

// What the database selects is no less than what the terms do, whatever they name.
func TestADatabaseSelectsWhatTheTermsDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	records := storetest.Demo()
	records[3].Study, records[4].Study = "", "a, b"
	records[5].Axes = map[string]string{"broker": "fast kafka"} // a choice of an axis
	for i := range records {
		records[i].Result = nil // for speed
		if records[i].ID, err = st.Append(t.Context(), records[i]); err != nil {
			t.Fatal(err)
		}
	}
	exprs := []string{"", "broker=kafka", "broker=fast kafka", "broker=", "study=", "study=a, b", "study=head-to-head,study=a, b", "status=,label=x", "repetition=02", "point=%", "began=2026-13"}
	for name, values := range Selectable(records) {
		if len(values) == 0 {
			continue
		}
		exprs = append(exprs, name+"="+values[0])
		if _, own := ownProperties(records[0])[name]; !own {
			continue
		}
		for _, v := range values {
			exprs = append(exprs, "repetition=2,"+name+"="+v)
		}
		for n := range len(values[0]) {
			exprs = append(exprs, name+"="+values[0][:n])
		}
	}
	for _, expr := range exprs {
		got, err := store.Collect(Select(t.Context(), st, expr))
		want, none := selected(t, records, expr)
		if len(got) != len(want) || (err == nil) != (none == nil) || err != nil && err.Error() != none.Error() {
			t.Errorf("%q: %d records, %v; want %d, %v", expr, len(got), err, len(want), none)
		}
		if !slices.EqualFunc(got, want, func(a, b store.Record) bool { return a.ID == b.ID }) {
			t.Errorf("%q selects others, or in another order", expr)
		}
	}
}

// asked is a source that keeps the filters that it was given.
type asked struct{ filters []store.Filter }

func (a *asked) Each(ctx context.Context, f store.Filter) iter.Seq2[store.Record, error] {
	a.filters = append(a.filters, f)
	return storetest.Records(storetest.Demo()).Each(ctx, f)
}

func TestTheDatabaseIsAskedForWhatItHasColumnsOf(t *testing.T) {
	var source asked
	if _, err := store.Collect(Select(t.Context(), &source, "study=head-to-head,broker=kafka,status=ok,point_id=kafka,repetition=2,began=2026-03-01T09")); err != nil {
		t.Fatal(err)
	}
	from := storetest.Began.Truncate(60 * 60 * 1e9)
	want := []store.Filter{{
		Study: "head-to-head", Broker: "kafka", Statuses: []store.Status{store.OK}, PointPrefix: "kafka", Repetition: 2, From: from, Before: from.Add(60 * 60 * 1e9),
	}}
	if !reflect.DeepEqual(source.filters, want) {
		t.Errorf("asked for %+v, want %+v", source.filters, want)
	}
}

// watched is a store that keeps the filters that it was given.
type watched struct {
	*store.Store
	filters []store.Filter
}

func (w *watched) Each(ctx context.Context, f store.Filter) iter.Seq2[store.Record, error] {
	w.filters = append(w.filters, f)
	return w.Store.Each(ctx, f)
}

func TestNoStoreIsReadThroughBecauseOfATypingMistake(t *testing.T) {
	st, err := store.Open(filepath.Join(t.TempDir(), "s.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for _, r := range storetest.Demo()[:4] {
		if _, err := st.Append(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		expr, says string
		reads      []store.Filter
	}{
		{"study=head-to-hed", "no record has study=head-to-hed; there are: head-to-head", nil},
		{"broker=kavka,version=1", "no record has broker=kavka; there are: kafka, rabbitmq", []store.Filter{{Broker: "kavka"}}},
		{"status=OK", "no record has status=OK; there are: ok", nil},
		{"study=head-to-head,acks=0", "no record with study=head-to-head has acks=0; there are: leader", []store.Filter{{Study: "head-to-head"}}},
	} {
		w := &watched{Store: st}
		_, err := store.Collect(Select(t.Context(), w, c.expr))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.expr, err)
		}
		if got := w.filters[1:]; !slices.EqualFunc(got, c.reads, func(a, b store.Filter) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%s: read %+v", c.expr, got)
		}
	}
}
