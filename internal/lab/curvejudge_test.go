package lab

import (
	"context"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

func TestACurveFailsOnlyIfAllItsRatesDo(t *testing.T) {
	for _, c := range []struct {
		levels []store.Status
		void   bool
		fails  string
		doubt  string
	}{
		{levels: []store.Status{store.OK, store.OK}},
		{levels: []store.Status{store.OK, store.Failed}, doubt: "1 of 2 loads failed or are void; at 2000/s: why"},
		{levels: []store.Status{store.Void, store.OK, store.Failed}, doubt: "2 of 3 loads failed or are void; at 1000/s: why"},
		{levels: []store.Status{store.Void, store.Failed}, fails: "2 of 2 loads failed or are void; at 1000/s: why"},
		{levels: []store.Status{store.Void, store.Void}, void: true, fails: "2 of 2 loads failed or are void; at 1000/s: why"},
		{levels: []store.Status{store.Failed}, fails: "1 of 1 loads failed or are void; at 1000/s: why"},
	} {
		b := &bench{record: &store.Record{Result: &store.Result{}, Doubts: []store.Doubt{{Code: "attached"}}}}
		for i, status := range c.levels {
			l := store.CurvePoint{Rate: float64(1000 * (i + 1)), Status: status}
			if status != store.OK {
				l.Reason = "why"
			}
			b.record.Result.Curve = append(b.record.Result.Curve, l)
		}
		err := b.judgeCurve()
		if got := errorText(err); got != c.fails || (err != nil && err.(errJudged).status == store.Void) != c.void {
			t.Errorf("%v: %v, want %q", c.levels, err, c.fails)
		}
		switch first := b.record.Doubts[0]; {
		case c.doubt == "" && len(b.record.Doubts) != 1:
			t.Errorf("%v: doubts %v", c.levels, b.record.Doubts)
		case c.doubt != "" && (first.Code != "bad-levels" || first.Text != c.doubt):
			t.Errorf("%v: the first doubt is %v, want %q", c.levels, first, c.doubt)
		}
	}
}

func TestMessagesLeftByTheLoadBeforeAreADoubt(t *testing.T) {
	clean := worker.Outcome{Drained: true}
	for name, c := range map[string]struct {
		before, now worker.Outcome
		want        string
	}{
		"nothing":            {before: clean},
		"lost for good":      {before: worker.Outcome{Measured: measure.Books{Lost: 5}}},
		"still coming":       {before: worker.Outcome{Arriving: true, Warmup: measure.Books{Lost: 1}, Measured: measure.Books{Lost: 5}}, want: "the load before wasn't drained: 6 of its deliveries were still due when this one began"},
		"came meanwhile":     {before: clean, now: worker.Outcome{Warmup: measure.Books{Stale: 2}, Measured: measure.Books{Stale: 1}}, want: "the load before wasn't drained: 3 of its deliveries came during this one"},
		"without an outcome": {before: worker.Outcome{Measured: measure.Books{Unresolved: 4}}, want: "the load before wasn't drained: the fate of 4 of its messages was open when this one began"},
	} {
		got := undrained(trial{previous: c.before, Outcome: c.now})
		if c.want == "" && len(got) != 0 || c.want != "" && (len(got) != 1 || got[0].Code != "undrained" || got[0].Text != c.want) {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// errorText returns the text of an error; empty if there is none.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What a load has left behind is of no concern on the fresh topics that more agents have prepared.
func TestALoadThatIsRunAgainOnMoreAgentsHasNoLoadBefore(t *testing.T) {
	late := hist.New()
	late.Record(int64(time.Second))
	limited := worker.Outcome{Arriving: true, Measured: measure.Books{Lost: 5}}
	limited.Histograms.GeneratorLag = late.Snapshot()
	a := &growingAgent{outcomes: []worker.Outcome{{Arriving: true, Measured: measure.Books{Lost: 7}}, limited, {Drained: true}}}
	b := &bench{
		lab: &lab{options: Options{}.withDefaults(), machine: store.Host{Cores: 2}}, spec: study.Defaults(), record: &store.Record{PointID: "0a1b2c3d"},
		report: func(Event) {}, clients: clients{agent: a},
	}
	b.spec.Topics = 2
	if first := b.growingTrial(t.Context(), "first", 1000, worker.Load{}); first.previous.Measured.Lost != 0 {
		t.Errorf("before the first load: %+v", first.previous.Measured)
	}
	again := b.growingTrial(t.Context(), "second", 1000, worker.Load{})
	if doubts := undrained(again); len(a.outcomes) != 0 || len(b.record.Growth) != 1 || len(doubts) != 0 {
		t.Errorf("%d loads left, growth %+v, doubts %v", len(a.outcomes), b.record.Growth, doubts)
	}
}

// growingAgent is an agent whose trials end with outcomes, one after the other, and that finds another agent once.
type growingAgent struct{ outcomes []worker.Outcome }

func (*growingAgent) Prepare(context.Context, agent.Plan) (p agent.Prepared, err error) { return }
func (*growingAgent) Used() (u provision.Usage)                                         { return }
func (*growingAgent) Close() error                                                      { return nil }

func (*growingAgent) Grow(context.Context, int, string) (int, bool) { return 2, true }

func (a *growingAgent) Run(context.Context, worker.Load) (worker.Outcome, []agent.Part) {
	next := a.outcomes[0]
	a.outcomes = a.outcomes[1:]
	return next, nil
}

func TestARateMixedWithTheOneBeforeIsVoidUnlessItBrokeOff(t *testing.T) {
	stale := worker.Outcome{Measured: measure.Books{Expected: 100, Stale: 2}}
	few, broken, dry := stale, stale, stale
	few.Measured.Stale, broken.Err, dry.Err = 1, errDied{process: theBroker}, worker.ErrRanDry
	for name, c := range map[string]struct {
		o    worker.Outcome
		want string
	}{
		"mixed": {stale, "2 deliveries of the load before came during this one, which has 100 of its own"},
		"few":   {o: few},
		"the broker died, and its death says more": {o: broken},
		"ran dry": {dry, "2 deliveries of the load before came during this one, which has 100 of its own"},
	} {
		if got := errorText(judgeStale(trial{Outcome: c.o})); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
