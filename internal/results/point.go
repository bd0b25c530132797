// Package results turns stored records into points, each with its loads over their repetitions, and into metrics, axes,
// statistics and rankings, for reports, figures and gates. It doesn't know how records were measured. It makes the cells that
// show results, and knows nothing of the tables around them.
//
// A record is one repetition. Records of equal spec are a point. A load point is one load of a point over its repetitions. A
// metric reads one figure from each record; a figure that is not known is NaN.
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
	"fmt"
	"slices"
	"strings"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/unit"
)

// Point is the records of one spec. It has at least one.
type Point struct {
	ID       string // hash of its complete spec
	Name     string // its kind and its variant: "kafka@4.1 bursts linger=5"
	Product  string // broker, with its version if points of the same broker differ in it: "kafka@4.1"
	Variant  Variant
	Spec     study.Spec
	Records  []store.Record // in the order in which they were stored, without superseded ones
	Repeated int            // repetitions that ended ok and were measured again

	shape string     // of its load: "bursts"; empty unless it is part of the name
	facts *factCache // for speed, shared by the points of a set; nil for a point made separately
}

// Kind is the point's name without its variant: the product, and the shape of its load if points differ in it: "kafka@4.1
// bursts".
func (p Point) Kind() string { return strings.TrimSpace(p.Product + " " + p.shape) }

// axes are the point's values on the axes of its study.
func (p Point) axes() map[string]string { return p.Records[0].Axes }

// Ok are the repetitions that ended ok. Conclusions are drawn from no others.
func (p Point) Ok() []store.Record { return EndedOK(p.Records) }

// EndedOK are the records that ended ok.
func EndedOK(records []store.Record) []store.Record {
	return lists.Filter(records, func(r store.Record) bool { return r.Status == store.OK })
}

// Shown are the records whose figures tables show: the repetitions that ended ok or, if none did, those that failed, were void,
// or were published, in this order of preference. If two ended ok and one failed, the two are shown.
func (p Point) Shown() []store.Record {
	for _, status := range []store.Status{store.OK, store.Failed, store.Void, store.Published} {
		if records := p.with(status); len(records) > 0 {
			return records
		}
	}
	return nil
}

// Ran are the repetitions over which counts of messages are summed: those that ended ok, and those that failed.
func (p Point) Ran() []store.Record { return lists.Filter(p.Records, ran) }

func ran(r store.Record) bool { return r.Status == store.OK || r.Status == store.Failed }

func (p Point) with(status store.Status) []store.Record {
	return lists.Filter(p.Records, func(r store.Record) bool { return r.Status == status })
}

// All reports whether every repetition ended with this status.
func (p Point) All(status store.Status) bool { return len(p.with(status)) == len(p.Records) }

// Published reports whether the point holds the figures of a publication. They are only shown beside measured figures: no
// ranking, test or conclusion uses them.
func (p Point) Published() bool { return p.Records[0].Status == store.Published }

// Endings say how the point's repetitions ended, the worst first: "failed 1 of 3", "ok 2 of 3", or "ok" alone if all ended
// ok.
func (p Point) Endings() []string {
	var endings []string
	for _, status := range []store.Status{store.Failed, store.Void, store.Aborted, store.Refused, store.OK, store.Published} {
		n := len(p.with(status))
		if n == len(p.Records) {
			return []string{string(status)}
		}
		if n > 0 {
			endings = append(endings, fmt.Sprintf("%s %d of %d", status, n, len(p.Records)))
		}
	}
	return endings
}

// Status is the point's endings in one line: "ok", or "failed 1 of 3, ok 2 of 3".
func (p Point) Status() string { return strings.Join(p.Endings(), ", ") }

// Rate names the offered rate with its shape: "1k/s", "1k/s poisson", "1k/s to 5k/s ramp", "1k/s, 0/s, 5k/s steps",
// "1k/s to 5k/s, 5k/s repeated steps".
func (p Point) Rate() string {
	l := p.Spec.Load
	text := RateText(l.Rate)
	switch l.Shape {
	case constantShape:
		return text
	case "ramp":
		text += " to " + RateText(l.To)
	case "steps": // steps have no other rate
		var rates []string
		for _, s := range l.Steps {
			rate := RateText(s.Rate)
			if s.End() != s.Rate {
				rate += " to " + RateText(s.End())
			}
			rates = append(rates, rate)
		}
		if len(rates) > maxStepsNamed {
			rates = append(rates[:maxStepsNamed-1], "… "+rates[len(rates)-1])
		}
		text = strings.Join(rates, ", ")
		if l.Repeat {
			text += " repeated"
		}
	}
	return text + " " + l.Shape
}

// maxStepsNamed is the number of steps of a load that its name lists at most.
const maxStepsNamed = 4

// Load names the load: "sustainable", "rate 1k/s", "count at 1k/s", "peak".
func (p Point) Load() string {
	switch {
	case p.Spec.Measure == study.MeasureRate:
		return "rate " + p.Rate()
	case p.Spec.Measure == study.MeasureCount && p.Spec.Load.Rate > 0:
		return "count at " + p.Rate()
	case p.Spec.Read.From == study.ReadStart:
		return "read from the start"
	}
	return p.Spec.Measure
}

// Setting names the table that the point belongs to: "100 B, at-least-once". Points through relays and points between agents
// have tables of their own, because their latencies include the relays, or the error of two clocks.
func (p Point) Setting() string {
	setting := sizesText(p.Spec.MessageSize) + ", " + p.Spec.Delivery
	if p.Spec.Relays > 0 {
		setting += ", through relays"
	}
	if p.Spec.Place.Spread() {
		setting += ", agents' place " + p.Spec.Place.String()
	}
	return setting
}

// sizesText formats message sizes so that different ones look different: "1 KiB", but "1234 B" if three digits are not enough.
func sizesText(sizes study.Sizes) string {
	if len(sizes) == 0 {
		return "sizes of others"
	}
	if len(sizes) != 1 {
		return sizes.Summary() + " B"
	}
	bytes := float64(sizes[0].Size)
	text := unit.Bytes.Format(bytes)
	if told, err := study.ParseSize(text); err != nil || told != sizes[0].Size {
		return unit.Count.Format(bytes) + " B"
	}
	return text
}

// Notes that a document shows once if its points need them.

// ClosedLoopNote says why points of a closed loop show no latency: N messages in flight at a rate X wait N/X each (Little's law),
// with any broker.
const ClosedLoopNote = "A peak, a backlog and a count without a rate are closed loops: their latency says how full the client's window or " +
	"the backlog was, nothing about a system under a given load, so none is shown or compared."

// TailsNote says which consumers' latencies are shown if only some consumers have a backlog.
const TailsNote = "Where only some consumers have a backlog, the latencies are those of the others while it drains; theirs before, and how old the " +
	"messages of the backlog were, are figures of their own."

// PublishedNote explains published figures.
const PublishedNote = "Published figures are those of a paper, on its machines and versions: they stand beside the measured ones, and nothing " +
	"is ranked, tested or judged by them."

// AnyTails reports whether a document about points needs TailsNote.
func AnyTails(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return len(p.Shown()) > 0 && p.Spec.Tails() })
}

// AnyClosedLoop reports whether a document about points needs ClosedLoopNote.
func AnyClosedLoop(points []Point) bool {
	return slices.ContainsFunc(points, func(p Point) bool {
		return len(p.Shown()) > 0 && p.Spec.ClosedLoop() && p.Spec.Measure != study.MeasureRead
	})
}
