package reports

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/store"
)

func TestLostMessagesAreListedByTheirNumbers(t *testing.T) {
	if got := lostRanges(store.Stream{LostRanges: [][2]int64{{1, 3}, {7, 7}, {9, 10}}, LostRangesCut: true}); got != "1–3 7 9–10 …" {
		t.Errorf("got %q", got)
	}
	if got := lostRanges(store.Stream{LostRanges: [][2]int64{{5, 5}}}); got != "5" {
		t.Errorf("got %q", got)
	}
	// Every count of the books has its own column.
	b := store.Books{Due: 1, Unsent: 2, Sent: 3, Acked: 4, Failed: 5, Unresolved: 6, Expected: 7, Received: 8, Lost: 9, LostAcked: 10, Duplicated: 11, Reordered: 12, Corrupted: 13, Resent: 14, Dropped: 15}
	want := map[string]float64{
		"due": 1, "unsent": 2, "sent": 3, "acked": 4, "failed": 5, "unresolved": 6, "expected": 7, "received": 8, "lost": 9, "lost_acked": 10,
		"duplicated": 11, "reordered": 12, "corrupted": 13, "resent": 14, "dropped": 15,
	}
	itself := func(b store.Books) store.Books { return b }
	columns := countColumns(bookKeys, nil, itself)
	if len(columns) != len(want) {
		t.Fatalf("%d columns, %d counts", len(columns), len(want))
	}
	for _, c := range columns {
		if c.cell(b).Number != want[c.Key] || c.MachinesOnly {
			t.Errorf("%s is %v, want %v", c.Key, c.cell(b).Number, want[c.Key])
		}
	}
	of := countColumns(streamKeys, hiddenColumns{"lost": true}, itself)
	if len(of) >= len(columns) {
		t.Errorf("of a stream there are %d columns", len(of))
	}
	for _, c := range of {
		if c.MachinesOnly != (c.Key == "lost") || c.Key == "resent" || c.Key == "dropped" {
			t.Errorf("%s: %+v", c.Key, c)
		}
	}
}

func TestALedgerShowsTheColumnsThatSaySomething(t *testing.T) {
	hidden := func(records []store.Record) string {
		var keys []string
		for _, c := range build(t, "ledger", records).Tables()[0].Columns {
			if c.MachinesOnly {
				keys = append(keys, c.Key)
			}
		}
		return strings.Join(keys, " ")
	}
	once := atRate("kafka", 1)
	with := func(change func(*store.Record)) []store.Record { return altered(once, "", change) }
	base := hidden(once)
	for key, records := range map[string][]store.Record{
		"repetition": atRate("kafka", 2),
		"resent":     with(func(r *store.Record) { r.Result.Books.Resent = 1 }),
		"dropped":    with(func(r *store.Record) { r.Result.Books.Dropped = 1 }),
		"expected":   with(func(r *store.Record) { r.Result.Books.Expected *= 2 }),
	} {
		if !strings.Contains(base, key) || strings.Contains(hidden(records), key) {
			t.Errorf("%s: hidden are %q, else %q", key, hidden(records), base)
		}
	}
	faultless := string(rendered(t, build(t, "ledger", once), "markdown", 0))
	unknown := string(rendered(t, build(t, "ledger", with(func(r *store.Record) { r.Result.Books.Duplicated = 1 })), "markdown", 0))
	known := string(rendered(t, build(t, "ledger", with(func(r *store.Record) {
		r.Result.Books.Lost = 1
		r.Result.Streams = []store.Stream{{Topic: "t", LostRanges: [][2]int64{{4, 4}}}}
	})), "markdown", 0))
	for text, words := range map[string]string{faultless: "No stream shows a fault", unknown: "was not recorded", known: "Faults: kafka"} {
		for _, other := range []string{"No stream shows a fault", "was not recorded", "Faults: kafka"} {
			if strings.Contains(text, other) != (other == words) {
				t.Errorf("%q: %v in %s", other, other != words, text)
			}
		}
	}
	lost := func(point string, streams []store.Stream) []store.Record {
		return altered(once, point, func(r *store.Record) { r.Result.Books.Lost, r.Result.Streams = 1, streams })
	}
	both := slices.Concat(lost("a", []store.Stream{{Topic: "t", LostRanges: [][2]int64{{4, 4}}}}), lost("b", nil))
	if text := string(rendered(t, build(t, "ledger", both), "markdown", 0)); !strings.Contains(text, "the faults of other repetitions were in was not recorded") {
		t.Errorf("one of two records has streams: %s", text)
	}
	resentText := string(rendered(t, build(t, "ledger", with(func(r *store.Record) { r.Result.Books.Resent = 1 })), "markdown", 0))
	if !strings.Contains(resentText, "Resent: sent once more") || strings.Contains(faultless, "Resent:") {
		t.Error("resent messages aren't explained where there are any")
	}
}

// Whichever count of the books is not what it should be, the ledger doesn't say that all is well.
func TestAnyFaultInTheBooksIsAFault(t *testing.T) {
	counts := []func(*store.Books) *int64{
		func(b *store.Books) *int64 { return &b.Lost }, func(b *store.Books) *int64 { return &b.Duplicated },
		func(b *store.Books) *int64 { return &b.Reordered }, func(b *store.Books) *int64 { return &b.Corrupted },
	}
	for i, first := range counts {
		for k, second := range counts {
			records := altered(atRate("kafka", 1), "", func(r *store.Record) { *first(&r.Result.Books), *second(&r.Result.Books) = 1, 1 })
			if text := string(rendered(t, build(t, "ledger", records), "markdown", 0)); strings.Contains(text, "No stream shows a fault") {
				t.Errorf("counts %d and %d are no fault", i, k)
			}
		}
	}
	due := func(unsent int64) string {
		records := altered(atRate("kafka", 1), "", func(r *store.Record) { r.Result.Books.Due, r.Result.Books.Unsent = r.Result.Books.Sent+unsent, unsent })
		return string(rendered(t, build(t, "ledger", records), "markdown", 0))
	}
	for unsent, told := range map[int64]bool{0: false, 1: true} {
		if text := due(unsent); strings.Contains(text, "Due: by the schedule") != told || strings.Contains(text, "| due |") != told {
			t.Errorf("%d unsent are told: %v\n%s", unsent, !told, text)
		}
	}
	bare := []store.Record{{PointID: "p", Status: store.OK, Result: &store.Result{}}}
	if d := build(t, "ledger", bare); len(d.Tables()) != 1 || len(d.Tables()[0].Rows) != 1 {
		t.Error("a repetition without books has no row")
	}
}

func TestARepetitionAndWhatIsLeftOutAreShownWhereThereAreAny(t *testing.T) {
	one := through("redis", "at-least-once", "log", kill, store.Books{})
	two := one
	two.Repetition = 2
	for n, records := range [][]store.Record{{one}, {one, two}} {
		text := string(rendered(t, build(t, "promise", records), "terminal", 150))
		if strings.Contains(text, "rep.") != (n > 0) || strings.Contains(text, "Left out") {
			t.Errorf("%d repetitions:\n%s", n+1, text)
		}
	}
	if text := string(rendered(t, build(t, "promise", append(atRate("kafka", 2), one)), "terminal", 150)); !strings.Contains(text, "Left out: 2 records without a fault.") {
		t.Errorf("two records are left out silently:\n%s", text)
	}
}

// A rate of one message per second is a rate of its own like any other.
func TestTheSlowestRateOfACurveHasItsOwnBooks(t *testing.T) {
	r := curved(1)
	r.Result.Sustainable, r.Result.Curve = nil, r.Result.Curve[:1]
	l := &r.Result.Curve[0]
	l.Rate, l.Fraction, l.Books.Lost, l.Books.Received = 1, 0, 1, l.Books.Received-1
	text := string(rendered(t, build(t, "ledger", []store.Record{r}), "markdown", 0))
	if !strings.Contains(text, "was not recorded") {
		t.Errorf("its loss is not told:\n%s", text)
	}
	l.Books, l.Doubts = store.Books{}, nil
	if text := string(rendered(t, build(t, "ledger", []store.Record{r}), "markdown", 0)); !strings.Contains(text, "No record holds a ledger.") {
		t.Errorf("books that were not kept:\n%s", text)
	}
}

// A tool that doesn't count says nothing of losses, and no report says for it that there were none.
func TestALedgerIsSilentOfWhatWasNotCounted(t *testing.T) {
	counted := atRate("kafka", 1)
	uncounted := altered(counted, "uncounted", func(r *store.Record) { r.Result.Books = store.Books{} })
	for _, c := range []struct {
		records   []store.Record
		says      string
		saysNever []string
	}{
		{uncounted, "what was lost there is not known", []string{"nothing was lost", "shows a fault"}},
		{slices.Concat(counted, uncounted), "No stream that was counted shows a fault.", []string{"nothing was lost"}},
		{counted, "nothing was lost", []string{"is not known", "that was counted"}},
		{slices.Concat([]store.Record{withUnknownOrder(store.Books{})}, uncounted), "No stream that was counted is known to have a fault.", []string{"shows a fault"}},
	} {
		d := build(t, "ledger", c.records)
		text := string(rendered(t, d, "markdown", 0))
		for _, never := range c.saysNever {
			if strings.Contains(text, never) {
				t.Errorf("%q in\n%s", never, text)
			}
		}
		if !strings.Contains(text, c.says) {
			t.Errorf("no %q in\n%s", c.says, text)
		}
	}
	row := build(t, "ledger", uncounted).Tables()[0].Rows[0]
	for _, key := range []string{"sent", "lost", "lost_acked"} {
		if row[key].Kind != document.Blank {
			t.Errorf("%s is %+v, though nothing was counted", key, row[key])
		}
	}
}
