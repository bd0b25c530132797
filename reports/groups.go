package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
)

// group is the points that stand in one table: equal message size and delivery guarantee.
type group struct {
	name   string
	points []report.Point
}

func bySetting(points []report.Point) []group {
	return groupBy(points, report.Point.Setting)
}

// byWorkload groups points that were given exactly the same work, whatever the broker.
func byWorkload(points []report.Point) []group {
	return groupBy(points, func(p report.Point) string { return report.Workload(p.Spec, "broker") })
}

// groupBy keeps the order in which the groups first appear.
func groupBy(points []report.Point, key func(report.Point) string) []group {
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

// headline is the metric that a kind of measurement is made for.
func headline(measure string) (report.Metric, bool) {
	key, ok := map[string]string{
		"sustainable": "sustainable_low", "curve": "sustainable_low", "peak": "publish_rate", "rate": "e2e_p99_ns",
		"count": "total_s", "backlog": "drain_rate",
	}[measure]
	if !ok {
		return report.Metric{}, false
	}
	m, err := report.MetricByKey(key)
	return m, err == nil
}

// verdict says who did best in g: in full for what each workload was made to find, in short for latency at fixed rates
// where there is something fuller.
func verdict(g group) string {
	var sentences, short, refused, unusable []string
	workloads := byWorkload(g.points)
	full := slices.ContainsFunc(workloads, func(w group) bool { return w.points[0].Spec.Measure != "rate" })
	for _, w := range workloads {
		first := w.points[0]
		m, ok := headline(first.Spec.Measure)
		if !ok {
			continue
		}
		var contenders []report.Contender
		for _, p := range w.points {
			switch {
			case len(p.Ok()) > 0:
				contenders = append(contenders, report.Contend(p.Name, m, p.Ok()))
			case p.Status() == string(store.Refused):
				refused = append(refused, p.Name)
			default:
				unusable = append(unusable, fmt.Sprintf("%s at %s (%s)", p.Name, p.Load(), p.Status()))
			}
		}
		r := report.Rank(m, contenders)
		switch {
		case len(r.Level) == 0:
		case full && first.Spec.Measure == "rate" && len(contenders) > 1:
			short = append(short, r.Short()+" at "+strings.TrimPrefix(first.Load(), "rate "))
		case full:
			sentences = append([]string{r.String() + costs(r.Level, w.points)}, sentences...)
		default:
			sentences = append(sentences, "At "+first.Load()+": "+r.String())
		}
	}
	if short != nil {
		sentences = append(sentences, "Lowest e2e p99: "+strings.Join(short, "; ")+".")
	}
	if sentences == nil {
		sentences = []string{"No conclusion."}
	}
	if unusable != nil {
		sentences = append(sentences, "Without a usable figure: "+strings.Join(unusable, ", ")+".")
	}
	if refused != nil {
		slices.Sort(refused)
		sentences = append(sentences, "Refused by "+strings.Join(slices.Compact(refused), ", ")+".")
	}
	return strings.Join(sentences, " ")
}

// costs says at what latency and cost the best were measured.
func costs(best []report.Contender, points []report.Point) string {
	var text strings.Builder
	for _, p := range points {
		if !slices.ContainsFunc(best, func(c report.Contender) bool { return c.Name == p.Name }) {
			continue
		}
		var parts []string
		for _, part := range []struct{ key, after string }{
			{"e2e_p50_ns", " e2e p50"},
			{"e2e_p99_ns", " p99"},
			{"broker_cpu_s_per_million", " of broker CPU per million"},
			{"generator_cpu_s_per_million", " of client CPU per million"},
		} {
			m, err := report.MetricByKey(part.key)
			if s := report.Summarize(m.Values(p.Ok())); err == nil && s.N > 0 {
				parts = append(parts, m.Unit.Format(s.Median)+part.after)
			}
		}
		if parts != nil {
			text.WriteString(" At that rate " + p.Name + " had " + strings.Join(parts, ", ") + ".")
		}
	}
	return text.String()
}

// poolWarning tells when repetitions of one point, or the points a verdict compares, weren't made under equal
// conditions.
func poolWarning(points []report.Point) string {
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
	return report.Warning("these records", report.Residue(records, named...))
}
