// Package results turns stored records into points, each with its loads over their repetitions, and into metrics, axes,
// statistics and rankings. Reports, figures and gates choose from them. It knows nothing of how records were measured, and of
// how results are shown no more than their cells.
//
// A record is one repetition. Records of equal spec are a point; a load point is one load of a point over its repetitions;
// a metric reads one figure from each record:
//
//	p99 := results.MustMetric("e2e_p99_ns")
//	for _, point := range results.Of(records).Points {
//		for _, l := range point.MeasuredLoads() { // "curve 1k/s", "curve 2k/s"
//			if l.Used() { // it ended ok
//				fmt.Println(point.Name, l.RowTitle, p99.Over(l.Records).Median) // kafka curve 1k/s 1.3e+06
//			}
//		}
//	}
package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// Point is everything the store holds about one point. It has at least one record.
type Point struct {
	ID       string // hash of its complete spec
	Product  string // broker, with its version if points of the same broker differ in it
	Variant  string // the settings that tell it from other points of the same broker: "linger=5 topics=2"; empty if none do
	Name     string // product, the shape of its load if points differ in it, and variant
	Spec     study.Spec
	Records  []store.Record // in order of appending, superseded attempts left out
	Repeated int            // repetitions that ended ok and were measured again

	shape string     // of its load; empty unless it is part of the name
	words []Word     // of its variant
	facts *factCache // shared by the points of a set
}

// Word is a setting in which points of a set differ, with the value that a point has.
type Word struct{ Name, Value string }

// Words are the settings that set p apart from other points of the same broker; its variant says the same in one line.
func (p Point) Words() []Word { return p.words }

// Kind is the point's name without its variant: the product, and the shape of its load if points differ in it.
func (p Point) Kind() string { return strings.TrimSpace(p.Product + " " + p.shape) }

// measures is the order in which kinds of measurement are shown.
var measures = []string{"sustainable", "curve", "peak", "rate", "count", "backlog"}

// pointsOf groups records by point, sorted by message size, delivery, measure, rate and broker.
func pointsOf(records []store.Record) []Point {
	facts := &factCache{}
	byID := map[string]*Point{}
	var points []*Point
	for _, r := range records {
		p := byID[r.PointID]
		if p == nil {
			p = &Point{ID: r.PointID, Spec: r.Spec, facts: facts}
			byID[r.PointID] = p
			points = append(points, p)
		}
		p.take(r)
	}
	slices.SortStableFunc(points, workloadOrder)
	nameAll(points)
	slices.SortStableFunc(points, func(a, b *Point) int { // records come in the order of a shuffle
		return cmp.Or(workloadOrder(a, b), compareWords(a.words, b.words))
	})
	out := make([]Point, len(points))
	for i, p := range points {
		out[i] = *p
	}
	return out
}

// take adds a record. It supersedes earlier ones of the same repetition unless these failed with a result, because a broken promise
// stays broken. Of several that ended ok the latest counts, and Repeated counts the others: more repetitions than a spec asks for are
// not a larger sample, but the same one taken twice.
func (p *Point) take(r store.Record) {
	p.Records = slices.DeleteFunc(p.Records, func(old store.Record) bool {
		if old.Repetition != r.Repetition {
			return false
		}
		if old.Status == store.OK && r.Status == store.OK && r.Repetition > 0 { // 0 is not numbered
			p.Repeated++
			return true
		}
		kept := old.Status == store.OK || old.Status == store.Failed && old.Result != nil
		return !kept
	})
	p.Records = append(p.Records, r)
}

// workloadOrder orders points by message size, delivery, measure, rate and broker.
func workloadOrder(a, b *Point) int {
	return cmp.Or(
		cmp.Compare(a.Spec.MessageSize.Mean(), b.Spec.MessageSize.Mean()),
		cmp.Compare(a.Spec.Delivery, b.Spec.Delivery),
		cmp.Compare(slices.Index(measures, a.Spec.Measure), slices.Index(measures, b.Spec.Measure)),
		cmp.Compare(a.Spec.Load.Rate, b.Spec.Load.Rate),
		cmp.Compare(a.Spec.Broker, b.Spec.Broker),
	)
}

func (p Point) axes() map[string]string { return p.Records[0].Axes }

// Ok are the records that conclusions may be drawn from: the repetitions that ended ok.
func (p Point) Ok() []store.Record { return p.with(store.OK) }

// Shown are the records whose figures may stand in a table, all of one status: the ok ones, else the failed, else the void or
// published ones, which enter no conclusion.
func (p Point) Shown() []store.Record {
	for _, status := range []store.Status{store.OK, store.Failed, store.Void, store.Published} {
		if records := p.with(status); len(records) > 0 {
			return records
		}
	}
	return nil
}

func (p Point) with(status store.Status) []store.Record {
	var records []store.Record
	for _, r := range p.Records {
		if r.Status == status {
			records = append(records, r)
		}
	}
	return records
}

// All tells whether every repetition ended with this status.
func (p Point) All(status store.Status) bool { return len(p.with(status)) == len(p.Records) }

// Endings say how the point's repetitions ended, the worst first: "failed 1 of 3", "ok 2 of 3"; "ok" alone if all ended ok. The list
// is never empty.
func (p Point) Endings() []string {
	var endings []string
	for _, status := range []store.Status{store.Failed, store.Void, store.Aborted, store.Refused, store.OK, store.Published} {
		switch n := len(p.with(status)); {
		case n == len(p.Records):
			return []string{string(status)}
		case n > 0:
			endings = append(endings, fmt.Sprintf("%s %d of %d", status, n, len(p.Records)))
		}
	}
	return endings
}

// Status is the point's endings in one line: "ok", or "failed 1 of 3, ok 2 of 3".
func (p Point) Status() string { return strings.Join(p.Endings(), ", ") }

// Rate names the offered rate with its shape: "1k/s", "1k/s poisson".
func (p Point) Rate() string { return rate(p.Spec.Load) }

// Load names the load: "sustainable", "rate 1k/s", "count at 1k/s", "peak".
func (p Point) Load() string {
	switch {
	case p.Spec.Measure == "rate":
		return "rate " + rate(p.Spec.Load)
	case p.Spec.Measure == "count" && p.Spec.Load.Rate > 0:
		return "count at " + rate(p.Spec.Load)
	}
	return p.Spec.Measure
}

func rate(l study.Load) string {
	text := RateText(l.Rate)
	if l.Shape != "" && l.Shape != "constant" {
		text += " " + l.Shape
	}
	return text
}

// Setting names the table that the point belongs to: "100 B, at-least-once". Points through relays and points between agents have tables
// of their own: their latencies include the relays, or the error of two clocks.
func (p Point) Setting() string {
	size := p.Spec.MessageSize.Summary() + " B"
	if len(p.Spec.MessageSize) == 1 {
		size = unit.Bytes.Format(float64(p.Spec.MessageSize[0].Size))
	}
	setting := size + ", " + p.Spec.Delivery
	if p.Spec.Relays > 0 {
		setting += ", through relays"
	}
	if p.Spec.Place.Spread() {
		setting += ", agents' place " + p.Spec.Place.String()
	}
	return setting
}
