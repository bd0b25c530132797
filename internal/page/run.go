// Courses of repetitions over time, for the front end: rates, latencies, backlog and CPU at each second, with the phases and faults of the
// repetition. A course is stored column by column:
//
//	{"p": 0, "load": "rate 1k/s", "rep": 1, "t": [0, 1, 2], "phases": [{"name": "warm-up", "until": 1}, ...],
//	 "panels": [{"i": 0, "v": [[1000, 1000, 998], [1000, 999, 1001]]}], ...}

package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// The limits keep a page of many repetitions small enough to open.
const (
	maxTicks   = 120_000 // in all courses together; the page says how many runs are left out
	leastTicks = 40      // to which a course is thinned before runs are left out
)

// run is the course of one repetition under one load, column by column.
type run struct {
	Point      int            `json:"p"` // index in data.Points
	Load       string         `json:"load"`
	Repetition int            `json:"rep"`
	Status     string         `json:"status"`
	Reason     string         `json:"reason,omitempty"`
	Doubts     []string       `json:"doubts,omitempty"`
	Began      string         `json:"began"`
	Cores      int            `json:"cores"`
	Seconds    []number       `json:"t"` // since the start of the measured phase
	Phases     []phase        `json:"phases"`
	Panels     []panelLines   `json:"panels"`
	Faults     []plannedFault `json:"faults,omitempty"`
	Books      []counted      `json:"books,omitempty"`
	Pauses     *pauses        `json:"own,omitempty"`
}

// coursePanel is one of the charts below each other that draw a course. All runs share the descriptions of their panels.
type coursePanel struct {
	Title string   `json:"title"`
	Unit  string   `json:"unit"`
	Lines []string `json:"lines"` // names
}

// panelLines are a run's lines in a panel.
type panelLines struct {
	Panel  int   `json:"i"` // in data.Panels
	Values []any `json:"v"` // of each line at each second: []number or []rough
}

// counted is a count of the books.
type counted struct {
	Name string `json:"name"`
	N    number `json:"n"`
}

// pauses says how long the measuring machine stood still.
type pauses struct {
	P99     number `json:"p99"`    // ns
	Longest number `json:"max"`    // ns
	At      number `json:"t"`      // of the longest, in seconds since the start of the measured phase
	GC      number `json:"gc"`     // ns, all pauses of the garbage collector
	Stolen  number `json:"stolen"` // s, by the hypervisor
	Queued  number `json:"queued"` // s, in which threads of the generator waited for a core
}

// phase is a phase with its end, in seconds.
type phase struct {
	Name  string `json:"name"`
	Until number `json:"until"`
}

// plannedFault is something that was done to the broker on purpose.
type plannedFault struct {
	At   number `json:"t"`
	Do   string `json:"do"`
	Node string `json:"node"` // what was hit, in words
	Err  string `json:"err,omitempty"`
}

// loadRun is a repetition under one load, from which a run is made.
type loadRun struct {
	point  int // index in data.Points
	load   string
	record store.Record // cut down to the load; it has a result
}

func (l loadRun) hasFaults() bool { return len(l.record.Result.Faults) > 0 }

// addRuns adds the courses of as many repetitions as fit, in the order of points. If they are too many, repetitions with faults are added
// first, then the first repetition of each point, then the second, and so on.
func (d *data) addRuns(points []results.Point) {
	all := loadRunsOf(points)
	slices.SortStableFunc(all, func(a, b loadRun) int {
		if a.hasFaults() != b.hasFaults() {
			if a.hasFaults() {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.record.Repetition, b.record.Repetition)
	})
	d.Runs, d.Panels = []run{}, []coursePanel{}
	ticksEach := max(leastTicks, maxTicks/max(1, len(all)))
	ticks := 0
	for i, l := range all {
		ticks += min(ticksEach, len(l.record.Result.Series))
		if ticks > maxTicks {
			d.RunsLeftOut = len(all) - i
			break
		}
		d.Runs = append(d.Runs, d.course(l, ticksEach))
	}
	slices.SortStableFunc(d.Runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Repetition, b.Repetition))
	})
}

// loadRunsOf lists the repetitions that have a course over time, under each of their loads.
func loadRunsOf(points []results.Point) []loadRun {
	var all []loadRun
	for i, p := range points {
		for _, r := range p.Records {
			for _, l := range results.Loads(r) {
				if l.Record.Result != nil && len(l.Record.Result.Series) > 1 {
					all = append(all, loadRun{point: i, load: l.RowTitle, record: l.Record})
				}
			}
		}
	}
	return all
}

// course is the course of a repetition, thinned to a number of ticks.
func (d *data) course(l loadRun, ticks int) run {
	c := describeRun(l)
	r := l.record
	shown := thin(results.Course(r), ticks)
	for _, t := range shown {
		c.Seconds = append(c.Seconds, seconds(t.OffsetNs))
	}
	moments := results.Moments(r, shown)
	for _, p := range results.CoursePanels(r) {
		lines := panelLines{Panel: d.panel(p)}
		for _, l := range p.Lines {
			lines.Values = append(lines.Values, lineValues(p.Unit, moments, l.At))
		}
		c.Panels = append(c.Panels, lines)
	}
	for _, p := range results.Phases(r, shown) {
		c.Phases = append(c.Phases, phase{Name: p.Name, Until: number(p.Until)})
	}
	return c
}

// describeRun is a run without its course: where it ran, how it ended, and what is known of the whole repetition.
func describeRun(l loadRun) run {
	r := l.record
	described := run{
		Point: l.point, Load: l.load, Books: books(r), Pauses: pausesOf(r), Repetition: r.Repetition, Status: string(r.Status), Reason: r.Reason, Cores: r.Host.Cores,
	}
	if !r.Began.IsZero() {
		described.Began = r.Began.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	for _, d := range r.Doubts {
		described.Doubts = append(described.Doubts, d.Code+": "+d.Text)
	}
	for _, f := range r.Result.Faults {
		described.Faults = append(described.Faults, plannedFault{At: seconds(f.OffsetNs), Do: f.Do, Node: results.Struck(f), Err: f.Err})
	}
	return described
}

// panel is the index of p in d.Panels, to which it is added if it isn't there.
func (d *data) panel(p results.CoursePanel) int {
	described := coursePanel{Title: p.Title, Unit: units[p.Unit]}
	for _, l := range p.Lines {
		described.Lines = append(described.Lines, l.Name)
	}
	for i, known := range d.Panels {
		if known.Title == p.Title && slices.Equal(known.Lines, described.Lines) {
			return i
		}
	}
	d.Panels = append(d.Panels, described)
	return len(d.Panels) - 1
}

// lineValues are the values of a line. Counts and bytes keep the digits that a tooltip shows.
func lineValues(u unit.Unit, moments []results.Moment, at func(results.Moment) float64) any {
	if u == unit.Count || u == unit.Bytes {
		exact := make([]number, len(moments))
		for i, m := range moments {
			exact[i] = number(at(m))
		}
		return exact
	}
	rounded := make([]rough, len(moments))
	for i, m := range moments {
		rounded[i] = rough(at(m))
	}
	return rounded
}

// books are the message counts of a record that are known. Counts of what should not happen are left out if they are 0, except those of
// messages that were lost or never sent: there a reader looks for the 0.
func books(r store.Record) []counted {
	var out []counted
	for _, m := range results.Metrics {
		v := m.Of(r)
		always := m.Better == results.Neither || m.Key == results.KeyUnsent || m.Key == results.KeyLost
		if m.Counts() && !math.IsNaN(v) && (always || v != 0) {
			out = append(out, counted{m.Name, number(v)})
		}
	}
	return out
}

// pausesOf is nil if pauses weren't recorded.
func pausesOf(r store.Record) *pauses {
	p := r.Result.Pauses
	if p == nil {
		return nil
	}
	return &pauses{
		P99: number(results.Quantile(p.Late, 0.99)), Longest: number(p.LongestNs), At: seconds(p.LongestOffsetNs),
		GC: number(p.GCPauseNs), Stolen: number(p.StolenSeconds), Queued: number(p.QueuedSeconds),
	}
}

// thin joins neighbouring ticks until at most n are left: of 100 ticks and n = 40 two or three each. A joined tick has the mean rates, and the
// largest backlog, latency and CPU, so that a stall does not vanish between two dots.
func thin(ticks []store.Tick, n int) []store.Tick {
	if len(ticks) <= n {
		return ticks
	}
	out := make([]store.Tick, 0, n)
	for i := range n {
		part := ticks[i*len(ticks)/n : (i+1)*len(ticks)/n]
		t := part[len(part)-1]
		t.PublishRate, t.ReceiveRate = 0, 0
		for _, p := range part {
			t.PublishRate += p.PublishRate / float64(len(part))
			t.ReceiveRate += p.ReceiveRate / float64(len(part))
			t.Backlog = max(t.Backlog, p.Backlog)
			t.EndToEndP50, t.EndToEndP99 = max(t.EndToEndP50, p.EndToEndP50), max(t.EndToEndP99, p.EndToEndP99)
			t.BrokerCPU, t.GeneratorCPU = max(t.BrokerCPU, p.BrokerCPU), max(t.GeneratorCPU, p.GeneratorCPU)
		}
		out = append(out, t)
	}
	return out
}

// seconds are a time in ns as seconds, cut to milliseconds: a chart over time shows no more.
func seconds(ns int64) number { return number(float64(ns/1e6) / 1e3) }
