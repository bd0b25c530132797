package study

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (v *validator) times() {
	s := v.spec
	v.time("duration", s.Duration, open)
	v.time("drain", s.Drain, open)
	v.time("warmup.for", s.Warmup.For, !s.Warmup.Auto)
	switch {
	case !s.Warmup.Auto && v.given.has("warmup.max"):
		v.fail("warmup.max", "only used with auto: true")
	case s.Warmup.Auto && v.time("warmup.max", s.Warmup.Max, open) && s.Warmup.Max < s.Warmup.For:
		v.fail("warmup.max", "%s is shorter than warmup.for: %s", s.Warmup.Max, s.Warmup.For)
	}
}

// shapeOf names the shape that needs a setting of load that the others don't have.
var shapeOf = []struct{ path, shape string }{{"load.to", ramp}, {"load.steps", steps}, {"load.burst", bursts}}

func (v *validator) load() {
	l := v.spec.Load
	for _, f := range shapeOf {
		switch {
		case l.Shape == f.shape && !v.given.has(f.path):
			v.fail(f.path, "missing; load.shape: %s needs it", f.shape)
		case l.Shape != f.shape && v.given.has(f.path):
			v.fail(f.path, "not used by load.shape: %s, only by %s", l.Shape, f.shape)
		}
	}
	if v.given.has("load.repeat") && l.Shape != steps {
		v.fail("load.repeat", "not used by load.shape: %s, only by %s", l.Shape, steps)
	}
	if !v.shape() {
		return
	}
	switch given := v.given.has("load.rate"); {
	case l.Shape == steps:
		if given {
			v.fail("load.rate", "not used by load.shape: steps; each step has its rate")
		}
	case l.Shape == ramp || l.Shape == bursts:
		v.silentRate("load.rate", l.Rate)
	case given:
		v.rate("load.rate", l.Rate)
	case v.spec.Measure == MeasureRate:
		v.fail("load.rate", "missing; measure: rate needs messages per second (measure: peak goes as fast as it can)")
	case v.given.has("load.shape") && l.Shape == poisson:
		v.fail("load.rate", "missing; load.shape: poisson needs messages per second")
	}
	switch {
	case l.Shape == ramp && v.given.has("load.to"):
		if v.silentRate("load.to", l.To) && l.To == 0 && l.Rate == 0 {
			v.fail("load.to", "0 after load.rate: 0; allowed: one of them 0")
		}
	case l.Shape == steps:
		v.steps(l.Steps)
	case l.Shape == bursts && l.Burst != nil:
		v.burst(*l.Burst, l.Rate)
	}
	if v.spec.Measure == MeasureRate {
		v.due(either(l.Shape == steps, "load.steps", "load.rate"), l.most())
	}
}

// most is the highest rate that the load reaches.
func (l Load) most() float64 {
	rates := []float64{l.Rate, l.To}
	for _, s := range l.Steps {
		rates = append(rates, s.Rate, s.End())
	}
	if l.Burst != nil {
		rates = append(rates, l.Burst.Rate)
	}
	return slices.Max(rates)
}

// due refuses a rate at which less than one message is due in the measured phase, so that only chance would decide. Errors of
// rate or duration alone are reported elsewhere.
func (v *validator) due(path string, rate float64) {
	d := v.spec.Duration
	if rate >= minRate && rate <= maxRate && d > 0 && d <= maxDuration && rate*time.Duration(d).Seconds() < 1 {
		v.fail(path, "%s messages per second for %s is less than one message; allowed: from one on", inWords(rate), d)
	}
}

// shape refuses loads that change with time if the measure needs a constant rate.
func (v *validator) shape() bool {
	shape := v.spec.Load.Shape
	if v.spec.Measure == MeasureRate || shape == constant || shape == poisson {
		return true
	}
	v.fail("load.shape", "%s needs measure: rate; measure: %s allows constant, poisson", shape, v.spec.Measure)
	return false
}

func (v *validator) steps(list []Step) {
	if v.given.has("load.steps") && len(list) == 0 {
		v.fail("load.steps", "no step; allowed: a list of {rate, to, for}")
	}
	var all float64
	for i, s := range list {
		if v.silentRate("load.steps", s.Rate) && v.silentRate("load.steps", s.End()) {
			holds := i == len(list)-1 && s.Rate == s.End() && !v.spec.Load.Repeat
			v.time("load.steps", s.For, holds)
		}
		all += s.Rate + s.End()
	}
	if len(list) > 0 && all == 0 {
		v.fail("load.steps", "every rate is 0; allowed: at least one above 0")
	}
}

func (v *validator) burst(b Burst, base float64) {
	ok := v.silentRate("load.burst.rate", b.Rate)
	if b.Rate == 0 && base == 0 {
		v.fail("load.burst.rate", "0 beside load.rate: 0; allowed: one of them 0")
	}
	ok = v.time("load.burst.every", b.Every, open) && ok
	if v.time("load.burst.for", b.For, open) && ok && b.For >= b.Every {
		v.fail("load.burst.for", "%s is not shorter than load.burst.every: %s", b.For, b.Every)
	}
}

func (v *validator) sustainable() {
	s := v.spec.Sustainable
	v.share("sustainable.width", s.Width, 0, open)
	v.time("sustainable.trial", s.Trial, open)
	v.time("sustainable.confirm", s.Confirm, open)
	v.time("sustainable.warmup", s.Warmup, closed)
	if v.within("sustainable.confirms", s.Confirms, 1) {
		v.within("sustainable.maxTrials", s.MaxTrials, s.Confirms+2)
	}
	if v.given.has("sustainable.maxRate") {
		v.rate("sustainable.maxRate", s.MaxRate)
	}
	v.share("sustainable.exceed", s.Exceed, 0, closed)
	v.time("sustainable.soak", s.Soak, closed)
	if least := Duration(float64(s.Confirms) * float64(s.Confirm+s.Warmup)); v.time("sustainable.budget", s.Budget, closed) && s.Budget > 0 && s.Budget < least {
		v.fail("sustainable.budget", "%s is less than the confirming trials take: %s", s.Budget, least)
	}
	v.goals(s.Goals)
	if v.given.has("sustainable.latency") {
		v.time("sustainable.latency", s.Latency, open)
	} else if v.given.has("sustainable.quantile") {
		v.fail("sustainable.quantile", "only used with sustainable.latency")
	}
	if !isQuantile(s.Quantile) {
		v.fail("sustainable.quantile", noQuantile, inWords(s.Quantile))
	}
}

const noQuantile = "%s is not a quantile; allowed: above 0 to 1, such as 0.99; 1 bounds the maximum"

func isQuantile(q float64) bool { return q > 0 && q <= 1 } // false for NaN

func (v *validator) goals(list []SearchGoal) {
	if !v.given.has("sustainable.goals") {
		return
	}
	if len(list) > maxParts { // each is compared with every other one
		v.fail("sustainable.goals", "%d goals; allowed: %d", len(list), maxParts)
		return
	}
	if len(list) == 0 {
		v.fail("sustainable.goals", "no goal; allowed: a list of {latency, quantile}, {} for one without a bound")
	}
	if v.given.has("sustainable.latency") {
		v.fail("sustainable.goals", "given beside sustainable.latency; allowed: one of them")
	}
	for i, g := range list {
		switch {
		case g.Latency == 0 && g.Quantile != 0:
			v.fail("sustainable.goals", "a quantile (%s) without a latency", inWords(g.Quantile))
		case g.Latency != 0 && v.time("sustainable.goals", g.Latency, open) && !isQuantile(g.Quantile):
			v.fail("sustainable.goals", noQuantile, inWords(g.Quantile))
		case slices.Contains(list[:i], g):
			v.fail("sustainable.goals", "one goal is given twice")
		}
	}
}

func (v *validator) curve() {
	c := v.spec.Curve
	if v.given.has("curve.rates") {
		if v.given.has("curve.fractions") {
			v.fail("curve.fractions", "given beside curve.rates; allowed: one of them")
		}
		if v.given.has("sustainable") {
			v.fail("sustainable", "not used with curve.rates: nothing is searched")
		}
		if len(c.Rates) == 0 {
			v.fail("curve.rates", "no rate; allowed: a list of messages per second")
		}
		for _, r := range c.Rates {
			v.rate("curve.rates", r)
			v.due("curve.rates", r)
		}
		v.once("curve.rates", c.Rates)
		return
	}
	v.sustainable()
	if len(c.Fractions) == 0 {
		v.fail("curve.fractions", "no fraction; allowed: a list of shares of the sustainable rate, above 0 to 10")
	}
	for _, f := range c.Fractions {
		v.share("curve.fractions", f, 0, open)
	}
	v.once("curve.fractions", c.Fractions)
}

// once refuses duplicate numbers in a list: two measurements at one load would count as two repetitions.
func (v *validator) once(path string, list []float64) {
	seen := make(map[float64]bool, len(list))
	for _, n := range list {
		if seen[n] {
			v.fail(path, "%s is given twice; allowed: each once, and repeats for more measurements", inWords(n))
		}
		seen[n] = true
	}
}

func (v *validator) faults() {
	if len(v.spec.Attach) > 0 {
		return // refused as an unknown fault
	}
	if len(v.spec.Faults) > maxParts { // each is compared with every other one
		v.fail("faults", "%d; allowed: %d", len(v.spec.Faults), maxParts)
		return
	}
	for i, f := range v.spec.Faults {
		v.fault(f, v.spec.Faults[:i], v.spec.Faults[i+1:])
	}
}

// fault checks one fault among those before and after it.
func (v *validator) fault(f Fault, before, after []Fault) {
	name := fmt.Sprintf("%s at %s", f.Do, f.At)
	timed := v.spec.Measure == MeasureRate || v.spec.Measure == MeasurePeak
	atBroker := !slices.Contains(v.spec.Parts(), f.Node) // and not at a process around it
	switch {
	case f.Do == "":
		v.fail("faults", "no do; allowed: pause, resume, kill, restart")
		return
	case f.At < 0 || f.At > maxDuration:
		v.fail("faults", "%s: an offset is from the start of the measured phase, 0 or more", name)
	case timed && f.At >= v.spec.Duration:
		v.fail("faults", "%s: the measured phase ends at %s", name, v.spec.Duration)
	case f.For < 0 || f.For > maxDuration:
		v.fail("faults", "%s: for: %s is out of range; allowed: above 0 to %s", name, f.For, maxDuration)
	case f.For > 0 && (f.Do == "resume" || f.Do == "restart"):
		v.fail("faults", "%s: for is only used by pause and kill", name)
	}
	if atBroker && f.Node != "all" && f.Node != "leader" {
		if n, err := strconv.Atoi(f.Node); err != nil || n < 1 || n > v.spec.Nodes {
			words := append([]string{"all", "leader"}, v.spec.Parts()...)
			v.fail("faults", "%s: node %q is not there; allowed: 1 to %d, %s", name, f.Node, v.spec.Nodes, strings.Join(words, ", "))
			return
		}
	}
	undoneBy := func(do string) bool {
		return slices.ContainsFunc(after, func(o Fault) bool { return o.Do == do && (o.Node == f.Node || o.Node == "all") })
	}
	pausedBefore := slices.ContainsFunc(before, func(o Fault) bool {
		return o.Do == "pause" && (o.Node == f.Node || o.Node == "all" || f.Node == "all")
	})
	forEver := f.For == 0
	switch {
	case f.Do == "pause" && forEver && !undoneBy("resume"):
		v.fail("faults", "%s: it never ends; add for, or a resume of node %s", name, f.Node)
	case f.Do == "resume" && !pausedBefore:
		v.fail("faults", "%s: nothing was paused before it on node %s", name, f.Node)
	case f.Do == "kill" && forEver && atBroker && v.spec.Isolation == shared && !undoneBy("restart"):
		v.fail("faults", "%s: with isolation: shared the next point would find no broker; add for, or a restart of node %s", name, f.Node)
	}
}

func (v *validator) backlog() {
	b := v.spec.Backlog
	v.amount("backlog", b.Messages, b.Bytes)
	v.share("backlog.drainRatio", b.DrainRatio, 0, closed)
	switch hasRate := v.given.has("backlog.rate"); {
	case hasRate && !b.KeepSending:
		v.fail("backlog.rate", "not used by backlog.keepSending: false")
	case hasRate:
		v.rate("backlog.rate", b.Rate)
	case b.KeepSending && !v.given.has("load.rate"):
		v.fail("backlog.keepSending", "without load.rate; add the rate at which producers go on while consumers drain")
	}
	if d, ok := v.given.given["duration"]; ok && b.DrainRatio > 0 && !d.soft && d.rank >= v.given.given["measure"].rank {
		v.fail("duration", "not used by backlog.drainRatio: %s: it ends when that share is gone; allowed with drainRatio: 0", inWords(b.DrainRatio))
	}
	if v.spec.SubscriptionsPerTopic == 0 {
		v.fail("subscriptionsPerTopic", "0 with measure: backlog: there would be no consumer to drain it")
	}
	v.lagging()
}

// lagging checks which consumers have the backlog.
func (v *validator) lagging() {
	s := v.spec
	part := ""
	for _, p := range []struct {
		path   string
		n, all int
	}{{"backlog.topics", s.Backlog.Topics, s.Topics}, {"backlog.subscriptions", s.Backlog.Subscriptions, s.SubscriptionsPerTopic}} {
		if v.given.has(p.path) && v.between(p.path, p.n, 1, max(1, p.all)) && p.n < p.all {
			part = p.path
		}
	}
	switch {
	case part == "":
	case !s.Backlog.KeepSending:
		v.fail(part, "the other consumers would receive nothing while the backlog drains; add backlog.rate, or load.rate with backlog.keepSending")
	case s.Backlog.Topics > 0 && s.Backlog.Topics < s.Topics && s.Connections > 0:
		v.fail("backlog.topics", "can't be combined with connections: %d, where one consumer receives several topics; allowed with connections: 0", s.Connections)
	}
}

// amount checks that a number of messages or bytes is given, and only one of them.
func (v *validator) amount(group string, messages int64, bytes Size) {
	byBytes := v.given.has(group + ".bytes")
	if byBytes && v.given.has(group+".messages") {
		v.fail(group+".bytes", "given beside %s.messages; allowed: one of them", group)
		return
	}
	if !byBytes {
		v.within(group+".messages", int(messages), 1)
		return
	}
	if largest := v.spec.MessageSize.Largest(); bytes < largest || bytes > maxBytes {
		v.fail(group+".bytes", "%s is out of range; allowed: one message (%s) to %s", bytesText(bytes), bytesText(largest), Size(maxBytes))
	}
}
