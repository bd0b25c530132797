// Figures as older methods compute them, beside ours of the same messages. A load generator that waits
// for an answer before it sends the next message does not send while the broker is slow; latency counted
// from that late send hides the wait ("coordinated omission"). Ours counts from the time at which the
// message was meant to be sent:
//
//	older way                      where it differs most      its figure   ours    ours / its
//	p99 from the send (can hide    kafka, 100 B, rate 50k/s   4.1 ms       97 ms   23.7×
//	every wait before the send)

package reports

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// olderMethod is a way in which publications computed a figure, beside ours of the same messages.
type olderMethod struct {
	name     string
	canHide  string
	theirs   string // key of the metric that computes the figure in the older way
	ours     string // key of our metric
	ofCurves bool   // the figures are of whole curves: one rate, found by all loads of a curve together
}

const (
	everyWait     = "every wait before the send"
	unfilledWaits = "the waits before the send that the expected interval doesn't fill in"
)

var olderMethods = []olderMethod{
	{name: "mean from the send", canHide: everyWait, theirs: results.KeyEndToEndServiceMean, ours: results.KeyEndToEndMean},
	{name: "p99 from the send", canHide: everyWait, theirs: results.KeyEndToEndServiceP99, ours: results.KeyEndToEndP99},
	{
		name: "mean of one-second means", canHide: everyWait + ", and weighs a second with few messages like one with many",
		theirs: results.KeyMeanOfSeconds, ours: results.KeyEndToEndMean,
	},
	{name: "mean, corrected by an expected interval", canHide: unfilledWaits, theirs: results.KeyCorrectedMean, ours: results.KeyEndToEndMean},
	{name: "p99, corrected by an expected interval", canHide: unfilledWaits, theirs: results.KeyCorrectedP99, ours: results.KeyEndToEndP99},
	{
		name: "the rate before latency jumps", canHide: "a backlog that grows before latency shows it",
		theirs: results.KeyKneeRate, ours: results.KeySustainableLow, ofCurves: true,
	},
}

// clearFactor is the least factor between two ways of computing a figure at which the table says that
// they differ.
const clearFactor = 1.1

// addOlderMethods compares older ways of computing figures with ours. It adds nothing if no load has both
// figures and none was a closed loop.
func (p Paper) addOlderMethods(d *document.Document, own *results.Set) {
	compared := lists.Map(olderMethods, func(m olderMethod) methodComparison { return m.compare(own) })
	compared = lists.Filter(compared, func(c methodComparison) bool { return c.loads > 0 })
	isClosedLoop := func(p results.Point) bool { return !p.Published() && p.Spec.ClosedLoop() }
	anyClosedLoop := slices.ContainsFunc(own.Points, isClosedLoop)
	if len(compared) == 0 && !anyClosedLoop {
		return
	}
	d.Add(document.Heading{Level: 2, Text: p.choose("What the older method hid", "What older ways of computing would hide")})
	if len(compared) > 0 {
		d.Say(fmt.Sprintf("Both figures are of the same messages. A load is said to differ where they are more than %s apart.",
			unit.Factor.Format(clearFactor)))
		d.Add(tableOf("", methodColumns, compared))
	}
	if anyClosedLoop {
		d.Say("Latencies in the tables above that were measured flat out are those of a closed loop" +
			p.choose(", computed as the paper did", "") +
			": by Little's law they are the messages in the client's window divided by the throughput.")
	}
}

// methodComparison says how far an older way of computing a figure is from ours, and where it is farthest.
type methodComparison struct {
	method       olderMethod
	unit         unit.Unit       // of both figures
	loads        int             // that have both figures
	differ       int             // of them, those with more than clearFactor between the figures
	farthest     string          // the point and load with the largest factor
	theirs, ours results.Summary // the figures there
}

var methodColumns = []columnOf[methodComparison]{
	textColumn(document.Column{Key: "way", Name: "older way", Identifies: true, Wide: true},
		func(c methodComparison) string { return c.method.name + " (can hide " + c.method.canHide + ")" }),
	textColumn(document.Column{Key: "point", Name: "where it differs most", Wide: true},
		func(c methodComparison) string { return c.farthest }),
	cellColumn(document.Column{Key: "theirs", Name: "its figure"},
		func(c methodComparison) document.Cell { return c.theirs.Cell().In(c.unit) }),
	cellColumn(document.Column{Key: "ours", Name: "ours"},
		func(c methodComparison) document.Cell { return c.ours.Cell().In(c.unit) }),
	numberColumn(document.Column{Key: "ratio", Name: "ours / its", Unit: unit.Factor},
		func(c methodComparison) float64 { return c.ours.Median / c.theirs.Median }),
	numberColumn(document.Column{Key: "differ", Name: "loads that\ndiffer", Unit: unit.Count},
		func(c methodComparison) int { return c.differ }),
	numberColumn(document.Column{Key: "loads", Name: "loads", Unit: unit.Count}, func(c methodComparison) int { return c.loads }),
}

// compare sets the figures of both ways beside each other, for every load that was measured and has both.
func (m olderMethod) compare(own *results.Set) methodComparison {
	theirs, ours := results.MustMetric(m.theirs), results.MustMetric(m.ours)
	c := methodComparison{method: m, unit: ours.Unit}
	largest := 0.0 // factor so far; every factor is at least 1
	for _, l := range m.comparedLoads(own.Points) {
		theirFigure, ourFigure := theirs.Over(l.Records), ours.Over(l.Records)
		if !(theirFigure.Median > 0 && ourFigure.Median > 0) { // they have no ratio, or one is unknown (NaN)
			continue
		}
		c.loads++
		factor := max(theirFigure.Median/ourFigure.Median, ourFigure.Median/theirFigure.Median)
		if factor > clearFactor {
			c.differ++
		}
		if factor > largest {
			largest = factor
			c.farthest, c.theirs, c.ours = l.Point.Name+", "+l.Point.Setting()+", "+l.RowTitle, theirFigure, ourFigure
		}
	}
	return c
}

// comparedLoads are the measured loads that conclusions may be drawn from: the rates of a curve, or the whole curve if the figures are of it.
func (m olderMethod) comparedLoads(points []results.Point) []results.LoadPoint {
	loadsOf := results.Point.MeasuredLoads
	if m.ofCurves {
		loadsOf = results.Point.LoadPoints
	}
	return lists.Filter(lists.Flat(points, loadsOf), func(l results.LoadPoint) bool { return l.Used() && !l.Point.Published() })
}
