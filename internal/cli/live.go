package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
	"github.com/brokermark/brokermark/internal/watch"
)

// lines returns the terminal's view of a run now, in lines of at most width columns.
func lines(v watch.View, width int) []string {
	if v.Stage == "" {
		return nil
	}
	doing := v.Stage
	if v.Phase != "" {
		doing += ", " + v.Phase
	}
	if stage := time.Duration(v.StageNs); stage >= 2*time.Second { // long enough to wonder
		doing += " " + span(stage)
	}
	if v.Title == "" { // before the first repetition
		return []string{doing}
	}
	left := ""
	if v.LeftNs >= int64(time.Second) { // an estimate is no better than that
		left = " about " + span(time.Duration(v.LeftNs)) + " left"
	}
	room := width - runewidth.StringWidth(left)
	head := runewidth.Truncate(fmt.Sprintf("[%d/%d] %s", v.Done+1, v.Total, v.Title), room, "…")
	return append([]string{runewidth.FillRight(head, room) + left, "  " + doing}, figures(v.Now, width)...)
}

// twoColumns is the width from which on figures stand side by side.
const twoColumns = 76

// figures returns the figures of a load in one or two columns. They keep their places, so that the eye finds them while they change.
func figures(t *watch.Tick, width int) []string {
	if t == nil {
		return nil
	}
	rate := unit.PerSecond.Format(t.Sent)
	if t.Target > 0 {
		rate += " of " + unit.PerSecond.Format(t.Target)
	}
	latency := "nothing arrived"
	switch {
	case t.ClosedLoop: // how full the window is
		latency = "– (closed loop)"
	case t.P99Ns > 0:
		latency = fmt.Sprintf("%s, p50 %s", unit.Nanoseconds.Format(float64(t.P99Ns)), unit.Nanoseconds.Format(float64(t.P50Ns)))
	}
	broker := "–"
	if t.BrokerCPU > 0 {
		broker = inCores(t.BrokerCPU)
	}
	cpu := fmt.Sprintf("broker %s, generator %s cores", broker, inCores(t.GeneratorCPU))
	backlog := strings.TrimSuffix(unit.PerSecond.Format(float64(t.Backlog)), "/s") // 1.8M is short
	if width < twoColumns {
		return []string{"  rate     " + rate, "  backlog  " + backlog, "  p99      " + latency, "  cpu      " + cpu}
	}
	return []string{
		"  rate  " + runewidth.FillRight(rate, 26) + "backlog  " + backlog,
		"  p99   " + runewidth.FillRight(latency, 26) + "cpu      " + cpu,
	}
}

// inCores formats a number of cores: 1.20 of a small machine, 128.5 of a large one.
func inCores(n float64) string {
	if n < 9.995 {
		return fmt.Sprintf("%.2f", n)
	}
	return fmt.Sprintf("%.1f", n)
}

// finished returns the line that stays of a repetition. With several studies it names the point's one.
func finished(e lab.Event, severalStudies bool) string {
	r := e.Record
	title := watch.Title(e)
	if severalStudies {
		title = e.Run.Point.Study + ": " + title
	}
	line := fmt.Sprintf("[%d/%d] %s: %s", e.Done, e.Total, title, r.Status)
	if r.Reason != "" {
		line += ": " + firstLine(r.Reason)
	}
	if r.Status == store.OK {
		if missed := results.Missed(*r); missed != "" {
			line += ", but the rate was missed: " + missed
		}
		line += told(*r)
	}
	return line
}

var endToEndP99, throughput = results.MustMetric(results.KeyEndToEndP99), results.MustMetric(results.KeyThroughput)

// told returns the outcome of a repetition as the end of its line, such as "  throughput 900/s  p99 3.00 ms  doubts: generator  (42s)".
func told(r store.Record) (text string) {
	o := outcome(r)
	if o.Text == "" {
		return ""
	}
	text = "  " + o.Text
	if o.P99Ns > 0 {
		atLeast := ""
		if o.P99AtLeast {
			atLeast = "≥ "
		}
		text += "  p99 " + atLeast + unit.Nanoseconds.Format(float64(o.P99Ns))
	}
	if len(o.Doubts) > 0 {
		text += "  doubts: " + strings.Join(o.Doubts, ", ")
	}
	return text + "  (" + span(r.Took()) + ")"
}

// outcome returns the one figure that a repetition was run for, with the latency and the classes of its doubts.
func outcome(r store.Record) (o watch.Outcome) {
	if r.Result == nil {
		return o
	}
	latency := true
	switch s := r.Result; {
	case s.Sustainable != nil:
		o.Text = "sustainable " + results.BoundsText(s.Sustainable.Low, s.Sustainable.High, s.Sustainable.HeldNs)
		for i, g := range s.Sustainable.Goals {
			if i > 0 {
				o.Text += fmt.Sprintf(" (%s: %s)", results.GoalName(g), results.BoundsText(g.Low, g.High, g.HeldNs))
			}
		}
	case len(s.Curve) > 0:
		o.Text, latency = unit.Counted(len(s.Curve), "rate"), false
	case s.Count != nil:
		messages := unit.Count.Format(float64(s.Count.Messages)) + " messages"
		if s.Count.Messages == 1 {
			messages = "1 message"
		}
		o.Text, latency = messages+" in "+span(time.Duration(s.Count.TotalSeconds*1e9)), false
	case s.Backlog != nil:
		o.Text, latency = "drained at "+unit.PerSecond.Format(s.Backlog.DrainRate), false
	default:
		o.Text = "throughput " + unit.PerSecond.Format(throughput.Of(r))
	}
	if p99 := endToEndP99.Of(r); latency && p99 > 0 {
		o.P99Ns, o.P99AtLeast = int64(p99), math.IsInf(endToEndP99.AtMost(r), 1)
	}
	o.Doubts = lists.Map(results.DoubtClasses(r), func(class doubt.Class) string { return string(class) })
	return o
}

// span writes a time for people: 3m20s, 42s, 0.8s, 2.39 ms.
func span(d time.Duration) string {
	switch {
	case d > 0 && d < 100*time.Millisecond:
		return unit.Nanoseconds.Format(float64(d))
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
