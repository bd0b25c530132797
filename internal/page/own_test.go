package page

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/reports"
)

func TestAPageNamesOwnPausesBooksAndDoubtsOfEachLoad(t *testing.T) {
	late := hist.New()
	for range 200 {
		late.Record(int64(3 * time.Millisecond))
	}
	r := storetest.Demo()[1]
	for i := range r.Result.Curve {
		l := &r.Result.Curve[i]
		l.Series = []store.Tick{{OffsetNs: 0, Phase: "measure"}, {OffsetNs: 5e8, Phase: "measure"}}
		l.Books.Due, l.Books.Unsent = 100, int64(i)
		l.Doubts = []store.Doubt{{Code: "generator-lag", Text: "of all"}, {Code: "loss", Text: strings.Repeat("x", i+1)}}
		l.Pauses = &store.Pauses{
			Late: late.Snapshot(), LongestNs: 40e6, LongestOffsetNs: 1.5e9, GCPauseNs: 2e6, StolenSeconds: 0.25, QueuedSeconds: 0.75,
		}
	}
	d := figuresOf(results.Of([]store.Record{r}))
	n := len(r.Result.Curve)
	if len(d.Runs) != n || len(d.LoadPoints) != n || len(d.Doubts) != n+1 {
		t.Fatalf("%d runs, %d levels, %d doubts of %d rates", len(d.Runs), len(d.LoadPoints), len(d.Doubts), n)
	}
	for i, run := range d.Runs {
		own, err := json.Marshal(run.Pauses)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(own); !strings.HasPrefix(got, `{"p99":300`) || !strings.HasSuffix(got, `,"max":40000000,"t":1.5,"gc":2000000,"stolen":0.25,"queued":0.75}`) {
			t.Errorf("%s: own pauses %s", run.Load, got)
		}
		counts := map[string]number{}
		for _, c := range run.Books {
			counts[c.Name] = c.N
		}
		if counts["due"] != 100 || counts["never sent"] != number(i) || len(run.Doubts) != 2 {
			t.Errorf("%s: books %v, doubts %v", run.Load, run.Books, run.Doubts)
		}
	}
	for i, l := range d.LoadPoints {
		if l.Pauses == nil || l.Pauses.N != 200 || l.Pauses.Max != 3e6 || len(l.Pauses.Values) == 0 {
			t.Errorf("%s: own pauses %+v", l.Load, l.Pauses)
		}
		if len(l.Doubts) != 2 || d.Doubts[l.Doubts[0]] != (doubted{"generator", "of all"}) || d.Doubts[l.Doubts[1]] != (doubted{"not everything came", strings.Repeat("x", i+1)}) {
			t.Errorf("%s: doubts %v of %v", l.Load, l.Doubts, d.Doubts)
		}
	}
}

// Among more points, the same point has a longer name.
func TestAPointOfBothSidesIsNotPooledThoughItsNamesDiffer(t *testing.T) {
	r := storetest.Demo()[1]
	r.Axes = map[string]string{"linger": "5"}
	other := r
	other.PointID, other.Axes = "other", map[string]string{"linger": "10"}
	before := reports.Side{Name: "before", Set: results.Of([]store.Record{r})}
	after := reports.Side{Name: "after", Set: results.Of([]store.Record{r, other})}
	if before.Set.Points[0].Name == after.Set.Points[0].Name {
		t.Fatal("the names are equal")
	}
	if points := results.Of(recordsOf(before, after)).Points; len(points) != 3 {
		t.Errorf("%d points of 1 and 2", len(points))
	}
}
