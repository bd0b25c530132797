package lab_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
	"github.com/brokermark/brokermark/internal/worker"
)

// slowThread is an agent on 16 cores whose load needs two of them at more than so many messages per second, and which has one thread unless
// it is asked for all.
type slowThread struct {
	*agent.Local
	enoughFor float64
	loads     *[]string // "20000/s, one thread"
}

func (a slowThread) Run(ctx context.Context, load worker.Load) (worker.Outcome, []agent.Part) {
	out, _ := a.Local.Run(ctx, load)
	rate := math.Inf(1)
	if load.Schedule != nil {
		rate = load.Schedule.Rate(0)
	}
	p := agent.Part{Name: "left", Machine: "m", Cores: 16, Outcome: out, Begin: agent.Reading{At: 1}, Until: agent.Reading{At: 1 + 1e9}}
	p.Outcome.Procs, p.Until.Used = 1, provision.Usage{User: 300 * time.Millisecond}
	threads := "one thread"
	switch {
	case load.RateForThreads == math.MaxFloat64:
		p.Outcome.Procs, threads = 16, "all threads"
	case rate > a.enoughFor:
		p.Until.Used.User = 990 * time.Millisecond
	}
	*a.loads = append(*a.loads, fmt.Sprintf("%.0f/s, %s", rate, threads))
	return out, []agent.Part{p}
}

// runOnSlowThread returns the record of a spec, and which loads it took.
func runOnSlowThread(t *testing.T, edit func(*study.Spec)) (store.Record, string) {
	t.Helper()
	var loads []string
	r := runPoint(t, simSpec(func(s *study.Spec) {
		s.Duration, s.Warmup.For = study.Duration(100*time.Millisecond), 0
		edit(s)
	}), lab.Options{NewAgent: func() agent.Agent { return slowThread{&agent.Local{}, 800, &loads} }})
	return r, strings.Join(loads, "; ") // a repetition that others disturbed comes first
}

func TestARateThatIsVoidForWantOfThreadsIsOfferedAgainWithAll(t *testing.T) {
	for rate, want := range map[float64]string{
		500:  "500/s, one thread",
		1000: "1000/s, one thread; 1000/s, all threads",
	} {
		r, loads := runOnSlowThread(t, func(s *study.Spec) { setRate(s, rate, 100*time.Millisecond) })
		if !strings.HasSuffix(loads, want) || r.Status != store.OK {
			t.Errorf("%s: %s %s; want %s", loads, r.Status, r.Reason, want)
		}
	}
}

func TestALoadThatWouldFindItsOwnMessagesIsOfferedOnce(t *testing.T) {
	for want, edit := range map[string]func(*study.Spec){
		"+Inf/s, all threads": func(s *study.Spec) {
			s.Measure, s.Backlog, s.Load.Rate = "backlog", study.Backlog{Messages: 100, DrainRatio: 1}, 0
		},
		"1000/s, all threads": func(s *study.Spec) { s.Measure, s.Count, s.Load.Rate = "count", study.Count{Messages: 100}, 1000 },
	} {
		if r, loads := runOnSlowThread(t, edit); loads != want || r.Status != store.OK {
			t.Errorf("%s: %s %s; want %s", loads, r.Status, r.Reason, want)
		}
	}
}

func TestACurveHasOneNumberOfThreads(t *testing.T) {
	for rates, want := range map[[2]float64]string{ // the last loads, in the order that was drawn
		{500, 700}:  "500/s, one thread; 700/s, one thread",
		{500, 1000}: "500/s, all threads; 1000/s, all threads",
	} {
		r, loads := runOnSlowThread(t, func(s *study.Spec) {
			s.Measure, s.Curve.Rates, s.Curve.Fractions = "curve", rates[:], nil
		})
		offered := strings.Split(loads, "; ")
		last := offered[max(0, len(offered)-2):]
		slices.SortFunc(last, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		if strings.Join(last, "; ") != want || r.Status != store.OK || len(r.Result.Curve) != 2 {
			t.Errorf("%s: %s %s, %v; want %s", loads, r.Status, r.Reason, r.Doubts, want)
		}
	}
}

// The reading goroutine can take 16,667/s at most, on one of two cores, and the broker takes anything.
func TestALoadThatOneGoroutineOfTheClientCannotReadIsVoid(t *testing.T) {
	r := runOnce(t, longSpec(t, func(s *study.Spec) { // the spinning goroutine makes this process pause
		setRate(s, 26_000, 3*time.Second) // more than one thread is used from 25,000/s on
		s.Client = map[string]any{"work": "60us"}
	}), lab.Options{})
	said := r.Reason // by the goroutine, or by all of the generator where that used up its cores
	for _, d := range r.Doubts {
		said += "\n" + d.Text
	}
	switch {
	case r.Status == store.Void && strings.Contains(said, "sim.(*"):
	case hasDoubt(r, "busy-machine"):
		testkit.Undecided(t, "%s: %s, and others used the machine", r.Status, said)
	default:
		t.Errorf("%s: %s", r.Status, said)
	}
}
