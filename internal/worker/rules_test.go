package worker

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/schedule"
)

func TestPayloadsAndKeysAreMixedBySplitMix64(t *testing.T) {
	// The first outputs of SplitMix64 for the seed 0, as its authors' program prints them: records name payloads and keys by
	// seed, so that another version has to make the same ones.
	state := uint64(0)
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec} {
		if got := schedule.Mix(state); got != want {
			t.Errorf("output %d is %#x, want %#x", i+1, got, want)
		}
		state += 0x9e3779b97f4a7c15
	}
}

func TestHowLongADrainWaitsForWhatMayNeverCome(t *testing.T) {
	for _, c := range []struct {
		lossy        bool
		longest, gap time.Duration
		want         time.Duration
	}{
		{true, 0, 0, time.Second},
		{true, time.Second, 0, 4 * time.Second},
		{true, time.Millisecond, 2 * time.Second, 6 * time.Second},
		{false, time.Millisecond, time.Millisecond, 5 * time.Second},
		{false, 3 * time.Second, time.Millisecond, 12 * time.Second},
	} {
		if got := (Load{Lossy: c.lossy}).patience(c.longest, c.gap); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestDrainingIsTimedFromTheLastRegistrationOrTheFirstDelivery(t *testing.T) {
	for _, c := range []struct {
		before, received int64
		want             BacklogDrain
	}{
		{0, 100, BacklogDrain{From: 70, To: 90, Received: 100}},
		{50, 100, BacklogDrain{From: 70, To: 90, Received: 50}}, // half of it
		{51, 100, BacklogDrain{From: 20, To: 90, Received: 100}},
		{0, 0, BacklogDrain{From: 70, To: 90}},
	} {
		var d BacklogDrain
		d.setTiming(registration{At: 70, Before: c.before}, span{First: 20, At: 90}, c.received)
		if d != c.want {
			t.Errorf("%d of %d came before: %+v, want %+v", c.before, c.received, d, c.want)
		}
	}
}

func TestABacklogIsDrainedByAShareOrForATime(t *testing.T) {
	w := prepared(t, 3, 100)
	for _, c := range []struct {
		backlog Backlog
		want    int64
		timed   bool
	}{
		{Backlog{Ratio: 1}, 300, false},
		{Backlog{Ratio: 0.5, For: time.Hour}, 150, false},
		{Backlog{Ratio: 0.57}, 171, false}, // 0.57 · 300 is a little less than 171
		{Backlog{For: time.Hour}, 300, true},
		{Backlog{For: time.Hour, Meanwhile: constant(t, 1)}, math.MaxInt64, true},
	} {
		tr := w.begin(Load{Messages: 1, Backlog: &c.backlog}, 1)
		got := tr.backlogGoal(300)
		tr.recording.watch.Close()
		if got.deliveries != c.want || c.timed != (got.within == time.Hour) || c.timed == (got.within == unlimited) {
			t.Errorf("%+v: %+v", c.backlog, got)
		}
	}
}

// standing tells whether any of the stops covers t.
func standing(stops []Interval, t int64) bool {
	return slices.ContainsFunc(stops, func(s Interval) bool { return s.From <= t && t < s.To })
}

func TestPausesOfTwoProcessesAreTheTimesInWhichEitherStoodStill(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const axis = 60
	made := func() (list []Interval) {
		for at := rng.Int64N(10); at < axis; at += 1 + rng.Int64N(12) {
			to := min(axis, at+1+rng.Int64N(8))
			list = append(list, Interval{at, to})
			at = to
		}
		return list[:rng.IntN(len(list)+1)]
	}
	for range 2000 {
		a, b := made(), made()
		both := Pauses{Stops: slices.Clone(a)}.Union(Pauses{Stops: b})
		for at := range int64(axis) {
			if want := standing(a, at) || standing(b, at); standing(both.Stops, at) != want {
				t.Fatalf("%v and %v: %v, at %d want %v", a, b, both.Stops, at, want)
			}
		}
		for i, s := range both.Stops[min(1, len(both.Stops)):] {
			if len(a) > 0 && len(b) > 0 && s.From <= both.Stops[i].To {
				t.Fatalf("%v and %v: %v holds a standstill twice", a, b, both.Stops)
			}
		}
		from := rng.Int64N(axis)
		to := from + 1 + rng.Int64N(axis-from)
		var within int64
		for at := from; at < to; at++ {
			if standing(both.Stops, at) {
				within++
			}
		}
		if got := both.StoodStill(from, to); got != within {
			t.Fatalf("%v stood still %d ns from %d to %d, want %d", both.Stops, got, from, to, within)
		}
		var longest Interval
		for _, s := range both.Stops {
			reaches := false
			for at := from; at < to; at++ {
				reaches = reaches || s.From <= at && at < s.To
			}
			if reaches && s.To-s.From > longest.To-longest.From {
				longest = s
			}
		}
		if got := both.Longest(from, to); got != longest {
			t.Fatalf("the longest of %v that reaches into %d to %d is %v, want %v", both.Stops, from, to, got, longest)
		}
	}
	var one, other hist.Histogram
	one.Record(10)
	other.Record(20)
	if late := (Pauses{Late: one.Snapshot()}).Union(Pauses{Late: other.Snapshot()}).Late; late.Count() != 2 || late.Max() != 20 {
		t.Errorf("%d wake-ups, up to %d ns late", late.Count(), late.Max())
	}
}

func TestAWakeUpCountsWhereItWasDueAndStandstillsAreKept(t *testing.T) {
	const every, still = int64(clock.WatchEvery), int64(clock.Standstill)
	p := &pauseRecorder{phase: func() phaseTimes { return phaseTimes{1000 * every, 2000 * every} }}
	p.wakeUp(999*every, 999*every+1) // before the phase
	p.wakeUp(1000*every, 1000*every) // in time
	p.wakeUp(1500*every, 1503*every) // swallowed two more, and a standstill if that is long enough
	p.wakeUp(1999*every, 2001*every) // the second one is after the phase
	p.wakeUp(2000*every, 2000*every+still)
	out := p.pauses()
	if out.Late.Count() != 1+3+1 || out.Late.Max() != 3*every || out.Late.Min() != 0 {
		t.Errorf("%d wake-ups, from %d to %d ns late", out.Late.Count(), out.Late.Min(), out.Late.Max())
	}
	want := []Interval{{1500 * every, 1503 * every}, {1999 * every, 2001 * every}, {2000 * every, 2000*every + still}}
	if !slices.Equal(out.Stops, want) {
		t.Errorf("stood still %v, want %v", out.Stops, want)
	}
	for i := range int64(maxStops) {
		due := (3000 + 1000*i) * every
		p.wakeUp(due, due+2*every)
	}
	longest := Interval{1e6 * maxStops * every, (1e6*maxStops + 1000) * every}
	p.wakeUp(longest.From, longest.To)
	stops := p.pauses().Stops
	if len(stops) > maxStops || len(stops) < maxStops/2 || !slices.IsSortedFunc(stops, byStart) || p.pauses().Longest(0, math.MaxInt64) != longest {
		t.Errorf("%d standstills are kept, at most %d; the longest of them is %v, want %v", len(stops), maxStops, p.pauses().Longest(0, math.MaxInt64), longest)
	}
}

func TestEveryMessageThatIsDueIsCounted(t *testing.T) {
	const from, end = int64(500), int64(1400) // ns after the start; the shape begins at from
	ramp, err := schedule.Steps([]schedule.Step{{To: 2e8, For: 900 * time.Nanosecond}}, false)
	if err != nil {
		t.Fatal(err)
	}
	plan := simple(3, 1)
	for name, c := range map[string]course{
		"one schedule":  {main: constant(t, 1e8), start: 7},
		"after another": {warmup: constant(t, 5e7), main: ramp, start: 7},
	} {
		var due []int64 // when each message is
		of := func(s schedule.Schedule, start, until int64) {
			for i := int64(0); s.At(i) != schedule.Never && start+s.At(i) < until; i++ {
				due = append(due, start+s.At(i))
			}
		}
		if c.warmup != nil {
			of(c.warmup, c.start, c.start+from)
			of(c.main, c.start+from, c.start+end)
		} else {
			of(c.main, c.start, c.start+end)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for range 500 {
			a, b := c.start+rng.Int64N(end), c.start+rng.Int64N(end)
			want := int64(0)
			for _, at := range due {
				if a <= at && at < b {
					want++
				}
			}
			if got := c.newDueCounter(&plan).count(c.start+from, a, b); got != want {
				t.Fatalf("%s: %d are due from %d to %d, want %d", name, got, a-c.start, b-c.start, want)
			}
		}
	}
	l := plan.newSegment(constant(t, 1e-6), 0, math.MaxInt64/2, nil) // one in twelve days
	if at := l.at(5000); at != schedule.Never {
		t.Errorf("an arrival beyond the end of time is at %d", at)
	}
	if at := l.at(0); at != math.MaxInt64/2 {
		t.Errorf("the first arrival is at %d", at)
	}
}

func TestAnApplicationMakesUpForWakingLateAndNotForResting(t *testing.T) {
	const work, slack = 20 * time.Millisecond, 10 * time.Millisecond
	for name, c := range map[string]struct {
		late, rested time.Duration
		want         time.Duration // of the time since it should have been free, what doesn't shorten the work
	}{
		"three milliseconds late":   {3 * time.Millisecond, 0, 0},
		"a standstill late":         {time.Second, 0, time.Second - 5*time.Millisecond},
		"rested between two pieces": {3 * time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond},
	} {
		a := newApplication(Delay{Mean: work}, 0, nil)
		now := clock.Now()
		a.finishedAt = now - int64(c.rested)
		if c.rested == 0 {
			a.finishedAt = math.MaxInt64 / 2 // it has only just left
		}
		a.freeAt = now - int64(c.late)
		due := a.freeAt + int64(work) + int64(c.want)
		a.process(make([]driver.Received, 1), func([]driver.Received) bool { return true })
		if off := time.Duration(a.freeAt - due); off < 0 || off > slack && c.want > 0 || c.want == 0 && off != 0 {
			t.Errorf("%s: free %v off", name, off)
		}
		if a.worked.Load() != int64(work) || a.finishedAt < a.freeAt {
			t.Errorf("%s: worked %v, left %v before it was free", name, time.Duration(a.worked.Load()), time.Duration(a.freeAt-a.finishedAt))
		}
	}
}

func TestProbesUnderWayAreNotSentAgain(t *testing.T) {
	const producers, way = 2000, 150 * time.Millisecond
	var probes atomic.Int64
	d := &script{send: func(p *scriptProducer, _ context.Context, batch []driver.Message) error {
		probes.Add(int64(len(batch)))
		p.later(batch, func(batch []driver.Message) {
			time.Sleep(way)
			p.deliver(batch)
			p.done(batch, nil)
		})
		return nil
	}}
	plan := simple(producers, 1)
	plan.InFlight, plan.Connect = 10, time.Minute
	ready(t, d, plan)
	// A busy machine may hold up a whole round; without the time that probes take by themselves there would be one every 2 ms.
	if n := probes.Load(); n < producers || n > 3*producers {
		t.Errorf("%d probes of %d producers, each of which takes %v", n, producers, way)
	}
}

func TestClientsAndIdentitiesOfAPlan(t *testing.T) {
	plan := Plan{Producers: []Producer{{ID: 7}, {ID: 2}, {ID: 9}}}
	if n := plan.producerIDs(); n != 10 {
		t.Errorf("%d identities, want one more than the largest", n)
	}
	for asked, want := range map[int]int{0: 3, 1: 1, 2: 2, 3: 3, 8: 3} {
		plan.Clients = asked
		if n := plan.clients(); n != want {
			t.Errorf("%d clients asked for: %d, want %d", asked, n, want)
		}
	}
	if (Plan{}).producerIDs() != 0 {
		t.Error("identities without a producer")
	}
}

func TestAnEasyLoadIsEasyForTheWholeMinuteThatIsLookedAt(t *testing.T) {
	for name, c := range map[string]struct {
		steps []schedule.Step
		want  bool
	}{
		"always":            {[]schedule.Step{{Rate: 1000, To: 1000, For: time.Hour}}, true},
		"never":             {[]schedule.Step{{Rate: 100_000, To: 100_000, For: time.Hour}}, false},
		"a burst":           {[]schedule.Step{{Rate: 1000, To: 1000, For: 30 * time.Second}, {Rate: 100_000, To: 100_000, For: 150 * time.Millisecond}, {Rate: 1000, To: 1000, For: time.Hour}}, false},
		"after that minute": {[]schedule.Step{{Rate: 1000, To: 1000, For: 61 * time.Second}, {Rate: 100_000, To: 100_000, For: time.Hour}}, true},
	} {
		s, err := schedule.Steps(c.steps, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := (messageWork{meanBytes: 100, subscriptions: 1}).oneThreadCarriesAll(s, 1); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
