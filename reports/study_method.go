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
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// olderMethod is a way in which publications computed a figure, beside ours of the same messages.
type olderMethod struct {
	name   string
	hides  string // what it can hide
	theirs string // key of the metric that computes the figure in the older way
	ours   string // key of our metric
}

const (
	everyWait   = "every wait before the send"
	someOfWaits = "the waits before the send that the expected interval doesn't fill in"
)

var olderMethods = []olderMethod{
	{name: "mean from the send", hides: everyWait, theirs: results.KeyEndToEndServiceMean, ours: results.KeyEndToEndMean},
	{name: "p99 from the send", hides: everyWait, theirs: results.KeyEndToEndServiceP99, ours: results.KeyEndToEndP99},
	{
		name: "mean of one-second means", hides: everyWait + ", and weighs a second with few messages like one with many",
		theirs: results.KeyMeanOfSeconds, ours: results.KeyEndToEndMean,
	},
	{name: "mean, corrected by an expected interval", hides: someOfWaits, theirs: results.KeyCorrectedMean, ours: results.KeyEndToEndMean},
	{name: "p99, corrected by an expected interval", hides: someOfWaits, theirs: results.KeyCorrectedP99, ours: results.KeyEndToEndP99},
	{
		name: "the rate before latency jumps", hides: "a backlog that grows before latency shows it",
		theirs: results.KeyKneeRate, ours: results.KeySustainableLow,
	},
}

// clearFactor is the least factor between two ways of computing a figure at which the table says that
// they differ.
const clearFactor = 1.1

// addOlderMethods compares older ways of computing figures with ours. It adds nothing if no load has both
// figures and none was a closed loop.
func (p Paper) addOlderMethods(d *document.Document, own *results.Set) {
	var compared []methodComparison
	for _, m := range olderMethods {
		if c := m.compare(own); c.loads > 0 {
			compared = append(compared, c)
		}
	}
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
			": by Little's law they say how full the client's window was, whatever the broker.")
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
		func(c methodComparison) string { return c.method.name + " (can hide " + c.method.hides + ")" }),
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

// compare looks at every load that was measured and has both figures.
func (m olderMethod) compare(own *results.Set) methodComparison {
	theirs, ours := results.MustMetric(m.theirs), results.MustMetric(m.ours)
	c := methodComparison{method: m, unit: ours.Unit}
	largest := 1.0 // factor so far
	for _, p := range own.Points {
		if p.Published() {
			continue
		}
		loadPoints := p.MeasuredLoads()
		if theirs.Unit == unit.PerSecond { // such a rate was found by all loads of a curve together
			loadPoints = p.LoadPoints()
		}
		for _, l := range loadPoints {
			theirFigure, ourFigure := theirs.Over(l.Records), ours.Over(l.Records)
			hasRatio := theirFigure.Median > 0 && ourFigure.Median > 0 // neither is unknown (NaN)
			if !l.Used() || !hasRatio {
				continue
			}
			c.loads++
			factor := max(theirFigure.Median/ourFigure.Median, ourFigure.Median/theirFigure.Median)
			if factor > clearFactor {
				c.differ++
			}
			if factor >= largest {
				largest = factor
				c.farthest, c.theirs, c.ours = p.Name+", "+p.Setting()+", "+l.RowTitle, theirFigure, ourFigure
			}
		}
	}
	return c
}
