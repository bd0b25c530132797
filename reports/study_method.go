package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/document"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/unit"
)

// older are ways in which publications computed a figure, beside ours of the same.
var older = []struct {
	way, hides string
	theirs     string // metric
	ours       string
}{
	{"mean from the send", "every wait before the send", "e2e_service_mean_ns", "e2e_mean_ns"},
	{"p99 from the send", "every wait before the send", "e2e_service_p99_ns", "e2e_p99_ns"},
	{"mean of one-second means", "every wait before the send, and weighs a second with few messages like one with many", "mean_of_seconds_ns", "e2e_mean_ns"},
	{"mean, corrected by an expected interval", "the waits before the send that the expected interval doesn't fill in", "corrected_mean_ns", "e2e_mean_ns"},
	{"p99, corrected by an expected interval", "the waits before the send that the expected interval doesn't fill in", "corrected_p99_ns", "e2e_p99_ns"},
	{"the rate before latency jumps", "a backlog that grows before latency shows it", "knee_rate", "sustainable_low"},
}

// clearFactor is the least factor between two ways of computing a figure at which the table says that they differ.
const clearFactor = 1.1

// method compares older ways of computing figures with ours, if they hid something or found the same.
func (p Paper) method(d *document.Document, beside *results.Set) {
	t := document.Table{Columns: []document.Column{
		{Key: "way", Name: "older way", Row: true, Wide: true},
		{Key: "point", Name: "where it differs most", Wide: true},
		{Key: "theirs", Name: "its figure"},
		{Key: "ours", Name: "ours"},
		{Key: "ratio", Name: "ours / its", Unit: unit.Factor},
		{Key: "differ", Name: "loads that\ndiffer", Unit: unit.Count},
		{Key: "loads", Name: "loads", Unit: unit.Count},
	}}
	for _, o := range older {
		row, ok := apart(beside, results.MustMetric(o.theirs), results.MustMetric(o.ours))
		if !ok {
			continue
		}
		row["way"] = document.Text(o.way + " (can hide " + o.hides + ")")
		t.Rows = append(t.Rows, row)
	}
	closed := slices.ContainsFunc(beside.Points, func(p results.Point) bool { return !p.Published() && results.ClosedLoop(p.Spec) })
	if len(t.Rows) == 0 && !closed {
		return
	}
	d.Add(document.Heading{Level: 2, Text: p.words().method})
	if len(t.Rows) > 0 {
		d.Say(fmt.Sprintf("Both figures are of the same messages. A load is said to differ where they are more than %s apart.", unit.Factor.Format(clearFactor)))
		d.Add(t)
	}
	if closed {
		d.Say("Latencies in the tables above that were measured flat out are those of a closed loop" + p.words().closed + ": by Little's law they " +
			"say how full the client's window was, whatever the broker.")
	}
}

// apart finds the load where two ways of computing a figure are furthest apart.
func apart(beside *results.Set, theirs, ours results.Metric) (row document.Row, ok bool) {
	var point, load string
	var a, b results.Summary
	worst, differ, loads := 1.0, 0, 0
	for _, p := range beside.Points {
		if p.Published() {
			continue
		}
		loadPoints := p.MeasuredLoads()
		if theirs.Unit == unit.PerSecond { // a rate is of the whole curve
			loadPoints = p.LoadPoints()
		}
		for _, l := range loadPoints {
			x, y := theirs.Over(l.Records), ours.Over(l.Records)
			if !l.Used() || x.N == 0 || y.N == 0 || x.Median <= 0 || y.Median <= 0 {
				continue
			}
			loads++
			distance := math.Max(x.Median/y.Median, y.Median/x.Median)
			if distance > clearFactor {
				differ++
			}
			if distance >= worst {
				worst, a, b, point, load = distance, x, y, p.Name+", "+p.Setting(), l.RowTitle
			}
		}
	}
	if loads == 0 {
		return nil, false
	}
	return document.Row{
		"point": document.Text(point + ", " + load), "theirs": a.Cell().In(theirs.Unit), "ours": b.Cell().In(ours.Unit),
		"ratio": document.Number(b.Median / a.Median), "differ": document.Number(differ), "loads": document.Number(loads),
	}, true
}
