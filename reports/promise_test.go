package reports

import (
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/render"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

// through is a record of 10,000 messages through a fault, with what went wrong.
func through(broker, delivery, persistence string, fault study.Fault, wrong store.Books) store.Record {
	p := product{storetest.Product{Name: broker, Version: "4.1", Client: "x@v1", Sustains: 1e5, P50: 1e6}}
	r := p.record(100, delivery, 1000, 1)
	fault.At = study.Duration(2 * time.Second)
	r.Study, r.Spec.Persistence, r.Spec.Faults, r.Spec.Ordering = "proof", persistence, []study.Fault{fault}, "ordered"
	r.PointID += persistence + fault.Do + fault.Node
	b := r.Result.Books
	b.Acked, b.Failed = b.Sent-wrong.Failed, wrong.Failed
	b.Lost, b.LostAcked = wrong.LostAcked+wrong.Lost, wrong.LostAcked
	b.Received = b.Expected - b.Lost
	b.Duplicated, b.Reordered, b.Resent = wrong.Duplicated, wrong.Reordered, wrong.Resent
	r.Result.Books = b
	if delivery != "at-least-once" {
		waits := map[string]int64{"kafka": 45e9}[broker] // others: only when a connection ends
		r.Result.Listened = &store.Listened{Ns: min(60e9, waits+1e9), RedeliveryNs: waits}
		if waits == 0 {
			r.Result.Listened.Ns = 0
		}
	}
	r.Result.Outage = &store.Outage{ReceiveNs: 1.4e9, PublishNs: 1.3e9, SampleNs: 20e6}
	r.Result.Faults = []store.FaultEvent{{OffsetNs: 2e9, Do: fault.Do, Node: 1}}
	if fault.For > 0 {
		end := map[string]string{"pause": "resume", "kill": "restart"}[fault.Do]
		r.Result.Faults = append(r.Result.Faults, store.FaultEvent{OffsetNs: 3e9, Do: end, Node: 1})
	}
	if wrong.LostAcked > 0 && delivery != "at-most-once" && persistence != "memory" {
		r.Status, r.Reason = store.Failed, "messages were lost although the broker had confirmed them"
	}
	return r
}

var (
	kill    = study.Fault{Do: "kill", Node: "1", For: study.Duration(time.Second)}
	pause   = study.Fault{Do: "pause", Node: "1", For: study.Duration(3 * time.Second)}
	restart = study.Fault{Do: "restart", Node: "1"}
)

// faultRecords are one of everything the report tells apart.
func faultRecords() []store.Record {
	records := []store.Record{
		through("redis", "at-least-once", "log", kill, store.Books{LostAcked: 17}),
		through("redis", "at-least-once", "memory", kill, store.Books{LostAcked: 2100}),
		through("kafka", "at-most-once", "log", kill, store.Books{LostAcked: 212}),
		through("kafka", "at-most-once", "log", restart, store.Books{Duplicated: 3}),
		through("kafka", "at-least-once", "log", pause, store.Books{}),
		through("kafka", "at-least-once", "log", kill, store.Books{Failed: 12, Resent: 63, Lost: 4, Duplicated: 51}),
		through("kafka", "exactly-once", "fsync", kill, store.Books{Duplicated: 1, Reordered: 2}),
	}
	leader := through("kafka", "exactly-once", "log", study.Fault{Do: "kill", Node: "leader", For: study.Duration(3 * time.Second)}, store.Books{})
	leader.Spec.Replicas, leader.Spec.Acks, leader.Spec.Nodes = 3, "quorum", 3
	undone := through("jetstream", "at-least-once", "log", kill, store.Books{})
	undone.Result.Faults[1].Err = "no answer within 1m0s"
	late := through("jetstream", "at-least-once", "log", pause, store.Books{})
	late.Status, late.Reason = store.Void, "the generator was 30 ms late at p99"
	no := through("jetstream", "exactly-once", "log", kill, store.Books{})
	no.Status, no.Reason, no.Result = store.Refused, "delivery: exactly-once is not supported: for the sake of the example", nil
	records = append(records, leader, undone, late, no, demo(1)[0])
	for i := range records {
		records[i].ID = int64(i + 1)
	}
	return records
}

func TestThePromiseReportLooksAsItDid(t *testing.T) {
	for _, c := range [][2]string{{"terminal", "promise.txt"}, {"markdown", "promise.md"}, {"csv", "promise.csv"}} {
		golden(t, c[1], rendered(t, build(t, "promise", faultRecords()), c[0], 100))
	}
	golden(t, "promise.html", []byte(render.Fragment(build(t, "promise", faultRecords()).Blocks, "p", 2)))
}

func TestAVerdictFollowsFromTheLedgerAlone(t *testing.T) {
	for name, c := range map[string]struct {
		record store.Record
		want   promiseVerdict
		says   string
	}{
		"acknowledged and lost":                     {through("b", "at-least-once", "log", pause, store.Books{LostAcked: 1}), verdictBroken, "1 lost"},
		"a duplicate, at most once":                 {through("b", "at-most-once", "memory", pause, store.Books{Duplicated: 1}), verdictBroken, "1 delivered twice"},
		"a duplicate, exactly once":                 {through("b", "exactly-once", "log", pause, store.Books{Duplicated: 1}), verdictBroken, "1 delivered twice"},
		"out of order though ordered":               {through("b", "at-least-once", "log", pause, store.Books{Reordered: 4}), verdictBroken, "4 out of order"},
		"loss from memory without a kill":           {through("b", "at-least-once", "memory", pause, store.Books{LostAcked: 5}), verdictBroken, "5 lost"},
		"loss from memory through a kill":           {through("b", "at-least-once", "memory", kill, store.Books{LostAcked: 5}), verdictNoneMade, "5 of 10000 acknowledged"},
		"an unknown fate, from memory":              {unresolved(), verdictNoneMade, "7 were neither confirmed nor refused"},
		"loss from memory through a restart":        {through("b", "at-least-once", "memory", restart, store.Books{LostAcked: 5}), verdictNoneMade, "5 of 10000 acknowledged"},
		"a duplicate from memory, exactly once":     {through("b", "exactly-once", "memory", kill, store.Books{Duplicated: 5}), verdictBroken, "5 delivered twice"},
		"loss, at most once":                        {through("b", "at-most-once", "log", kill, store.Books{LostAcked: 5}), verdictKept, "5 lost, which it allows"},
		"a duplicate, at least once":                {through("b", "at-least-once", "log", kill, store.Books{Duplicated: 2}), verdictKept, "2 delivered twice, which it allows"},
		"lost, but the application was told":        {through("b", "at-least-once", "log", kill, store.Books{Failed: 7, Lost: 7}), verdictKept, ""},
		"hardly anything was acknowledged":          {through("b", "at-least-once", "log", kill, store.Books{Failed: 9878}), verdictKept, "nothing lost or delivered twice; only 122 of 10000 were acknowledged"},
		"nothing wrong":                             {through("b", "exactly-once", "fsync", kill, store.Books{}), verdictKept, ""},
		"failed for a reason that isn't the ledger": {failed(through("b", "at-least-once", "log", kill, store.Books{})), verdictVoid, "the broker died"},
		"kept, but under less load than was meant":  {late(store.Books{}), verdictVoid, "30 ms late"},
		"broken under less load than was meant":     {late(store.Books{LostAcked: 9}), verdictBroken, "9 lost"},
		"order that the clocks do not show":         {withUnknownOrder(store.Books{}), verdictUndecided, "nothing lost or delivered twice; of 2 streams"},
		"the same, and delivered twice, as allowed": {withUnknownOrder(store.Books{Duplicated: 2}), verdictUndecided, "2 delivered twice, which it allows; of 2 streams"},
		"the same, from memory":                     {inMemory(withUnknownOrder(store.Books{LostAcked: 5})), verdictUndecided, "5 of 10000 acknowledged"},
		"the same, and lost":                        {withUnknownOrder(store.Books{LostAcked: 5}), verdictBroken, "5 lost"},
		"reordered by what the clocks show":         {withUnknownOrder(store.Books{Reordered: 3}), verdictBroken, "3 out of order"},
		"unknown order that was not asked for":      {unordered(withUnknownOrder(store.Books{})), verdictKept, "nothing lost or delivered twice"},
		"unknown order of a poor trial":             {failed(withUnknownOrder(store.Books{})), verdictVoid, "the broker died"},
		"missing while others still came":           {stillComing(store.Books{LostAcked: 9}), verdictVoid, "others still came"},
		"the same, and delivered twice":             {stillComing(store.Books{LostAcked: 9, Duplicated: 2}), verdictBroken, "2 delivered twice"},
	} {
		o := judgeFaultTrial(c.record)
		if o.verdict != c.want || !strings.Contains(o.why, c.says) {
			t.Errorf("%s: %s (%s), want %s (%s)", name, o.verdict, o.why, c.want, c.says)
		}
	}
}

func late(wrong store.Books) store.Record {
	r := through("b", "at-least-once", "log", kill, wrong)
	r.Status, r.Reason = store.Void, "the generator was 30 ms late at p99"
	return r
}

func stillComing(wrong store.Books) store.Record {
	r := through("b", "exactly-once", "log", kill, wrong)
	r.Doubts = append(r.Doubts, store.Doubt{Code: "late", Text: "9 deliveries had not come, though others still came"})
	return r
}

// withUnknownOrder is a trial whose messages came to several agents in an order that their clocks do not show.
func withUnknownOrder(wrong store.Books) store.Record {
	r := through("b", "at-least-once", "log", kill, wrong)
	text := "of 2 streams messages came to several agents in an order that is not known"
	r.Doubts = append(r.Doubts, store.Doubt{Code: doubt.OrderUnknown.Code(), Text: text})
	return r
}

func inMemory(r store.Record) store.Record {
	r.Spec.Persistence, r.Status, r.Reason = "memory", store.OK, ""
	return r
}

func unordered(r store.Record) store.Record {
	r.Spec.Ordering = "unordered"
	return r
}

func failed(r store.Record) store.Record {
	r.Status, r.Reason = store.Failed, "the broker died: node 1 exited"
	return r
}

func unresolved() store.Record {
	r := through("b", "at-least-once", "memory", kill, store.Books{})
	r.Result.Books.Acked, r.Result.Books.Unresolved = r.Result.Books.Acked-7, 7
	return r
}

func TestUndecidedPromisesAreCounted(t *testing.T) {
	text := string(rendered(t, build(t, "promise", []store.Record{withUnknownOrder(store.Books{})}), "markdown", 0))
	if !strings.Contains(text, "1 trial: 1 undecided.") || strings.Contains(text, "| kept |") {
		t.Error(text)
	}
}

func TestALedgerDoesNotDenyReorderingThatClocksMayHide(t *testing.T) {
	text := string(rendered(t, build(t, "ledger", []store.Record{withUnknownOrder(store.Books{})}), "markdown", 0))
	if strings.Contains(text, "duplicated, reordered or corrupted") || !strings.Contains(text, "is a lower bound") {
		t.Error(text)
	}
}

func TestMessagesSentAgainAreShownWhereThereAreAny(t *testing.T) {
	const column = "resent"
	for name, c := range map[string]struct {
		records []store.Record
		shown   bool
	}{
		"none was sent again": {[]store.Record{through("redis", "at-least-once", "log", kill, store.Books{})}, false},
		"63 were sent again":  {[]store.Record{through("redis", "at-least-once", "log", kill, store.Books{Resent: 63})}, true},
	} {
		for _, about := range []string{"promise", "ledger"} {
			d := build(t, about, c.records)
			text, csv := string(rendered(t, d, "terminal", 120)), string(rendered(t, d, "csv", 0))
			if strings.Contains(text, column) != c.shown || strings.Contains(text, "63") != c.shown {
				t.Errorf("%s, %s: a column is shown: %v, want %v:\n%s", about, name, !c.shown, c.shown, text)
			}
			if !strings.Contains(csv, ",resent,") {
				t.Errorf("%s, %s: machines miss the column:\n%s", about, name, csv)
			}
		}
	}
}

func TestASummaryOfFaultsTellsOfPromisesAndNotOfLatency(t *testing.T) {
	for _, name := range []string{"summary", "headtohead"} {
		text := string(rendered(t, build(t, name, faultRecords()[:7]), "terminal", 100))
		if strings.Contains(text, "Lowest e2e p99") {
			t.Errorf("%s ranks latency through kills:\n%s", name, text)
		}
		if want := "Through faults. 7 trials: 3 kept, 3 broken, 1 where nothing was promised."; name == "summary" && !strings.Contains(text, want) {
			t.Errorf("the verdict is not %q:\n%s", want, text)
		}
	}
}

func TestTheSentenceOnOutagesSaysHowCloselyEachWasWatched(t *testing.T) {
	outage := func(sample int64, pipeline bool) store.Record {
		r := through("redis", "at-least-once", "log", kill, store.Books{})
		r.Result.Outage.SampleNs = sample
		if pipeline {
			r.PointID, r.Result.Pipeline = r.PointID+"pipeline", &store.Pipeline{}
		}
		return r
	}
	for name, c := range map[string]struct {
		records []store.Record
		says    string
	}{
		"a broker":                   {[]store.Record{outage(20e6, false)}, "nothing was delivered, from samples 20 ms apart."},
		"a pipeline":                 {[]store.Record{outage(50e6, true)}, "nothing was delivered, from samples 50 ms apart."},
		"both":                       {[]store.Record{outage(50e6, true), outage(20e6, false), outage(50e6, true)}, "from samples 20 ms or 50 ms apart."},
		"sampled at some other rate": {[]store.Record{outage(2.5e6, false)}, "from samples 2.5 ms apart."},
		"a refused one beside it":    {[]store.Record{{Status: store.Refused, Spec: outage(0, false).Spec}, outage(50e6, true)}, "from samples 50 ms apart."},
	} {
		if got := string(rendered(t, build(t, "promise", c.records), "markdown", 100)); !strings.Contains(got, c.says) {
			t.Errorf("%s: no %q in %s", name, c.says, got)
		}
	}
}

func TestAnOutageIsExplainedWhereOneIsKnown(t *testing.T) {
	r := through("kafka", "at-least-once", "log", kill, store.Books{})
	with := judgeFaultTrial(r)
	result := *r.Result
	result.Outage, r.Result = nil, &result
	without := judgeFaultTrial(r)
	for name, c := range map[string]struct {
		trials []faultTrial
		want   bool
	}{"an outage": {[]faultTrial{without, with}, true}, "none": {[]faultTrial{without}, false}} {
		if got := strings.Contains(promiseTerms(c.trials), "Outage:"); got != c.want {
			t.Errorf("%s: explained is %v, want %v", name, got, c.want)
		}
	}
}

func TestThePromiseReportSaysHowLongDuplicatesWereLookedFor(t *testing.T) {
	for want, l := range map[string]store.Listened{
		"for 31s": {Ns: 31e9, RedeliveryNs: 30e9},
		"for 1m0s, although it delivers again after 30m0s":            {Ns: 60e9, RedeliveryNs: 1800e9},
		"for 0s, since it delivers again only when a connection ends": {},
	} {
		if got := listeningWords(l); got != want {
			t.Errorf("%+v: %q, want %q", l, got, want)
		}
	}
	if got := listening(nil); got != "" {
		t.Errorf("without such trials: %q", got)
	}
}
