package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
)

// group is the points that stand in one table: equal message size and delivery guarantee.
type group struct {
	name   string
	points []results.Point
}

func bySetting(points []results.Point) []group {
	return groupBy(points, results.Point.Setting)
}

// comparable groups points that were given the same work: they differ in the broker and in what their names say.
func comparable(points []results.Point) []group {
	named := []string{"broker"}
	for _, p := range points {
		for axis := range p.Records[0].Axes {
			load := axis == "load" || strings.HasPrefix(axis, "load.") // another load is other work
			if results.InNames(axis) && !load && !slices.Contains(named, axis) {
				named = append(named, axis)
			}
		}
	}
	return groupBy(points, func(p results.Point) string { return p.Workload(named...) })
}

// groupBy keeps the order in which the groups first appear.
func groupBy(points []results.Point, key func(results.Point) string) []group {
	var groups []group
	for _, p := range points {
		k := key(p)
		i := slices.IndexFunc(groups, func(g group) bool { return g.name == k })
		if i < 0 {
			i = len(groups)
			groups = append(groups, group{name: k})
		}
		groups[i].points = append(groups[i].points, p)
	}
	return groups
}

// calm are the points without planned faults; the promise report covers the others.
func calm(points []results.Point) []results.Point {
	return slices.DeleteFunc(slices.Clone(points), func(p results.Point) bool { return len(p.Spec.Faults) > 0 })
}

// mostRates is the number of fixed rates up to which each has its ranking told in full.
const mostRates = 2

// verdict says who did best in g: in full for what each workload was made to find, in short for latency at fixed rates
// where there is something fuller or there are many.
func verdict(g group) document.Verdict {
	var v said
	workloads := comparable(g.points)
	rates := 0
	for _, w := range workloads {
		if w.points[0].Spec.Measure == "rate" {
			rates++
		}
	}
	brief := rates < len(workloads) || rates > mostRates
	differ := varietyOf(workloads)
	for _, w := range workloads {
		v.workload(w, brief, differ.apart(w))
	}
	return v.verdict(g.name)
}

// mostApart is the number of settings that a sentence names; what else differs, the warning below the table tells.
const mostApart = 2

// setApart are the settings that set workloads of the same kind apart.
var setApart = []string{"persistence", "replicas", "acks", "ordering", "nodes", "tls"}

// variety is what the workloads of each kind of measurement differ in: by measure and setting, the values.
type variety map[[2]string]map[string]bool

func varietyOf(workloads []group) variety {
	v := variety{}
	for _, w := range workloads {
		p := w.points[0]
		v.add(p.Spec.Measure, "load", p.Load())
		facts := p.Facts()
		for _, path := range setApart {
			v.add(p.Spec.Measure, path, facts[path])
		}
	}
	return v
}

func (v variety) add(measure, path, value string) {
	key := [2]string{measure, path}
	if v[key] == nil {
		v[key] = map[string]bool{}
	}
	v[key][value] = true
}

// apart says in what w differs from the other workloads of its kind: "persistence log". Without that, sentences about
// them would contradict each other.
func (v variety) apart(w group) string {
	p := w.points[0]
	if p.Spec.Measure == "rate" {
		return "" // told by its rate, or beside others
	}
	var words []string
	if len(v[[2]string{p.Spec.Measure, "load"}]) > 1 {
		words = append(words, p.Load())
	}
	facts := p.Facts()
	for _, path := range setApart {
		if len(v[[2]string{p.Spec.Measure, path}]) > 1 && len(words) < mostApart {
			words = append(words, path+" "+facts[path])
		}
	}
	return strings.Join(words, ", ")
}

// said is a verdict's sentences in the making.
type said struct {
	full, alone, short []string
	refused, unusable  []string
}

func (v *said) workload(w group, brief bool, apart string) {
	first := w.points[0]
	m, ok := results.Headline(first.Spec.Measure)
	if !ok {
		return
	}
	var contenders []results.Contender
	for _, p := range w.points {
		switch {
		case len(p.Ok()) > 0:
			contenders = append(contenders, results.Contend(p.Name, m, p.Ok()))
		case p.Status() == string(store.Refused):
			v.refused = append(v.refused, p.Name)
		default:
			v.unusable = append(v.unusable, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), p.Status()))
		}
	}
	r := results.Rank(m, contenders)
	fixed := first.Spec.Measure == "rate"
	switch {
	case len(r.Order) == 0:
	case fixed && len(r.Order) == 1:
		v.lonely(m, r.Order[0].Contender, first)
	case fixed && brief:
		v.short = append(v.short, r.Short(strings.TrimPrefix(first.Load(), "rate ")))
	case fixed:
		v.tell("At "+first.Load()+": "+r.Claim(), r.Basis())
	default:
		claim, basis := r.Claim(), r.Basis()
		if apart != "" {
			claim = "With " + apart + ", " + strings.ToLower(claim[:1]) + claim[1:]
		}
		v.tell(claim, basis, costs(r.Level(), w.points))
	}
}

func (v *said) tell(sentences ...string) {
	v.full = append(v.full, slices.DeleteFunc(sentences, func(s string) bool { return s == "" })...)
}

// lonely notes a figure that nothing was measured to compare with, beside others of the same kind and name.
func (v *said) lonely(m results.Metric, c results.Contender, p results.Point) {
	text := m.Unit.Format(results.Summarize(c.Values).Median) + " at " + strings.TrimPrefix(p.Load(), "rate ")
	whose := m.Name + " of " + c.Name + " "
	for i, said := range v.alone {
		if strings.HasPrefix(said, whose) {
			v.alone[i] += ", " + text
			return
		}
	}
	v.alone = append(v.alone, whose+text)
}

func (v *said) verdict(about string) document.Verdict {
	sentences := v.full
	if v.short != nil {
		sentences = append(sentences, "Lowest e2e p99: "+strings.Join(results.Abridged(v.short), "; ")+".")
	}
	if v.alone != nil {
		sentences = append(sentences, "With nothing to compare it with: "+strings.Join(results.Abridged(v.alone), "; ")+".")
	}
	if sentences == nil {
		sentences = []string{"No conclusion."}
	}
	if v.unusable != nil {
		sentences = append(sentences, "Without a usable figure: "+strings.Join(results.Abridged(v.unusable), ", ")+".")
	}
	if v.refused != nil {
		slices.Sort(v.refused)
		sentences = append(sentences, "Refused by "+strings.Join(results.Abridged(slices.Compact(v.refused)), ", ")+".")
	}
	return document.Verdict{About: about, Finding: sentences[0], Detail: strings.Join(sentences[1:], " ")}
}

// mostCosts is the number of contenders on a level up to which each has its cost told.
const mostCosts = 2

// costs says at what latency and cost the best were measured.
func costs(best []results.Standing, points []results.Point) string {
	if len(best) > mostCosts {
		return ""
	}
	var text strings.Builder
	for _, p := range points {
		if !slices.ContainsFunc(best, func(s results.Standing) bool { return s.Name == p.Name }) {
			continue
		}
		var parts []string
		for _, part := range []struct{ key, after string }{
			{"e2e_p50_ns", " e2e p50"},
			{"e2e_p99_ns", " p99"},
			{"broker_cpu_s_per_million", " of broker CPU per million"},
			{"generator_cpu_s_per_million", " of client CPU per million"},
		} {
			m, err := results.MetricByKey(part.key)
			if s := results.Summarize(m.Values(p.Ok())); err == nil && s.N > 0 {
				parts = append(parts, m.Unit.Format(s.Median)+part.after)
			}
		}
		if parts != nil {
			then := " At that rate "
			if p.Spec.Measure == "count" || p.Spec.Measure == "backlog" {
				then = " In that, "
			}
			text.WriteString(then + p.Name + " had " + strings.Join(parts, ", ") + ".")
		}
	}
	return strings.TrimSpace(text.String())
}

// unnamed are the facts in which repetitions of one point, or the points that a verdict compares, differ without having
// to.
func unnamed(points []results.Point) []string {
	var records []store.Record
	named := []string{"broker", "measure", "nodes"}
	for _, p := range points {
		for _, r := range p.Ok() {
			records = append(records, r)
			for axis := range r.Axes {
				named = append(named, axis)
			}
		}
	}
	return results.Residue(records, named...)
}
