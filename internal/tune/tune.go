// Package tune looks for settings of a broker that are better than the defaults: it says which candidates are worth a repetition, which
// have left, and what the records show. It starts nothing, and knows no broker by name.
//
// A start of the default and a sample that fills the space races in blocks that take turns; losers leave by the rule of package verdict.
// Then the best races against the candidates that differ from it in one setting, again and again. At last the best is confirmed against
// the default, and only these repetitions are tested: the best of many looks better than it is in those by which it was chosen.
package tune

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/gate"
	"github.com/brokermark/brokermark/internal/results"
)

// Parts of a tuning, which its points have as their axis "sweep".
const (
	Race    = "race"
	Confirm = "confirm"
)

// Further axes of the points of a tuning, beside one for each setting.
const (
	CandidateAxis = "candidate"
	GoalAxis      = "goal"
	confirmAxis   = "confirmations"
	sweepAxis     = "sweep"
)

// Default is the name of the candidate that changes no setting.
const Default = "default"

// StudyPrefix begins the names of the studies of tunings.
const StudyPrefix = "tune-"

// Knob is a setting with the values that it may have, as a spec has them; the first is the default. They differ.
type Knob struct {
	Path   string
	Values []string
}

// beside are the indexes of the values that are next to the i-th: of numbers, sizes and times the next larger and the next smaller one, of
// words all others.
func (k Knob) beside(i int) (near []int) {
	at := make([]float64, len(k.Values))
	for j, v := range k.Values {
		var ok bool
		if at[j], ok = results.Magnitude(v); !ok {
			for other := range k.Values {
				if other != i {
					near = append(near, other)
				}
			}
			return near
		}
	}
	for _, sign := range []float64{1, -1} {
		next := -1
		for j := range at {
			if sign*at[j] > sign*at[i] && (next < 0 || sign*at[j] < sign*at[next]) {
				next = j
			}
		}
		if next >= 0 {
			near = append(near, next)
		}
	}
	return near
}

// Candidate has the index of a value for each knob.
type Candidate []int

// Case is the question of a tuning.
type Case struct {
	Study  string
	Goal   results.Metric
	Bounds []gate.Condition
	Knobs  []Knob
	Seed   int64
	// Skip is up to which number repetitions are left to other machines and versions.
	Skip int
	// Allowed reports whether the broker takes a candidate's settings together; nil: it takes all.
	Allowed func(Candidate) bool

	planned map[int][]Candidate // of the stages that this process has begun
}

// Name is the candidate's: its settings where they differ from the default, such as "client.linger.ms=5 client.batch.size=16384".
func (c *Case) Name(x Candidate) string {
	var words []string
	for k, i := range x {
		if i > 0 {
			words = append(words, c.Knobs[k].Path+"="+c.Knobs[k].Values[i])
		}
	}
	if words == nil {
		return Default
	}
	return strings.Join(words, " ")
}

// Axes are those of a step's point.
func (c *Case) Axes(s Step) map[string]string {
	axes := map[string]string{CandidateAxis: c.Name(s.Candidate), GoalAxis: c.Goal.Key, sweepAxis: s.Part}
	if s.Part == Confirm {
		axes[confirmAxis] = strconv.Itoa(s.of)
	}
	for k, i := range s.Candidate {
		axes[c.Knobs[k].Path] = c.Knobs[k].Values[i]
	}
	return axes
}

// candidateOf is the candidate of a point by its axes. ok is false if it is none of the case.
func (c *Case) candidateOf(axes map[string]string) (x Candidate, ok bool) {
	for _, k := range c.Knobs {
		x = append(x, slices.Index(k.Values, axes[k.Path]))
	}
	return x, !slices.Contains(x, -1)
}

// Cases returns the cases of which there are records.
func Cases(records []results.Record) (cases []*Case) {
	for _, g := range results.GroupBy(records, func(r results.Record) string { return r.Study }) {
		goal, err := results.MetricByKey(g.Members[0].Axes[GoalAxis])
		if !strings.HasPrefix(g.Name, StudyPrefix) || err != nil {
			continue
		}
		values := map[string][]string{}
		isDefault := func(r results.Record) bool { return r.Axes[CandidateAxis] == Default }
		first := slices.IndexFunc(g.Members, isDefault)
		if first < 0 { // nothing says yet which values are the default's
			continue
		}
		for _, r := range slices.Concat(g.Members[first:first+1], g.Members) {
			for path, v := range r.Axes {
				if !slices.Contains([]string{CandidateAxis, GoalAxis, confirmAxis, sweepAxis}, path) && !slices.Contains(values[path], v) {
					values[path] = append(values[path], v)
				}
			}
		}
		c := &Case{Study: g.Name, Goal: goal}
		c.Bounds, _ = gate.Objectives(g.Members[0].Spec)
		for _, path := range slices.Sorted(maps.Keys(values)) {
			c.Knobs = append(c.Knobs, Knob{Path: path, Values: values[path]})
		}
		cases = append(cases, c)
	}
	return cases
}

// sample is the default and up to n−1 more candidates that fill the space evenly: the additive recurrence of the generalized golden ratio
// (Roberts, 2018), moved by the seed. The first ones of a larger sample are those of a smaller one.
func (c *Case) sample(n int) []Candidate {
	all := []Candidate{make(Candidate, len(c.Knobs))}
	root := 2.0
	for range 60 {
		root = math.Pow(1+root, 1/float64(len(c.Knobs)+1))
	}
	rng := rand.New(rand.NewPCG(uint64(c.Seed), 0x74756e65))
	at, step := make([]float64, len(c.Knobs)), 1.0
	steps := slices.Clone(at)
	for k := range at {
		step /= root
		at[k], steps[k] = rng.Float64(), step
	}
	for tries := 0; len(all) < n && tries < 100*n; tries++ {
		x := make(Candidate, len(c.Knobs))
		for k := range x {
			_, at[k] = math.Modf(at[k] + steps[k])
			x[k] = int(at[k] * float64(len(c.Knobs[k].Values)))
		}
		if !holds(all, x) && c.allowed(x) {
			all = append(all, x)
		}
	}
	return all
}

func (c *Case) allowed(x Candidate) bool { return c.Allowed == nil || c.Allowed(x) }

func holds(all []Candidate, x Candidate) bool {
	return slices.ContainsFunc(all, func(y Candidate) bool { return slices.Equal(x, y) })
}

// with is the candidate with another value of one knob.
func (x Candidate) with(knob, value int) Candidate {
	y := slices.Clone(x)
	y[knob] = value
	return y
}

// changes is how many settings differ from the default.
func (x Candidate) changes() (n int) {
	for _, i := range x {
		n += min(i, 1)
	}
	return n
}

// apart is the knob in which two candidates differ if it is one; −1 otherwise.
func (x Candidate) apart(y Candidate) int {
	knob := -1
	for k := range x {
		switch {
		case x[k] == y[k]:
		case knob >= 0:
			return -1
		default:
			knob = k
		}
	}
	return knob
}
