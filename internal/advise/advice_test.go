package advise

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/advise/advisetest"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// wanted is 1,000/s with peaks of 2,000/s at a p99 of 20 ms.
func wanted(contenders ...planted) (*Case, []study.Point) {
	w := Wish{Rate: 1000, Peak: 2000, P99: 20 * time.Millisecond, Hold: 10 * time.Second}
	for _, p := range contenders {
		w.Contenders = append(w.Contenders, Contender{Name: p.Name, Set: map[string]any{"broker": "sim", "client": map[string]any{"seed": len(w.Contenders)}}})
	}
	s, err := w.Study("test")
	if err != nil {
		panic(err)
	}
	points, err := s.Points()
	if err != nil {
		panic(err)
	}
	return CaseOf(points), points
}

type planted = advisetest.Planted

// advised measures what the case wants of each contender, as the command does, and returns the answer and how many repetitions that took.
func advised(seed int64, contenders ...planted) (Advice, int) {
	c, points := wanted(contenders...)
	rng := rand.New(rand.NewPCG(uint64(seed), 1))
	var records []store.Record
	for _, run := range Order(points, seed, nil) {
		if c.Wants(records, run.Point.ID, run.Repetition) {
			i := slices.IndexFunc(contenders, func(p planted) bool { return p.Name == run.Point.Axes[ContenderAxis] })
			records = append(records, contenders[i].Measure(*run.Point, run.Repetition, rng))
		}
	}
	return c.Decide(records), len(records)
}

func (a Advice) names() []string {
	var names []string
	for _, j := range a.Chosen {
		names = append(names, j.Name)
	}
	return names
}

func TestTheAnswerIsThePlantedOneOrUndecidedAndNeverAWrongOne(t *testing.T) {
	ms, first := time.Millisecond, testkit.Seed(t)
	cheap := planted{Name: "cheap", P99: 3 * ms, Capacity: 50_000, Cost: 2}
	dear := planted{Name: "dear", P99: ms, Capacity: 90_000, Cost: 7}
	slow := planted{Name: "slow", P99: 60 * ms, Capacity: 80_000, Cost: 1}
	small := planted{Name: "small", P99: 2 * ms, Capacity: 1500, Cost: 1}
	lossy := planted{Name: "lossy", P99: ms, Capacity: 80_000, Cost: 0.5, Loses: true}
	twin := planted{Name: "twin", P99: 3 * ms, Capacity: 50_000, Cost: 2}
	border := planted{Name: "border", P99: 13 * ms, Capacity: 80_000, Cost: 1} // at the peak 19.5 ms
	for name, test := range map[string]struct {
		contenders []planted
		right      []string // any of these may be taken; none: the answer is that none fits
		open       bool     // undecided is the right answer
	}{
		"one is cheapest":            {[]planted{dear, cheap, slow}, []string{"cheap"}, false},
		"the cheapest can't peak":    {[]planted{small, cheap, dear}, []string{"cheap"}, false},
		"the cheapest loses":         {[]planted{lossy, cheap, dear}, []string{"cheap"}, false},
		"none is fast enough":        {[]planted{slow, small}, nil, false},
		"two are alike":              {[]planted{cheap, twin, dear}, []string{"cheap", "twin"}, false},
		"the cheapest is borderline": {[]planted{border, dear}, []string{"border"}, true},
		"one alone":                  {[]planted{cheap}, []string{"cheap"}, false},
	} {
		decided, seeds := 0, 20
		for seed := range seeds {
			a, _ := advised(int64(first)+int64(seed), test.contenders...)
			ok := a.Answer == None && test.right == nil
			for _, n := range a.names() {
				ok = (a.Answer == Take || a.Answer == Either) && slices.Contains(test.right, n)
			}
			if !ok && a.Answer != Undecided {
				t.Errorf("%s, seed %d: %s %v; planted %v", name, seed, a.Answer, a.names(), test.right)
			}
			if ok {
				decided++
			}
		}
		t.Logf("%s: decided %d of %d", name, decided, seeds)
		if !test.open && name != "two are alike" && decided < 15 {
			t.Errorf("%s: only %d of %d were decided", name, decided, seeds)
		}
	}
}

func TestAnOpenAnswerSaysWhatKeepsItOpen(t *testing.T) {
	c, points := wanted(planted{Name: "a", P99: 3 * time.Millisecond, Capacity: 50_000, Cost: 2})
	measure := func(p99s ...time.Duration) string {
		var records []store.Record
		for n, p99 := range p99s {
			at := planted{Name: "a", P99: max(p99, time.Millisecond), Capacity: 50_000, Cost: 2}
			if p99 == 0 {
				at.Capacity = 1500 // the peak fails
			}
			records = append(records, at.Measure(points[0], n+1, rand.New(rand.NewPCG(1, uint64(n)))))
		}
		return c.Decide(records).Contenders[0].Why
	}
	ms := time.Millisecond
	for want, why := range map[string]string{
		"and 3 repetitions that scatter so much don't rule out more than 20.0 ms": measure(ms/50, ms, 12*ms),
		"it failed at 2k/s in 1 of 3 repetitions: ":                               measure(ms, ms, 0),
	} {
		if !strings.Contains(why, want) {
			t.Errorf("%q doesn't say %q", why, want)
		}
	}
}

// Kafka took 113 s of the processor per million messages after a short warm-up, more than twice as much as Redis, and less than it after a long one.
func TestACostThatStillFallsDecidesNothing(t *testing.T) {
	for seed := range int64(20) {
		cold := planted{Name: "cold", P99: 5 * time.Millisecond, Capacity: 50_000, Cost: 113, Cold: true}
		warm := planted{Name: "warm", P99: 5 * time.Millisecond, Capacity: 50_000, Cost: 50}
		a, _ := advised(seed, cold, warm)
		if a.Answer != Undecided || !slices.Contains(a.names(), "cold") {
			t.Errorf("seed %d: %s %v", seed, a.Answer, a.names())
		}
		cold.Cost = 20 // and when warm even less
		if a, _ := advised(seed, cold, warm); a.Answer == Take && a.names()[0] != "cold" {
			t.Errorf("seed %d: %s %v", seed, a.Answer, a.names())
		}
	}
}

func TestAContenderWithAWarmUpOfItsOwnIsKilledWithoutIt(t *testing.T) {
	s, err := Wish{Rate: 1000, Peak: 1000, P99: time.Second, Hold: 10 * time.Second, Contenders: []Contender{
		{Name: "kafka", Set: map[string]any{"broker": "kafka", "brokerWarmup": "1m"}, Killable: true},
	}}.Study("test")
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range points {
		got[p.Axes["sweep"]] = p.Spec.BrokerWarmup.String()
	}
	if want := map[string]string{Load: "1m", Headroom: "1m", Kill: "0s"}; !maps.Equal(got, want) {
		t.Errorf("warm-ups %v, want %v", got, want)
	}
}

func TestTheLoadIsDecidedFirst(t *testing.T) {
	_, points := wanted(planted{Name: "a"}, planted{Name: "b"})
	runs := Order(points, 1, nil)
	other := slices.IndexFunc(runs, func(r study.Run) bool { return r.Point.Axes["sweep"] != Load })
	if loads := runs[:max(other, 0)]; len(loads) != 2*Looks[len(Looks)-1] {
		t.Errorf("%d loads come first", len(loads))
	}
}

// A search that others disturbed may find less than the loads carry.
func TestASearchBelowTheRateIsInVain(t *testing.T) {
	c, points := wanted(planted{Name: "a"})
	i := slices.IndexFunc(points, func(p study.Point) bool { return p.Axes["sweep"] == Headroom })
	low := planted{Name: "a", Capacity: 133}.Measure(points[i], 1, rand.New(rand.NewPCG(1, 1)))
	if a := c.Decide([]store.Record{low}).Contenders[0]; a.InVain != 1 || len(a.Searches) > 0 {
		t.Errorf("%d in vain, %d searches", a.InVain, len(a.Searches))
	}
}

func TestLosersLeaveBeforeTheFinalistsAreDone(t *testing.T) {
	ms := time.Millisecond
	a, ran := advised(1, planted{Name: "cheap", P99: 3 * ms, Capacity: 50_000, Cost: 2}, planted{Name: "lossy", P99: ms, Capacity: 9e4, Cost: 1, Loses: true})
	if want := 3 + 1 + 1; a.Answer != Take || ran != want { // three loads and a search of one, and a load of the other
		t.Errorf("%s after %d repetitions, want %d", a.Answer, ran, want)
	}
}

func TestWishesThatContradictThemselvesAreRefused(t *testing.T) {
	good := Wish{Rate: 1000, Peak: 1000, P99: time.Second / 50, Hold: 10 * time.Second, Contenders: []Contender{{Name: "a"}}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Wish){
		"rate: 0/s; allowed: more than 0": func(w *Wish) { w.Rate = 0 },
		"peak: 500/s is below the rate, 1k/s; allowed: a multiple such as 3x, or a rate that is no lower": func(w *Wish) { w.Peak = 500 },
		"p99: 6s can't be judged while a rate is held for 10s; allowed: more than 0, up to half of that":  func(w *Wish) { w.P99 = 6 * time.Second },
		"rate: 10/s for 10s are 100 messages, and a p99 takes 1000; allowed: --hold 1m41s, up to 10m":     func(w *Wish) { w.Rate = 10 },
		"hold: 1ms; allowed: 1s to 10m":                  func(w *Wish) { w.Hold = time.Millisecond },
		"brokers: there are none; allowed: one at least": func(w *Wish) { w.Contenders = nil },
	} {
		w := good
		change(&w)
		if err := w.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestComplaintsAboutAContenderNameItsLine(t *testing.T) {
	w := Wish{Rate: 1000, Peak: 1000, P99: time.Second / 50, Hold: 10 * time.Second, Contenders: []Contender{
		{Name: "a", Set: map[string]any{"broker": "sim"}, Line: 4}, {Name: "b", Set: map[string]any{"brokr": "sim"}, Line: 7},
	}}
	_, err := w.Study("wish.yaml")
	if want := `wish.yaml:7: axes.contender[1].set.brokr: unknown key "brokr"; did you mean "broker"?`; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Records of other machines must not be part of the answer, which the caller sees to; those of other studies must not be either.
func TestRecordsOfOtherPointsAreLeftAlone(t *testing.T) {
	c, points := wanted(planted{Name: "cheap"})
	other := planted{Name: "x", P99: 1, Capacity: 1e6, Cost: 1}.Measure(points[0], 1, rand.New(rand.NewPCG(1, 1)))
	other.PointID = "another"
	if a := c.Decide([]results.Record{other}); a.Answer != Unknown {
		t.Errorf("%s", a.Answer)
	}
}

func TestOnlyRecordsOfThisMachineAndTheseVersionsAreOwn(t *testing.T) {
	record := func(host, tool, broker string) results.Record {
		return results.Record{PointID: "a", Host: store.Host{Name: host}, Versions: store.Versions{Tool: tool, Broker: broker}}
	}
	all := []results.Record{record("here", "1", "4.0"), record("there", "1", "4.1"), record("here", "0", "4.1"), record("here", "1", ""), record("here", "1", "4.1")}
	own, others := OriginOf(all[4]).Split(all)
	if len(own) != 2 || own[0].Versions.Broker != "" || own[1].Versions.Broker != "4.1" || len(others) != 3 {
		t.Errorf("own %v, others %v", own, others)
	}
}

// A repetition that was interrupted says nothing; that no broker was started says it all, until one is.
func TestWhatWasNotMeasuredRulesOutOnlyIfItFailed(t *testing.T) {
	c, points := wanted(planted{Name: "cheap"})
	r := planted{P99: 1, Capacity: 1e6, Cost: 1}.Measure(points[0], 1, rand.New(rand.NewPCG(1, 1)))
	r.Result = nil
	for status, want := range map[store.Status]Standing{store.Aborted: Open, store.Failed: Out} {
		r.Status = status
		if got := c.Decide([]results.Record{r}).contender("cheap").Standing; got != want {
			t.Errorf("%s: %s, want %s", status, got, want)
		}
	}
}

// Each case looks at its own records only: a stranger's store may hold many cases.
func TestManyCasesAreDecidedInTime(t *testing.T) {
	_, points := wanted(planted{Name: "a"})
	var records []store.Record
	for i := range 8000 {
		r := advisetest.Measured(points[:1], 1, planted{Name: "a", P99: time.Millisecond, Capacity: 50_000, Cost: 2})[0]
		r.Study, r.PointID = fmt.Sprintf("%s%d", studyPrefix, i), fmt.Sprint(i)
		records = append(records, r)
	}
	if lost := Lost(records); len(lost) != len(records) { // undecided, each by a single repetition
		t.Errorf("%d points are lost", len(lost))
	}
}

// Of each contender there is a figure at each rate: a stranger's store must not have many of both.
func TestWhatNoWishAsksForIsNoCase(t *testing.T) {
	_, points := wanted(planted{Name: "a"})
	made := func(rates, contenders int) (records []store.Record) {
		for i := range contenders {
			r := advisetest.Measured(points[:1], 1, planted{Name: "a", P99: time.Millisecond, Capacity: 50_000, Cost: 2})[0]
			r.PointID, r.Axes = fmt.Sprint(i), map[string]string{ContenderAxis: fmt.Sprint(i), "sweep": Load}
			r.Spec.Curve.Rates = make([]float64, rates)
			records = append(records, r)
		}
		return records
	}
	for _, of := range []struct{ rates, contenders, cases int }{{2, MostContenders, 1}, {2, MostContenders + 1, 0}, {3, 2, 0}} {
		if cases := Cases(made(of.rates, of.contenders)); len(cases) != of.cases {
			t.Errorf("%d cases of %d contenders at %d rates, want %d", len(cases), of.contenders, of.rates, of.cases)
		}
	}
}
