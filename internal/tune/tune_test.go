package tune

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/testkit"
)

// planted is a broker whose latency is known: 10 ms times a factor for each value of each setting, and for pairs of values.
type planted struct {
	factors  [][]float64 // by knob and value; 1 is the default's
	together func(Candidate) float64
	fails    func(Candidate) bool
	scatter  float64
	stalls   float64 // the share of repetitions that take twice as long
}

var fourKnobs = []Knob{
	{"client.linger.ms", []string{"1", "0", "5", "20"}},
	{"client.batch.size", []string{"1000012", "16384", "131072"}},
	{"client.compression.type", []string{"none", "lz4", "zstd"}},
	{"client.fetch.min.bytes", []string{"1", "16384"}},
}

func (p planted) truth(x Candidate) float64 {
	ns := 10e6
	for k, i := range x {
		ns *= p.factors[k][i]
	}
	if p.together != nil {
		ns *= p.together(x)
	}
	return ns
}

// optimum is the least latency of all candidates.
func (p planted) optimum() float64 {
	least, x := math.Inf(1), make(Candidate, len(p.factors))
	var from func(k int)
	from = func(k int) {
		if k == len(x) {
			if p.fails == nil || !p.fails(x) {
				least = min(least, p.truth(x))
			}
			return
		}
		for x[k] = range p.factors[k] {
			from(k + 1)
		}
	}
	from(0)
	return least
}

// measure makes the record that a repetition would leave. What disturbs the machine disturbs a block, and now and then one repetition by much.
func (p planted) measure(c *Case, s Step, block float64, rng *rand.Rand) results.Record {
	r := results.Record{
		Study: c.Study, PointID: c.Name(s.Candidate) + s.Part, Axes: c.Axes(s), Repetition: s.Repetition, Status: store.OK,
		Seed: int64(s.Repetition), Began: time.Unix(int64(1000*s.Repetition)+rng.Int64N(900), 0), Result: &store.Result{},
	}
	if p.fails != nil && p.fails(s.Candidate) {
		r.Status, r.Reason = store.Failed, "made to fail"
	}
	disturbed := 1.0
	if rng.Float64() < p.stalls {
		disturbed = 2
	}
	r.Result.Given = map[string]float64{results.KeyEndToEndP99: p.truth(s.Candidate) * block * disturbed * math.Exp(p.scatter*rng.NormFloat64())}
	return r
}

func latencyCase(seed int64) *Case {
	return &Case{Study: "tune-test", Goal: results.MustMetric(results.KeyEndToEndP99), Knobs: fourKnobs, Seed: seed}
}

// tuned has the case take what it wants within so many repetitions, and returns the records.
func (p planted) tuned(t *testing.T, c *Case, repetitions int) (records []results.Record) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(c.Seed), 7))
	for {
		steps, about := c.Next(records, repetitions-len(records))
		if len(steps) == 0 {
			return records
		}
		if len(records)+len(steps) > repetitions || about == "" {
			t.Fatalf("%d steps after %d of %d: %q", len(steps), len(records), repetitions, about)
		}
		block := math.Exp(0.1 * rng.NormFloat64())
		for _, s := range steps {
			records = append(records, p.measure(c, s, block, rng))
		}
	}
}

var (
	nothing = [][]float64{{1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1}}
	some    = [][]float64{{1, 0.8, 1.3, 2}, {1, 0.7, 0.9}, {1, 1.1, 1.4}, {1, 1.02}}
)

func TestAPlantedOptimumIsFound(t *testing.T) {
	first, seeds := int64(testkit.Seed(t)), int64(10)
	for name, p := range map[string]planted{
		"two settings matter": {factors: some, scatter: 0.05, stalls: 0.03},
		"the best is far from the default": {
			factors: [][]float64{{1, 1.2, 0.9, 0.7}, {1, 0.75, 0.85}, {1, 0.9, 0.6}, {1, 1}}, scatter: 0.05, stalls: 0.03,
		},
		"two only help together": {factors: [][]float64{{1, 1, 0.8, 0.9}, {1, 1, 1}, {1, 1, 1}, {1, 0.9}}, scatter: 0.05, stalls: 0.03, together: func(x Candidate) float64 {
			if x[0] == 2 && x[3] == 1 {
				return 0.6
			}
			return 1
		}},
		"the fastest fails": {factors: some, scatter: 0.05, stalls: 0.03, fails: func(x Candidate) bool { return x[1] == 1 }},
	} {
		found := 0
		for seed := range seeds {
			c := latencyCase(1000*first + seed)
			a := c.Decide(p.tuned(t, c, 180))
			switch {
			case a.Verdict == Better && p.truth(a.Best.Candidate) < 1.06*p.optimum():
				found++
			case a.Verdict == Better && p.truth(a.Best.Candidate) > 10e6:
				t.Errorf("%s, seed %d: %s is better", name, seed, a.Best.Name)
			default:
				t.Logf("%s, seed %d: %s %s %s, %.3f of the optimum", name, seed, a.Verdict, a.Best.Name, a.Why, p.truth(a.Best.Candidate)/p.optimum())
			}
		}
		t.Logf("%s: found in %d of %d", name, found, seeds)
		if found < 9 {
			t.Errorf("%s: found in %d of %d", name, found, seeds)
		}
	}
}

func TestWhereNothingMattersNothingBetterIsShown(t *testing.T) {
	first, wrong, mattered := int64(testkit.Seed(t)), 0, 0
	for seed := range int64(100) {
		p, c := planted{factors: nothing, scatter: 0.08, stalls: 0.03}, latencyCase(1000*first+seed)
		a := c.Decide(p.tuned(t, c, 80))
		if a.Verdict == Better {
			wrong++
		} else if a.Verdict != Nothing {
			t.Errorf("seed %d: %s", seed, a.Verdict)
		}
		if slices.ContainsFunc(a.Effects, func(e Effect) bool { return e.Shown() == "yes" }) {
			mattered++
		}
	}
	t.Logf("of 100: %d false wins, %d in which a setting mattered", wrong, mattered)
	if wrong > 5 || mattered > 10 {
		t.Errorf("of 100: %d false wins, %d in which a setting mattered", wrong, mattered)
	}
}

// What was measured before an interruption counts, wherever it came.
func TestATuningGoesOnWhereItWasInterrupted(t *testing.T) {
	p, c := planted{factors: some, scatter: 0.05, stalls: 0.03}, latencyCase(3)
	all := p.tuned(t, c, 120)
	want := c.Decide(all)
	for cut := range all {
		c := latencyCase(3)
		records := slices.Clone(all[:cut])
		for {
			steps, _ := c.Next(records, 120-len(records))
			if len(steps) == 0 {
				break
			}
			for _, s := range steps {
				i := slices.IndexFunc(all, func(r results.Record) bool {
					return r.Repetition == s.Repetition && r.PointID == c.Name(s.Candidate)+s.Part
				})
				if i < 0 {
					t.Fatalf("after %d records another step: %+v", cut, s)
				}
				records = append(records, all[i])
			}
		}
		if got := c.Decide(records); len(records) != len(all) || got.Verdict != want.Verdict || got.Best.Name != want.Best.Name {
			t.Fatalf("interrupted after %d: %s %s with %d records; want %s %s with %d", cut, got.Verdict, got.Best.Name, len(records), want.Verdict, want.Best.Name, len(all))
		}
	}
}

func TestTheAnswerSaysWhichSettingsMattered(t *testing.T) {
	p := planted{factors: [][]float64{{1, 0.5, 2, 4}, {1, 1, 1}, {1, 2, 3}, {1, 1}}, scatter: 0.02}
	c := latencyCase(1)
	records := p.tuned(t, c, 150)
	a := c.Decide(records)
	var shown []string
	for _, e := range a.Effects {
		shown = append(shown, e.Shown())
	}
	if got := strings.Join(shown, "; "); got != "yes; no: less than a tenth; yes; no: less than a tenth" {
		t.Errorf("%s", got)
	}
	if !strings.Contains(a.Best.Name, "linger.ms=0") || a.Gain.High > 0.6 || len(a.Best.Ok()) != mostConfirmations {
		t.Errorf("%s: %+v", a.Best.Name, a.Gain)
	}
	if c := Cases(records); len(c) != 1 || c[0].Knobs[1].Values[0] != "none" || len(c[0].Knobs) != 4 {
		t.Errorf("of the records: %+v", c)
	}
}

func TestABoundRulesOutWhatMissesIt(t *testing.T) {
	bound, err := gate.ParseObjective("e2e_p99", "< 9ms")
	if err != nil {
		t.Fatal(err)
	}
	p, c := planted{factors: some, scatter: 0.03}, latencyCase(1)
	c.Bounds = []gate.Condition{bound}
	a := c.Decide(p.tuned(t, c, 120))
	if a.Verdict != Better || !strings.Contains(a.Why, "of the default e2e p99 is") {
		t.Errorf("%s: %s", a.Verdict, a.Why)
	}
	for _, e := range a.Stages[0].Entries {
		if e.Name == Default && !strings.Contains(e.Left, "and not < 9ms") {
			t.Errorf("the default misses the bound and left: %q", e.Left)
		}
	}
}

// Time for the confirmations is kept, and a start is the beginning of a larger one.
func TestTheBudgetIsKept(t *testing.T) {
	p := planted{factors: some, scatter: 0.08, stalls: 0.03}
	for repetitions := 2*LeastConfirmations + LeastRace; repetitions < 200; repetitions += 7 {
		c := latencyCase(int64(repetitions))
		if a := c.Decide(p.tuned(t, c, repetitions)); a.Verdict != Better && a.Verdict != Nothing {
			t.Errorf("with %d repetitions: %s, %s", repetitions, a.Verdict, a.Why)
		}
	}
	c := latencyCase(5)
	c.Allowed = func(x Candidate) bool { return x[0] != 1 || x[2] != 1 }
	few, many := c.sample(4), c.sample(12)
	if len(many) != 12 || !slices.EqualFunc(few, many[:4], slices.Equal) || slices.ContainsFunc(many, func(x Candidate) bool { return !c.Allowed(x) }) {
		t.Errorf("%v, %v", few, many)
	}
}

func TestNeighboursOfNumbersAreNextToThemAndOfWordsAll(t *testing.T) {
	for _, k := range []struct {
		knob Knob
		of   int
		want []int
	}{{fourKnobs[0], 0, []int{2, 1}}, {fourKnobs[0], 3, []int{2}}, {fourKnobs[2], 1, []int{0, 2}}, {Knob{"x", []string{"100ms", "1s", "5ms"}}, 0, []int{1, 2}}} {
		if got := k.knob.beside(k.of); !slices.Equal(got, k.want) {
			t.Errorf("beside %d of %v: %v, want %v", k.of, k.knob.Values, got, k.want)
		}
	}
}

// An interrupted race says nothing of a default that has not been measured, or hardly.
func TestARaceThatHasHardlyBegunAnswersNothing(t *testing.T) {
	c := latencyCase(1)
	all := planted{factors: nothing, scatter: 0.02}.tuned(t, c, 80)
	isDefault := func(r results.Record) bool { return r.Axes[CandidateAxis] == Default }
	without := slices.DeleteFunc(slices.Clone(all), isDefault)
	if cases := Cases(without[:2]); len(cases) > 0 {
		t.Errorf("%d cases without their default", len(cases))
	}
	once := all[:slices.IndexFunc(all, isDefault)+1]
	if a := c.Decide(once); a.Verdict == Nothing || a.Verdict == Better {
		t.Errorf("after %d repetitions: %s: %s", len(once), a.Verdict, a.Why)
	}
}

// A stranger's record may have any number.
func TestStagesWithoutRecordsTakeNothing(t *testing.T) {
	c, p := latencyCase(1), planted{factors: [][]float64{{1, 1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1}}}
	var records []results.Record
	for _, repetition := range []int{1, 1_000_000, 1_000_000_000_000} {
		step := Step{Candidate: make(Candidate, len(c.Knobs)), Part: Race, Repetition: repetition}
		records = append(records, p.measure(c, step, 1, rand.New(rand.NewPCG(1, 1))))
		records[len(records)-1].Began = time.Unix(int64(len(records)), 0)
	}
	if a := c.Decide(records); len(a.Stages) != 3 {
		t.Errorf("%d stages", len(a.Stages))
	}
}
