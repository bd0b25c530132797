package lab

import (
	"errors"
	"fmt"
	"testing"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/search"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// A trial of a search and the load of a repetition break the same rules in the same words, but for what only a search asks.
func TestARepetitionAndATrialOfASearchAreJudgedByOneList(t *testing.T) {
	const alike = "the same"
	late := func(o *worker.Outcome) {
		o.Measured.Received, o.Measured.Lost, o.Measured.LostAcked, o.Drained, o.Arriving = 900, 100, 100, false, true
	}
	killed := func(s *study.Spec) { s.Persistence, s.Faults = "memory", []study.Fault{{Do: "kill", Node: "1"}} }
	for name, c := range map[string]struct {
		change            func(*worker.Outcome)
		spec              func(*study.Spec)
		generator, serial float64
		search            string
		repetition        string
	}{
		"all well":  {search: "pass ", repetition: alike},
		"corrupted": {change: func(o *worker.Outcome) { o.Measured.Corrupted = 2 }, search: "fail 2 messages arrived corrupted", repetition: alike},
		"lost": {
			change: func(o *worker.Outcome) { o.Measured.Received, o.Measured.Lost, o.Measured.LostAcked = 997, 3, 3 },
			search: "fail 3 messages were lost although the broker had confirmed them", repetition: alike,
		},
		"lost with the process that held them": {
			change: func(o *worker.Outcome) { o.Measured.Received, o.Measured.Lost, o.Measured.LostAcked = 997, 3, 3 }, spec: killed,
			search: "fail 3 confirmed messages had not come within the drain allowance of 10s", repetition: "pass ",
		},
		"twice":        {change: func(o *worker.Outcome) { o.Measured.Duplicated = 1 }, search: "fail 1 messages were delivered twice although exactly once was asked for", repetition: alike},
		"out of order": {change: func(o *worker.Outcome) { o.Measured.Reordered = 1 }, search: "fail 1 messages arrived out of order although order was asked for", repetition: alike},
		"earlier than the clocks explain": {
			change: func(o *worker.Outcome) { o.ClockBound, o.Early = 1000, measure.Early{Deliveries: 1, By: 2000} }, repetition: alike,
			search: "void a message seems to have come 2µs before it was sent, though the clocks of the hosts are known to each other to ±1µs: that bound does not hold",
		},
		"late": {change: late, search: "fail 100 confirmed messages had not come within the drain allowance of 10s, though others still came", repetition: alike},
		"late, and the generator used its cores": {
			change: late, generator: 1.9, repetition: alike,
			search: "void the generator used 1.9 of 2 cores; 100 confirmed messages had not come within the drain allowance of 10s, though others still came",
		},
		"late, and a goroutine used its core": {
			change: late, serial: 0.97, repetition: alike,
			search: "void kgo.(*brokerCxn).handleResps of consumer 0 of the generator used 0.97 of a core, all that one goroutine can; " +
				"100 confirmed messages had not come within the drain allowance of 10s, though others still came",
		},
		"a send failed": {
			change: func(o *worker.Outcome) { o.Measured.Acked, o.Measured.Failed, o.SendErr = 999, 1, errors.New("closed") },
			search: "fail 1 of 1000 sends failed: closed", repetition: "pass ",
		},
		"many sends were refused, and the generator used its cores": {
			change:    func(o *worker.Outcome) { o.Measured.Acked, o.Measured.Failed, o.SendErr = 900, 100, errors.New("full") },
			generator: 1.9, search: "void the generator used 1.9 of 2 cores; 100 of 1000 sends failed: full", repetition: "fail 100 of 1000 sends failed: full",
		},
		"few could be handed over": {
			change: func(o *worker.Outcome) { o.Measured.Due = 2000 },
			search: "fail only 1000 of 2000 messages due could be handed to the client", repetition: "pass ",
		},
		"not drained, and nothing is known to be missing": {
			change: func(o *worker.Outcome) { o.Drained, o.Measured.Acked, o.Measured.Unresolved = false, 999, 1 },
			search: "fail not everything was confirmed and received within the drain allowance of 10s", repetition: "pass ",
		},
	} {
		o := outcomeWith(func(*measure.Books) {})
		if c.change != nil {
			c.change(&o)
		}
		b, tr := onMachine(2, c.generator, 0.1, c.serial, o)
		b.spec.Delivery, b.spec.Ordering, b.spec.Persistence = "exactly-once", "ordered", "log"
		if c.spec != nil {
			c.spec(&b.spec)
		}
		evidence := b.evidence(tr, 100)
		evidence.FullLength = false // of a backlog nothing was sampled
		judged := rule(b.spec).Judge(evidence, search.Goal{})
		if got := fmt.Sprintf("%s %v", judged.Verdict, judged.Reason); got != c.search {
			t.Errorf("%s: a search says %q, want %q", name, got, c.search)
		}
		status, why := ending(t.Context(), b.judge(tr, 100))
		want := c.repetition
		if want == alike {
			want = c.search
		}
		verdict := map[store.Status]search.Verdict{store.OK: search.Pass, store.Failed: search.Fail, store.Void: search.Void}[status]
		if got := fmt.Sprintf("%s %s", verdict, why.Text); got != want {
			t.Errorf("%s: a repetition says %q, want %q", name, got, want)
		}
	}
}
