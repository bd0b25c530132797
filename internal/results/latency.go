package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/store"
)

// LatencyKind is one of the histograms of a record.
type LatencyKind struct {
	Name string // as in a record's JSON: e2e, publish, …
	Text string // for people, with what it is measured from and to
	Of   func(store.Latency) hist.Snapshot
}

// LatencyKinds are the histograms of a record; the first is meant where none is named.
var LatencyKinds = []LatencyKind{
	{"e2e", "end-to-end latency (received − intended)", endToEnd},
	{"e2e_service", "end-to-end service time (received − sent)", func(l store.Latency) hist.Snapshot { return l.EndToEndService }},
	{"publish", "publish latency (acked − intended)", publish},
	{"service", "publish service time (acked − sent)", service},
	{"lag", "lag (sent − intended)", lag},
	{"generator_lag", "the generator's own lag", func(l store.Latency) hist.Snapshot { return l.GeneratorLag }},
}

// LatencyByName finds a histogram; "" is the first, an unknown name is answered with the names there are.
func LatencyByName(name string) (LatencyKind, error) {
	if name == "" {
		return LatencyKinds[0], nil
	}
	for _, k := range LatencyKinds {
		if k.Name == name {
			return k, nil
		}
	}
	return LatencyKind{}, fmt.Errorf("unknown latency %q; known: %s", name, strings.Join(LatencyNames(), ", "))
}

// LatencyNames lists the names of LatencyKinds in their order.
func LatencyNames() []string {
	var names []string
	for _, k := range LatencyKinds {
		names = append(names, k.Name)
	}
	return names
}

// Distribution is one latency of a point at one load, over its repetitions.
type Distribution struct {
	Point Point
	Load  string  // "rate 20k/s", "curve 50 %", "sustainable"
	Rate  float64 // confirmed messages per second, the median; 0 when not known
	Used  bool    // false: of void or failed repetitions, from which no conclusion may be drawn
	N     int     // repetitions in it
	// Closed says that it is of a closed loop: it tells how full the window or the backlog was and is no latency
	// under a load. Formats that copy records keep it with these words; nothing is drawn or concluded from it.
	Closed bool
	Pauses hist.Snapshot // of the measuring machine meanwhile; empty where nobody watched
	hist.Snapshot
}

// Distributions merges the repetitions of every point and load. Where any repetition ended ok only those are in it.
// Points without that histogram are left out.
func Distributions(points []Point, kind LatencyKind) []Distribution {
	var all []Distribution
	for _, p := range points {
		loads := map[string][2]*Distribution{}
		var order []string
		add := func(load string, used bool, rate float64, s hist.Snapshot, pauses *store.Pauses) {
			if s.Count() == 0 {
				return
			}
			pair, known := loads[load]
			if !known {
				order = append(order, load)
			}
			i := 0
			if !used {
				i = 1
			}
			if pair[i] == nil {
				pair[i] = &Distribution{Point: p, Load: load, Rate: rate, Used: used, Closed: ClosedLoop(p.Spec)}
			}
			pair[i].N++
			pair[i].Snapshot = pair[i].Merge(s)
			if pauses != nil {
				pair[i].Pauses = pair[i].Pauses.Merge(pauses.Late)
			}
			loads[load] = pair
		}
		for _, r := range p.Records {
			if r.Result == nil {
				continue
			}
			for _, c := range r.Result.Curve {
				add(CurveLoad(c), c.Status == store.OK, c.PublishRate, kind.Of(c.Latency), c.Pauses)
			}
			if r.Result.Curve == nil {
				add(p.Load(), r.Status == store.OK, r.Result.PublishRate, kind.Of(r.Result.Latency), r.Result.Pauses)
			}
		}
		for _, load := range order {
			if pair := loads[load]; pair[0] != nil {
				all = append(all, *pair[0])
			} else {
				all = append(all, *pair[1])
			}
		}
	}
	return all
}

// PointsBySetting groups points that stand in one table or panel, in order of appearance.
func PointsBySetting(points []Point) (settings []string, groups map[string][]Point) {
	groups = map[string][]Point{}
	for _, p := range points {
		s := p.Setting()
		if !slices.Contains(settings, s) {
			settings = append(settings, s)
		}
		groups[s] = append(groups[s], p)
	}
	return settings, groups
}
