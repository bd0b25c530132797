package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/browsertest"
	"github.com/brokermark/brokermark/internal/store"
)

// The course of a pipeline shows beside each tick what the broker and the meters said nearest to it.
func TestTheCourseOfAPipelineShowsItsQueueAndEachPart(t *testing.T) {
	var records []store.Record
	for _, r := range sweep(1) {
		if len(r.Spec.Faults) == 0 || r.Spec.Delivery != "at-least-once" {
			continue
		}
		p := &store.Pipeline{Parts: []store.PipelinePart{{Name: "client"}, {Name: "server"}}}
		for i, tick := range r.Result.Series {
			look := store.PipelineTick{OffsetNs: tick.OffsetNs + int64(r.Result.WarmupSeconds*1e9) + 2e8, CPU: []float64{0.25, 0.5}, RSSBytes: []int64{10 << 20, 20 << 20}}
			if i != 2 {
				look.Queue, look.Unacked, look.PublishedRate, look.DeliveredRate = new(int64(700+i)), new(int64(30)), new(321.0), new(123.0)
			}
			p.Series = append(p.Series, look)
		}
		r.Result.Pipeline = p
		r.Result.Faults[0].Part = "server-1"
		records = append(records, r)
	}
	b := open(t, summary(t, "pipeline", stored(t, records)), desktop)
	browsertest.Eval[bool](t, b, `(document.querySelector("#course details").open = true)`)
	heads := browsertest.Eval[[]string](t, b, `[...document.querySelectorAll("#course details thead th")].map(h => h.innerText)`)
	shown := rows(t, b, "#course details")
	if len(shown) < 4 {
		t.Fatalf("%d rows", len(shown))
	}
	told, untold := 0, 0
	for at, cells := range shown {
		cell := func(head string) string {
			i := slices.Index(heads, head)
			if i < 1 || i-1 >= len(cells) {
				t.Fatalf("no column %q in %q", head, heads)
			}
			return cells[i-1]
		}
		if got := cell("server, CPU") + " " + cell("client, CPU"); got != "0.500 0.250" && got != "0.5 0.25" {
			t.Errorf("at %s s the parts' CPU is %q", at, got)
		}
		if !strings.Contains(cell("server, memory"), "2") || cell("server, memory") == cell("client, memory") {
			t.Errorf("at %s s the memory is %q and %q", at, cell("server, memory"), cell("client, memory"))
		}
		if strings.HasPrefix(cell("waiting in the queue"), "7") && cell("unacknowledged") == "30" && strings.HasPrefix(cell("into the queue"), "321") && strings.HasPrefix(cell("out of the queue"), "123") {
			told++
		} else if strings.Trim(cell("waiting in the queue"), "–— ") == "" {
			untold++
		}
	}
	if told != len(shown)-1 || untold != 1 {
		t.Errorf("of %d looks %d are shown as told and %d as not told", len(shown), told, untold)
	}
	if words := browsertest.Eval[string](t, b, `document.querySelector("#course").innerText + [...document.querySelectorAll("#course [aria-label]")].map(e => e.ariaLabel).join()`); !strings.Contains(words, "server-1") {
		t.Errorf("the fault's part is not named: %.300s", words)
	}
	b.Quiet(t)
}
