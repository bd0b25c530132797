package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// counted are repetitions of one point with these books.
func counted(books ...store.Books) []store.Record {
	var records []store.Record
	for i, b := range books {
		r := point("x", time.Millisecond, 0)
		r.Repetition, r.Result.Books = i+1, b
		records = append(records, r)
	}
	return records
}

func TestALossInOneRepetitionIsNotAveragedAway(t *testing.T) {
	lossy, clean := store.Books{Sent: 10_000, Expected: 20_000, Lost: 5000}, store.Books{Sent: 10_000, Expected: 20_000}
	for _, records := range [][]store.Record{counted(clean, lossy, clean), counted(lossy, clean, clean), counted(clean, clean, lossy)} {
		for text, want := range map[string]string{
			"lost > 0":     "failed x: 5000 in all (n=3)",
			"lost > 5000":  "passed x: 5000 in all (n=3)",
			"lost > 8%":    "failed x: 8.33 % in all (n=3)", // 5,000 of 60,000
			"lost >= 8.4%": "passed x: 8.33 % in all (n=3)",
		} {
			if got := judge(t, text, records...); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		}
	}
}

// countsOf are the counts a gate knows, and what 100 % of each are.
var countsOf = map[string]struct {
	set   func(*store.Books, int64)
	whole func(store.Books) int64 // nil: nothing
}{
	"due":        {func(b *store.Books, n int64) { b.Due = n }, nil},
	"unsent":     {func(b *store.Books, n int64) { b.Unsent = n }, due},
	"sent":       {func(b *store.Books, n int64) { b.Sent = n }, due},
	"acked":      {func(b *store.Books, n int64) { b.Acked = n }, sent},
	"failed":     {func(b *store.Books, n int64) { b.Failed = n }, sent},
	"unresolved": {func(b *store.Books, n int64) { b.Unresolved = n }, sent},
	"resent":     {func(b *store.Books, n int64) { b.Resent = n }, sent},
	"received":   {func(b *store.Books, n int64) { b.Received = n }, expected},
	"lost":       {func(b *store.Books, n int64) { b.Lost = n }, expected},
	"lost_acked": {func(b *store.Books, n int64) { b.LostAcked = n }, expected},
	"dropped":    {func(b *store.Books, n int64) { b.Dropped = n }, expected},
	"duplicated": {func(b *store.Books, n int64) { b.Duplicated = n }, expected},
	"reordered":  {func(b *store.Books, n int64) { b.Reordered = n }, expected},
	"corrupted":  {func(b *store.Books, n int64) { b.Corrupted = n }, expected},
}

func due(b store.Books) int64      { return b.Due }
func sent(b store.Books) int64     { return b.Sent }
func expected(b store.Books) int64 { return b.Expected }

// holds is what each operator means, as an oracle.
var holds = map[string]func(v, limit float64) bool{
	">": func(v, l float64) bool { return v > l }, ">=": func(v, l float64) bool { return v >= l },
	"<": func(v, l float64) bool { return v < l }, "<=": func(v, l float64) bool { return v <= l },
	"==": func(v, l float64) bool { return v == l }, "!=": func(v, l float64) bool { return v != l },
}

func TestEveryCountIsJudgedByItsSumAndByTheSumsShare(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 9))
	for _, m := range results.Metrics {
		if _, known := countsOf[m.Key]; m.Unit == unit.Count && !known {
			t.Errorf("the count %s is in no test", m.Key)
		}
	}
	for key, c := range countsOf {
		for range 20 {
			var books []store.Books
			var sum, whole int64
			for range 1 + random.IntN(4) {
				b := store.Books{Due: 1000 + random.Int64N(1000), Sent: 2000 + random.Int64N(1000), Expected: 5000 + random.Int64N(1000)}
				n := 1 + random.Int64N(900)
				c.set(&b, n)
				sum += n
				if c.whole != nil {
					whole += c.whole(b)
				}
				books = append(books, b)
			}
			for operator, beyond := range holds {
				for _, limit := range []int64{sum - 1, sum, sum + 1} {
					text := fmt.Sprintf("%s %s %d", key, operator, limit)
					if got := judge(t, text, counted(books...)...); strings.HasPrefix(got, "failed") != beyond(float64(sum), float64(limit)) {
						t.Fatalf("%s of %d: %s", text, sum, got)
					}
				}
				if c.whole == nil {
					continue
				}
				share := 100 * float64(sum) / float64(whole)
				for _, limit := range []float64{share * 0.99, share * 1.01} {
					text := fmt.Sprintf("%s %s %.12f%%", key, operator, limit)
					if got := judge(t, text, counted(books...)...); strings.HasPrefix(got, "failed") != beyond(share, limit) {
						t.Fatalf("%s of %g %%: %s", text, share, got)
					}
				}
			}
		}
	}
}

func TestAMissingCountIsUnknownAndNotZero(t *testing.T) {
	imported := counted(store.Books{})
	for _, text := range []string{"unsent > 0", "unsent > 1%", "due < 1", "sent < 99%", "pause_p99 > 1h"} {
		if got := judge(t, text, imported...); !strings.HasPrefix(got, "skipped x: ") || !strings.HasSuffix(got, "failed all points: no point has a value to judge") {
			t.Errorf("%s: %s", text, got)
		}
	}
	both := append(counted(store.Books{Due: 1000, Unsent: 100, Sent: 900, Expected: 900}), imported...)
	both[1].Repetition = 2
	if got, want := judge(t, "unsent > 9.9%", both...), "failed x: 10.0 % (n=1)"; got != want {
		t.Errorf("of one repetition that counts and one that doesn't: %s, want %s", got, want)
	}
	if got, want := judge(t, "unsent > 100", both...), "passed x: 100 (n=1)"; got != want {
		t.Errorf("of one repetition that counts and one that doesn't: %s, want %s", got, want)
	}
}

func TestOwnPausesAreBoundedLikeLatencies(t *testing.T) {
	r := point("x", time.Millisecond, 0)
	h := hist.New()
	for range 98 {
		h.Record(int64(50 * time.Microsecond))
	}
	h.Record(int64(40 * time.Millisecond))
	h.Record(int64(40 * time.Millisecond))
	r.Result.Pauses = &store.Pauses{Late: h.Snapshot(), LongestNs: int64(41 * time.Millisecond)}
	for text, want := range map[string]string{
		"pause_p99 > 10ms":    "failed x: 40.",
		"pause_p99_ns > 50ms": "passed x: 40.",
		"pause_max > 40ms":    "failed x: 41.0 ms (n=1)",
	} {
		if got := judge(t, text, r); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s…", text, got, want)
		}
	}
}

func TestMeansBacklogsAndSharesOfACoreAreBounded(t *testing.T) {
	r := point("x", 20*time.Millisecond, 0)
	r.Result.PublishRate, r.Result.PayloadSize, r.Result.BacklogMax = 2000, 10_000, new(int64(512))
	r.Result.Cost = store.Cost{BrokerKnown: true, Shares: &store.Shares{Seconds: 10, Broker: 1.5, BrokerUser: 1.2, BrokerSystem: 0.3}}
	for text, want := range map[string]string{
		"e2e_mean > 10ms":            "failed x: 20.0 ms (n=1)",
		"publish_mb_s < 20.5":        "failed x: 20 (n=1)",
		"backlog_max > 1k":           "passed x: 512 (n=1)",
		"broker_cpu_user > 100%":     "failed x: 120 % (n=1)",
		"broker_cpu_user_pct > 150":  "passed x: 120 (n=1)",
		"broker_cpu_system >= 31.5%": "passed x: 30.0 % (n=1)",
	} {
		if got := judge(t, text, r); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestAThresholdOverNothingNeverPasses(t *testing.T) {
	refused := ended(store.Refused, "can't")
	empty := point("empty", time.Millisecond, 0)
	empty.Result = &store.Result{}
	none := point("none", time.Millisecond, 0)
	none.Result = nil
	for _, m := range results.Metrics {
		for operator := range holds {
			value := map[unit.Unit]string{unit.Nanoseconds: "1s", unit.Seconds: "1s", unit.Bytes: "1KiB"}[m.Unit]
			if value == "" {
				value = "1"
			}
			text := fmt.Sprintf("%s %s %s", m.Key, operator, value)
			for _, records := range [][]store.Record{nil, {refused}, {none}, {refused, none}} {
				c, err := gate.Parse(text)
				if err != nil {
					t.Fatal(err)
				}
				if v := gate.Judge(results.Of(records), []gate.Condition{c}); gate.Failures(v) != 1 || v[len(v)-1].Outcome != gate.Failed {
					t.Errorf("%s over %d records without a value: %+v", text, len(records), v)
				}
			}
			if v := m.Of(empty); v != v { // not measured either
				if got := judge(t, text, empty); !strings.HasSuffix(got, "failed all points: no point has a value to judge") {
					t.Errorf("%s: %s", text, got)
				}
			}
			change, err := gate.ParseChange(fmt.Sprintf("%s %s 5%%", m.Key, operator))
			if err != nil {
				t.Fatal(err)
			}
			if v := gate.Changes(nil, []gate.Condition{change}, false); gate.Failures(v) != 1 {
				t.Errorf("a change of %s over nothing: %+v", m.Key, v)
			}
		}
	}
}

// A share of what was never offered or sent is unknown, whatever else the repetition counted.
func TestAShareOfNothingIsUnknown(t *testing.T) {
	for name, whole := range map[string]func(*store.Measurement){
		"sent":     func(m *store.Measurement) { m.Books.Sent = 0 },
		"due":      func(m *store.Measurement) { m.Books.Due = 0 },
		"expected": func(m *store.Measurement) { m.Books.Expected = 0 },
		"offered":  func(m *store.Measurement) { m.OfferedRate = 0 },
	} {
		r := point("x", time.Millisecond, 0)
		r.Result.Books = store.Books{Due: 9, Sent: 9, Unsent: 9, Acked: 9, Failed: 9, Unresolved: 9, Resent: 9, Expected: 9, Received: 9, Lost: 9, LostAcked: 9, Dropped: 9, Duplicated: 9, Reordered: 9, Corrupted: 9}
		whole(&r.Result.Measurement)
		for _, metric := range map[string][]string{
			"sent": {"acked", "failed", "unresolved", "resent", "receive_rate"}, "due": {"sent", "unsent"},
			"expected": {"received", "lost", "lost_acked", "dropped", "duplicated", "reordered", "corrupted", "receive_rate"}, "offered": {"publish_rate", "receive_rate"},
		}[name] {
			if got := judge(t, metric+" >= 0%", r); !strings.HasSuffix(got, "failed all points: no point has a value to judge") {
				t.Errorf("%s, nothing %s: %s", metric, name, got)
			}
		}
	}
}

func TestValuesOfEveryUnitAreReadBackAsTheyWereWritten(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 13))
	record := point("x", time.Millisecond, 0)
	record.Result.Count = &store.Count{}
	record.Result.Backlog = &store.Backlog{}
	for range 200 {
		n := 1 + random.Int64N(900)
		record.Result.Count.TotalSeconds = float64(n) / 1000
		record.Result.Backlog.DrainRate = float64(n) * 1e3
		record.Result.Cost.BrokerRSSBytes = n << 10
		record.Result.Cost.BrokerUserSeconds = float64(n) * 1e-6
		record.Result.Cost.Messages = 1
		record.Result.Books.Received = n * 1e6
		for text, unit := range map[string]string{
			"total": "ms", "drain_rate": "k/s", "broker_rss": "KiB", "broker_cpu": "s", "received": "M",
		} {
			for _, c := range []struct {
				limit string
				want  string
			}{{fmt.Sprintf("> %d.5%s", n-1, unit), "failed"}, {fmt.Sprintf("> %d.5%s", n, unit), "passed"}, {fmt.Sprintf("< %d.5 %s", n, unit), "failed"}} {
				if unit == "KiB" { // whole bytes
					c.limit = strings.Replace(c.limit, ".5", "", 1)
					if c.want == "failed" && strings.HasPrefix(c.limit, "<") {
						continue
					}
				}
				if got := judge(t, text+" "+c.limit, record); !strings.HasPrefix(got, c.want) {
					t.Fatalf("%s %s of %d%s: %s", text, c.limit, n, unit, got)
				}
			}
		}
	}
	for range 20 { // whatever the order in which they are tried
		for _, value := range []string{"10kM", "10 k M", "10Gk", "10kk"} {
			if _, err := gate.Parse("received > " + value); err == nil {
				t.Fatalf("%s is a number", value)
			}
		}
	}
}
