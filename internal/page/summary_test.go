package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/reports"
)

func TestAVerdictIsACardWhateverItsWords(t *testing.T) {
	v := document.Verdict{About: "100 B: a setting", Finding: "Nobody knows. Nothing is sure.", Detail: "Highest guess: 7."}
	out := cards([]document.Block{document.Paragraph{Text: "4 repetitions."}, v})
	for _, want := range []string{"<p>4 repetitions.</p>", "<article class=\"verdict\">", ">100 B: a setting</h3>", "<p>Nobody knows. Nothing is sure.</p>", "<p>Highest guess: 7.</p>"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("want %s once in %s", want, out)
		}
	}
	if out := withoutShown([]document.Block{v, document.Paragraph{Text: "4 repetitions."}, document.Paragraph{Text: "new"}}, []document.Block{document.Paragraph{Text: "4 repetitions."}}); len(out) != 1 {
		t.Errorf("left are %v", out)
	}
	warning := document.Warning{About: "these", Differ: []string{"host.cores: 2, 8"}}
	if out := withoutShown([]document.Block{warning}, []document.Block{warning}); len(out) != 0 {
		t.Errorf("a warning stands twice: %v", out)
	}
	both := verdictsFirst([]document.Block{document.Heading{Level: 1, Text: "h"}, v, document.Paragraph{Text: "figure"}})
	if card, figure := strings.Index(both, "Nobody knows"), strings.Index(both, "figure</p>"); card < 0 || figure < card {
		t.Errorf("the verdict doesn't come before the figures: %s", both)
	}
}

func TestAPageShowsEveryGoalOfASearch(t *testing.T) {
	r := store.Record{PointID: "1", Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "sustainable"}, Result: &store.Result{}}
	r.Result.Sustainable = &store.Sustainable{HeldNs: 20e9, Low: 500, High: 520, Goals: []store.GoalResult{
		{Low: 500, High: 520, Conditional: 499}, {LatencyNs: 2e6, Quantile: 0.9, Undecided: "no rate passed"},
	}}
	texts, err := compose(Source{Set: results.Of([]store.Record{r})})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<caption>Goals of the searches</caption>", "no latency bound", "499/s", "p90 ≤ 2ms", "too short: no rate passed"} {
		if !strings.Contains(texts.below, want) {
			t.Errorf("no %q in %s", want, texts.below)
		}
	}
}

// A reader sees who sustains what, at which latency and cost, before the first sentence.
func TestThePageOpensWithAPictureOfEveryContender(t *testing.T) {
	records := storetest.Demo()
	for i := range records {
		records[i].Spec.Faults = nil // the latency of a fault trial is not drawn
	}
	texts, err := compose(Source{Set: results.Of(records)})
	if err != nil {
		t.Fatal(err)
	}
	picture, text, _ := strings.Cut(texts.above, "<p")
	for _, want := range []string{"At a glance", "Sustainable rate", "End-to-end p99 at fixed rates", "CPU-seconds per million", "<span class=\"bar c"} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %s before the first sentence", want)
		}
	}
	for _, p := range results.Of(storetest.Demo()).Points {
		if !strings.Contains(picture, ">"+p.Name+"</th>") {
			t.Errorf("%s is not in the picture", p.Name)
		}
	}
	if !strings.Contains(text, "<h2>Verdict</h2>") {
		t.Error("the verdict doesn't come after the picture")
	}
	if texts, err := compose(Source{Set: results.Of(nil)}); err != nil || strings.Contains(texts.above, "At a glance") {
		t.Errorf("a picture of nothing: %v, %s", err, texts.above)
	}
}

func TestOneRecordWithoutADateHidesTheOthersDatesNot(t *testing.T) {
	day := func(text string) store.Record {
		if text == "" {
			return store.Record{}
		}
		began, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return store.Record{Began: began}
	}
	for want, days := range map[string][]string{
		"2026-03-01 to 2026-03-04": {"", "2026-03-04", "2026-03-01"},
		"2026-03-04":               {"2026-03-04", ""},
		"":                         {"", ""},
	} {
		var records []store.Record
		for _, d := range days {
			records = append(records, day(d))
		}
		if got := origin(Source{Set: results.Of(records)}); got != want {
			t.Errorf("%q: %q, want %q", days, got, want)
		}
	}
}

func TestAPageFoldsAwayGroupsWithAllThatStandsBelowThem(t *testing.T) {
	set := results.Of(storetest.Demo())
	duel := reports.HeadToHead(set)
	duel.Groups = slices.Concat(duel.Groups, duel.Groups)
	for i, g := range duel.Groups { // each has a second table with charts
		duel.Groups[i].Blocks = slices.Concat(g.Blocks, g.Blocks)
		duel.Groups[i].Caution = "Not alike: one flushed."
	}
	out := charts(duel, set.Points)
	if headings := strings.Count(out, "<h3"); headings != len(duel.Groups) {
		t.Errorf("%d headings over the charts of %d groups", headings, len(duel.Groups))
	}
	if warned := strings.Count(out, duel.Groups[0].Caution); warned != len(duel.Groups) {
		t.Errorf("of the charts of %d groups %d say what the brokers did differently", len(duel.Groups), warned)
	}
	if more := fmt.Sprintf("More sizes and guarantees (%d)", len(duel.Groups)-maxOpenGroups); !strings.Contains(out, more) {
		t.Errorf("no %q", more)
	}
}

// The front end gives colours to names in the order of their letters (web/src/main.ts), and has eight.
func TestAContenderHasTheColourOfItsLines(t *testing.T) {
	var points []results.Point
	for i := 9; i >= 0; i-- {
		points = append(points, results.Point{Name: fmt.Sprint(i)}, results.Point{Name: fmt.Sprint(i)})
	}
	colour := colours(points)
	for i := range 10 {
		if got := colour(fmt.Sprint(i)); got != i%8 {
			t.Errorf("name %d has colour %d", i, got)
		}
	}
}

func TestAPageIsNotFinishedForARequestThatEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := store.Record{PointID: "1", Status: store.OK, Spec: study.Spec{Broker: "kafka", Measure: "peak"}, Result: &store.Result{}}
	if err := Summary(io.Discard, Source{Set: results.Of([]store.Record{r}), Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("the page ends with %v", err)
	}
}
