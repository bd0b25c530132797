package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/verdict"
)

// Standing says whether a contender fits the wish.
type Standing string

// The standings.
const (
	Fits   Standing = "fits"      // the latency keeps its bound at every rate
	Open   Standing = "undecided" // nothing is shown yet, or the interval of a latency reaches across the bound
	Misses Standing = "misses"    // a latency is above the bound, or a rate isn't carried
	Out    Standing = "ruled out" // it can't keep the guarantee, broke it, or was not started
)

// Answer is the answer to a wish.
type Answer string

// The answers.
const (
	Take      Answer = "take"      // the one of Chosen
	Either    Answer = "either"    // any of Chosen: they don't differ by more than a tenth in cost, latency and headroom
	Undecided Answer = "undecided" // between those of Chosen
	None      Answer = "none"      // fits
	Unknown   Answer = "unknown"   // nothing was measured
)

// Judged is a contender with its measurements.
type Judged struct {
	Name     string
	Standing Standing
	Why      string             // a sentence without a period, unless it fits
	Loads    [][]results.Record // by rate of the case, cut down to it: repetitions that ended ok, and those that failed with figures
	Searches []results.Record   // of its headroom, that ended ok
	InVain   int                // searches of its headroom in which no rate above that of the case passed
	Used     []results.Record   // all that ended ok, whatever they are for
	Latest   *results.Record    // of Load; nil if there is none
	Survived int                // times it was killed under load and kept its guarantee

	loaded  int    // repetitions of Load
	failure string // how the first attempt to measure Load ended of which there are no figures
}

// Advice is the answer to a case. Take and Undecided say by which metric the choice was made, or is open.
type Advice struct {
	Case       *Case
	Answer     Answer
	Chosen     []*Judged
	By         results.Metric // of Take, if others fit, and of Undecided, if more than one may be best; no Key otherwise
	Contenders []*Judged      // those that fit come first
	Nearest    *Judged        // of None: the one whose latency is the least in multiples of the bound; nil without latencies
	Lean       *Judged        // of Undecided: the cheapest of Chosen that fits, or, if none does, whose medians keep the bound at every rate; nil without one
}

var (
	latency = results.MustMetric(results.KeyEndToEndP99)
	cost    = results.MustMetric(results.KeyBrokerCPU)
	room    = results.MustMetric(results.KeySustainableLow)
)

// Stands reports whether more repetitions are needless.
func (a Advice) Stands() bool { return a.Answer == Take || a.Answer == Either || a.Answer == None }

func (a Advice) contender(name string) *Judged {
	i := slices.IndexFunc(a.Contenders, func(c *Judged) bool { return c.Name == name })
	return a.Contenders[i]
}

// finalists are the chosen ones and, if that is one, the next best that fits.
func (a Advice) finalists() []*Judged {
	last := slices.Clone(a.Chosen)
	for _, c := range a.Contenders {
		if len(last) < 2 && c.Standing == Fits && !slices.Contains(last, c) {
			last = append(last, c)
		}
	}
	return last[:min(mostFinalists, len(last))]
}

// Leaders are the answer and the runner-up: up to two contenders with repetitions that ended ok, the chosen and the nearest ones first.
func (a Advice) Leaders() (leaders []*Judged) {
	for _, j := range slices.Concat([]*Judged{a.Lean}, a.Chosen, []*Judged{a.Nearest}, a.Contenders) {
		if j != nil && len(j.Used) > 0 && !slices.Contains(leaders, j) && len(leaders) < 2 {
			leaders = append(leaders, j)
		}
	}
	return leaders
}

// Decide answers a case by records of one machine. Others than those of the case are left alone.
func (c *Case) Decide(records []results.Record) Advice {
	a := Advice{Case: c}
	byName := map[string]*Judged{}
	for _, name := range c.Names {
		byName[name] = &Judged{Name: name, Standing: Open, Why: "not measured", Loads: make([][]results.Record, len(c.Spec.Curve.Rates))}
		if why, absent := c.Absent[name]; absent {
			byName[name].Standing, byName[name].Why = Out, why
		}
		a.Contenders = append(a.Contenders, byName[name])
	}
	own := lists.Filter(records, func(r results.Record) bool { return c.Contains(r.PointID) })
	for _, r := range results.Latest(own) {
		at := c.places[r.PointID]
		byName[at.contender].gather(c, at.part, r)
	}
	for _, j := range a.Contenders {
		if j.failure != "" && j.Standing == Open && !slices.ContainsFunc(j.Loads, func(l []results.Record) bool { return len(l) > 0 }) {
			j.Standing, j.Why = Out, j.failure
		}
	}
	c.judge(a.Contenders)
	a.choose()
	if a.Answer == Undecided {
		a.Lean = a.lean()
	}
	return a
}

// gather adds a record.
func (j *Judged) gather(c *Case, part string, r results.Record) {
	if part == Load {
		j.loaded++
	}
	if part == Load && (j.Latest == nil || r.Status == results.OK) {
		j.Latest = &r
	}
	if r.Status == results.OK {
		j.Used = append(j.Used, r)
	}
	switch {
	case r.Status == results.Refused && part == Load, r.Status == results.Failed && r.Result != nil && results.BrokePromise(r):
		j.Standing, j.Why = Out, r.Reason
		if part == Kill {
			j.Why = "killed under load, " + j.Why
		}
	case r.Status == results.Failed && r.Result == nil && part == Load:
		j.failure = cmp.Or(j.failure, fmt.Sprintf("%s: %s", r.Status, r.Reason))
	case r.Status == results.OK && part == Headroom && r.Result.Sustainable != nil && r.Result.Sustainable.Low < c.Spec.Curve.Rates[0]:
		j.InVain++ // the load shows that it carries more
	case r.Status == results.OK && part == Headroom:
		j.Searches = append(j.Searches, r)
	case r.Status == results.Failed && part == Headroom && results.Searched([]results.Record{r}):
		j.InVain++
	case r.Status == results.OK && part == Kill:
		j.Survived++
	case part == Load:
		j.gatherLoads(c, r)
	}
}

func (j *Judged) gatherLoads(c *Case, r results.Record) {
	for _, l := range results.Loads(r) {
		i := slices.Index(c.Spec.Curve.Rates, l.Rate)
		switch status := l.Record.Status; {
		case i < 0 || l.Record.Result == nil:
		case status == results.OK || status == results.Failed:
			j.Loads[i] = append(j.Loads[i], l.Record)
		case j.Standing == Open:
			j.Why = fmt.Sprintf("%s: %s", status, l.Record.Reason)
		}
	}
}

// sample is the latency at a rate. A rate that failed has one, too: messages that were late or never came count in it. What may have been
// the generator's own part shows no contender to be slow.
func (j *Judged) sample(rate int) (sample verdict.Sample) {
	for _, r := range j.Loads[rate] {
		for _, v := range latency.Sample([]results.Record{r}) {
			v.Low = min(v.Low, latency.WithoutOwn(r))
			sample = append(sample, v)
		}
	}
	return sample
}

// judge says which contenders fit. The intervals are those of package verdict, whose errors are bounded over all contenders, rates and looks.
func (c *Case) judge(contenders []*Judged) {
	rates := c.Spec.Curve.Rates
	alpha := verdict.Alpha / float64(len(contenders)*len(rates)*len(Looks))
	keeps := map[*Judged]int{} // at how many rates
	for i, rate := range rates {
		samples := lists.Map(contenders, func(j *Judged) verdict.Sample { return j.sample(i) })
		pooled := verdict.Pool(samples...)
		for k, j := range contenders {
			if j.Standing == Out || j.Standing == Misses || len(samples[k]) == 0 {
				continue
			}
			low, high := samples[k].Interval(pooled, alpha)
			ok := len(results.EndedOK(j.Loads[i]))
			failed := len(j.Loads[i]) - ok
			switch {
			case low > c.Bound:
				j.Standing, j.Why = Misses, fmt.Sprintf("p99 at %s is %s", results.RateText(rate), Figure(latency, j.Loads[i]))
			case failed > 1 && failed > ok:
				j.Standing, j.Why = Misses, fmt.Sprintf("it failed at %s: %s", results.RateText(rate), lastReason(j.Loads[i]))
			case high <= c.Bound && failed == 0:
				keeps[j]++
			default:
				j.Why = c.open(rate, j.Loads[i], low, high)
			}
		}
	}
	for _, j := range contenders {
		if keeps[j] == len(rates) && j.Standing == Open {
			j.Standing, j.Why = Fits, ""
		}
	}
}

// open says why the repetitions of a rate decide nothing yet: the latency lies within low and high.
func (c *Case) open(rate float64, loads []results.Record, low, high float64) string {
	at, bound, failed := results.RateText(rate), latency.Unit.Format(c.Bound), len(loads)-len(results.EndedOK(loads))
	switch {
	case failed > 0:
		return fmt.Sprintf("it failed at %s in %d of %d repetitions: %s", at, failed, len(loads), lastReason(loads))
	case latency.Over(loads).Median > c.Bound:
		return fmt.Sprintf("p99 at %s is %s, and, corrected for all comparisons, may be as low as %s", at, Figure(latency, loads), latency.Unit.Format(low))
	case high < 100*c.Bound:
		return fmt.Sprintf("p99 at %s is %s, and, corrected for all comparisons, may be up to %s", at, Figure(latency, loads), latency.Unit.Format(high))
	case len(loads) == 1:
		return fmt.Sprintf("p99 at %s is %s, and one repetition rules out nothing above %s", at, Figure(latency, loads), bound)
	}
	return fmt.Sprintf("p99 at %s is %s, and %d repetitions that scatter so much don't rule out more than %s", at, Figure(latency, loads), len(loads), bound)
}

func lastReason(records []results.Record) string {
	failed := lists.Filter(records, func(r results.Record) bool { return r.Status == results.Failed })
	return failed[len(failed)-1].Reason
}

// Figure writes a metric over repetitions with its interval: "3.10 ms (2.80–3.60 ms)".
func Figure(m results.Metric, records []results.Record) string {
	s := m.Over(records)
	low, high := s.Bounds()
	text := s.Format(m.Unit)
	if s.N > 1 && low != high && !s.AtLeast() {
		text += " (" + m.Unit.Range(low, high) + ")"
	}
	return text
}

// choose answers the case. Of the contenders that fit, or may, the one that costs least is taken; those that don't differ by more than a
// tenth are told apart by their latency, and then by their headroom.
func (a *Advice) choose() {
	order := map[Standing]int{Fits: 0, Open: 1, Misses: 2, Out: 3}
	group := lists.Filter(a.Contenders, func(j *Judged) bool { return (j.Standing == Fits || j.Standing == Open) && len(j.Costs()) > 0 })
	fits := slices.ContainsFunc(group, func(j *Judged) bool { return j.Standing == Fits })
	isOpen := slices.ContainsFunc(a.Contenders, func(j *Judged) bool { return j.Standing == Open })
	measured := slices.ContainsFunc(a.Contenders, func(j *Judged) bool { return len(j.Loads[0]) > 0 || j.Standing == Out })
	byCost := func(x, y *Judged) int {
		return compare(order[x.Standing], order[y.Standing], cost.Over(x.Costs()), cost.Over(y.Costs()))
	}
	slices.SortStableFunc(a.Contenders, byCost)
	switch {
	case !measured:
		a.Answer = Unknown
	case !fits && !isOpen:
		a.Answer, a.Nearest = None, a.nearest()
	case !fits: // whichever of them fits, it is not known that one does
		a.Answer, a.Chosen = Undecided, lists.Filter(a.Contenders, func(j *Judged) bool { return j.Standing == Open })
	default:
		a.rank(group)
	}
}

func compare(x, y int, ofX, ofY results.Summary) int {
	switch {
	case x != y:
		return x - y
	case ofX.N == 0 || ofY.N == 0:
		return ofY.N - ofX.N
	}
	return cmp.Compare(ofX.Median, ofY.Median)
}

// rank narrows the group by one metric after the other.
func (a *Advice) rank(group []*Judged) {
	criteria := []struct {
		metric results.Metric
		of     func(*Judged) []results.Record
	}{
		{cost, (*Judged).Costs},
		{latency, (*Judged).Costs},
		{room, func(j *Judged) []results.Record { return j.Searches }},
	}
	isOpen := false
	for _, k := range criteria { // only the first that is known leaves the choice open: the next ones choose among equals

		var contenders []results.Contender
		for _, j := range group {
			if c := results.NewContender(j.Name, k.metric, k.of(j)); c.Summary.N > 0 {
				contenders = append(contenders, c)
			}
		}
		if len(group) < 2 || len(contenders) < len(group) { // of one it isn't known: its order shows nothing
			continue
		}
		ranking := results.Rank(k.metric, contenders)
		kept, isFirst := []string{ranking.Best.Name}, a.By.Key == ""
		for _, s := range ranking.Rest {
			alike := s.Against.Low >= 1/(1+verdict.Small) && s.Against.High <= 1+verdict.Small
			cold := isFirst && k.metric.Key == cost.Key && a.contender(s.Contender.Name).Cold() // warm it may cost less
			if s.Against.Answer != results.Differs || alike || cold {
				kept = append(kept, s.Contender.Name)
				isOpen = isOpen || cold || isFirst && s.Against.Answer == results.Undecided && !alike
			}
		}
		a.By = k.metric
		group = slices.DeleteFunc(group, func(j *Judged) bool { return !slices.Contains(kept, j.Name) })
		if isOpen {
			break
		}
	}
	a.Chosen = group
	mayMiss := func(j *Judged) bool { return j.Standing != Fits }
	switch {
	case isOpen || slices.ContainsFunc(group, mayMiss):
		a.Answer = Undecided
		for _, j := range a.Contenders { // the best that surely fits is one of the choices
			if j.Standing == Fits && !slices.ContainsFunc(group, func(k *Judged) bool { return !mayMiss(k) }) {
				a.Chosen = append(slices.Clone(group), j)
				break
			}
		}
	case len(group) == 1:
		a.Answer = Take
	default:
		a.Answer = Either
	}
}

// lean is the contender that fits, or that the medians point to.
func (a *Advice) lean() (lean *Judged) {
	keeps := func(rate []results.Record) bool { m := latency.Over(rate); return m.N > 0 && m.Median <= a.Case.Bound }
	order := map[Standing]int{Fits: 0, Open: 1}
	for _, j := range a.Chosen {
		misses := slices.ContainsFunc(j.Loads, func(rate []results.Record) bool { return !keeps(rate) })
		if !misses && (lean == nil || compare(order[j.Standing], order[lean.Standing], cost.Over(j.Costs()), cost.Over(lean.Costs())) < 0) {
			lean = j
		}
	}
	return lean
}

// Exhausted reports whether an answer is undecided although no contender on which it hangs is repeated any more.
func (a Advice) Exhausted() bool {
	last := Looks[len(Looks)-1]
	return a.Answer == Undecided && !slices.ContainsFunc(a.Chosen, func(j *Judged) bool { return j.loaded < last })
}

// nearest is the contender whose worst latency is the lowest.
func (a *Advice) nearest() (nearest *Judged) {
	least := math.Inf(1)
	for _, j := range a.Contenders {
		worst := 0.0
		for i := range j.Loads {
			if s := latency.Over(j.Loads[i]); s.N > 0 {
				worst = max(worst, s.Median)
			}
		}
		if j.Standing == Misses && worst < least {
			nearest, least = j, worst
		}
	}
	return nearest
}

// Room is how many times the highest rate of the case the contender sustains, with the bracket of the searches. ok is false without any.
func (j *Judged) Room(c *Case) (times float64, found results.Bracket, ok bool) {
	found = results.Sustained(j.Searches)
	return found.Median / slices.Max(c.Spec.Curve.Rates), found, found.N > 0 && found.Median > 0
}

// Cold reports whether the broker was still warming up in half of the repetitions of a rate or more: its cost is an upper bound.
func (j *Judged) Cold() bool {
	return slices.ContainsFunc(j.Loads, func(rate []results.Record) bool {
		cold := lists.Filter(rate, func(r results.Record) bool {
			return slices.ContainsFunc(r.Doubts, func(d results.Doubt) bool { return d.Is(doubt.WarmingUp) })
		})
		return len(cold) > 0 && 2*len(cold) >= len(rate)
	})
}

// Costs are the repetitions at the user's rate that ended ok, by which contenders are compared.
func (j *Judged) Costs() []results.Record { return results.EndedOK(j.Loads[0]) }
