package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/report"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// live is the repetition under way.
type live struct {
	event   lab.Event
	doing   string
	since   time.Time // of the stage
	ends    time.Time // of the whole run, as estimated when the repetition began
	samples []worker.Sample
	cpu     lab.Cores
}

func (l *live) stage(text string) {
	if text != l.doing {
		l.doing, l.since, l.samples = text, time.Now(), nil
	}
}

func (l *live) follow(e lab.Event) {
	l.event = e
	switch e.Kind {
	case lab.Began:
		l.ends = time.Now().Add(e.Left)
		l.stage("preparing")
	case lab.Staged:
		l.stage(e.Stage)
		l.samples = nil
	case lab.Sampled:
		l.stage(e.Stage)
		l.cpu = e.CPU
		l.samples = append(l.samples, *e.Sample)
		if n := len(l.samples); n > window {
			l.samples = l.samples[n-window:]
		}
	}
}

// window is how many samples the shown rates are taken over; ten come in a second.
const window = 11

// lines are what is to be seen now, at most so many columns wide.
func (l *live) lines(width int, now time.Time) []string {
	if l.doing == "" {
		return nil
	}
	if l.event.Run.Point.ID == "" { // before the first repetition
		return []string{l.doing + elapsed(now.Sub(l.since))}
	}
	e := l.event
	head := fmt.Sprintf("[%d/%d] %s", e.Done+1, e.Total, title(e))
	left := ""
	if remains := l.ends.Sub(now); remains > 0 {
		left = " about " + span(remains) + " left"
	}
	room := width - runewidth.StringWidth(left)
	head = runewidth.FillRight(runewidth.Truncate(head, room, "…"), room) + left
	lines := []string{head, "  " + l.doing + elapsed(now.Sub(l.since))}
	if figures := l.figures(); figures != "" {
		lines = append(lines, "  "+figures)
	}
	return lines
}

func (l *live) figures() string {
	n := len(l.samples)
	if n < 2 {
		return ""
	}
	last, first := l.samples[n-1], l.samples[0]
	seconds := float64(last.At-first.At) / 1e9
	if seconds <= 0 {
		return ""
	}
	rate := report.PerSecond.Format(float64(last.Count.Sent-first.Count.Sent) / seconds)
	if l.event.Target > 0 {
		rate += " of " + report.PerSecond.Format(l.event.Target)
	}
	behind := strings.TrimSuffix(report.PerSecond.Format(float64(max(0, last.Backlog))), "/s") // 1.8M is short
	parts := []string{"sent " + rate, "behind " + behind}
	if q := last.EndToEnd; q.Count > 0 {
		parts = append(parts, fmt.Sprintf("p50 %s p99 %s", report.Nanoseconds.Format(float64(q.P50)), report.Nanoseconds.Format(float64(q.P99))))
	}
	if l.cpu != (lab.Cores{}) {
		parts = append(parts, fmt.Sprintf("cpu %.1f+%.1f", l.cpu.Broker, l.cpu.Generator))
	}
	return strings.Join(parts, "  ")
}

// title names a repetition.
func title(e lab.Event) string {
	name := e.Run.Point.Label
	if broker := e.Run.Point.Spec.Broker; !strings.Contains(name, broker) {
		name = strings.TrimSpace(broker + " " + name)
	}
	if e.Run.Repetition > 1 {
		name += fmt.Sprintf(" #%d", e.Run.Repetition)
	}
	return name
}

// finished is the line that stays of a repetition.
func finished(e lab.Event) string {
	r := e.Record
	line := fmt.Sprintf("[%d/%d] %s: %s", e.Done, e.Total, title(e), r.Status)
	if r.Reason != "" {
		reason, _, _ := strings.Cut(r.Reason, "\n")
		line += ": " + reason
	}
	if r.Status == store.OK {
		line += outcome(*r)
	}
	return line
}

// outcome is the one figure that was asked for, with the latency.
func outcome(r store.Record) string {
	if r.Result == nil {
		return ""
	}
	text := ""
	latency := true
	switch s := r.Result; {
	case s.Sustainable != nil:
		text = "  sustainable " + report.PerSecond.Range(s.Sustainable.Low, s.Sustainable.High)
	case len(s.Curve) > 0:
		text, latency = "  "+counted(len(s.Curve), "rate"), false
	case s.Count != nil:
		text, latency = fmt.Sprintf("  %s messages in %s", report.Count.Format(float64(s.Count.Messages)), span(time.Duration(s.Count.TotalSeconds*1e9))), false
	case s.Backlog != nil:
		text, latency = "  drained at "+report.PerSecond.Format(s.Backlog.DrainRate), false
	default:
		text = "  received " + report.PerSecond.Format(s.ReceiveRate)
	}
	if p99 := report.Quantile(r.Result.Latency.EndToEnd, 0.99); latency && p99 > 0 {
		text += "  p99 " + report.Nanoseconds.Format(p99)
	}
	if n := len(r.Doubts); n > 0 {
		text += fmt.Sprintf("  doubts %d", n)
	}
	return text + "  (" + span(r.Ended.Sub(r.Began)) + ")"
}

// elapsed is shown once a stage takes long enough to wonder.
func elapsed(d time.Duration) string {
	if d < 2*time.Second {
		return ""
	}
	return " " + span(d)
}

// span writes a time for people: 3m20s, 42s, 0.8s.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
