package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// A page holds at most so many ticks of its runs' courses; the page says how many runs are left out.
const (
	allTicks  = 120_000
	fewestRun = 40 // ticks a course is thinned to at most
)

// run is the course of one repetition, column by column.
type run struct {
	Point      int            `json:"p"`
	Load       string         `json:"load"`
	Repetition int            `json:"rep"`
	Status     string         `json:"status"`
	Reason     string         `json:"reason,omitempty"`
	Doubts     []string       `json:"doubts,omitempty"`
	Began      string         `json:"began"`
	Cores      int            `json:"cores"`
	Seconds    []number       `json:"t"`
	Phases     []phase        `json:"phases"`
	Panels     []panelLines   `json:"panels"`
	Faults     []plannedFault `json:"faults,omitempty"`
	Books      []counted      `json:"books,omitempty"`
	Pauses     *standing      `json:"own,omitempty"`
}

// coursePanel is a part of the chart over time, stored once for all runs that have it.
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

// standing says how far the measuring machine stood still: nanoseconds, and seconds.
type standing struct {
	P99     number `json:"p99"`
	Longest number `json:"max"`
	At      number `json:"t"`
	GC      number `json:"gc"`
	Stolen  number `json:"stolen"`
	Queued  number `json:"queued"`
}

// phase is a phase with its end, in seconds.
type phase struct {
	Name  string `json:"name"`
	Until number `json:"until"`
}

type plannedFault struct {
	At   number `json:"t"`
	Do   string `json:"do"`
	Node string `json:"node"` // its words
	Err  string `json:"err,omitempty"`
}

// runs are the courses of all repetitions, as many as fit: those with faults first, then by repetition. leftOut counts
// the others.
func (d *data) runs(points []results.Point) (out []run, leftOut int) {
	type candidate struct {
		point  int
		load   string
		record store.Record
	}
	var all []candidate
	for i, p := range points {
		for _, r := range p.Records {
			for _, l := range results.Loads(r) {
				if l.Record.Result != nil && len(l.Record.Result.Series) > 1 {
					all = append(all, candidate{i, l.RowTitle, l.Record})
				}
			}
		}
	}
	faulty := func(c candidate) int { return -min(1, len(c.record.Result.Faults)) }
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(faulty(a), faulty(b)), cmp.Compare(a.record.Repetition, b.record.Repetition))
	})
	each := max(fewestRun, allTicks/max(1, len(all)))
	total := 0
	for i, c := range all {
		n := min(each, len(c.record.Result.Series))
		if total += n; total > allTicks {
			leftOut = len(all) - i
			break
		}
		out = append(out, d.course(c.point, c.load, c.record, each))
	}
	slices.SortStableFunc(out, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Repetition, b.Repetition))
	})
	return out, leftOut
}

func (d *data) course(point int, load string, r store.Record, ticks int) run {
	c := run{Point: point, Load: load, Books: books(r), Pauses: stood(r), Repetition: r.Repetition, Status: string(r.Status), Reason: r.Reason, Cores: r.Host.Cores}
	for _, d := range r.Doubts {
		c.Doubts = append(c.Doubts, d.Code+": "+d.Text)
	}
	if !r.Began.IsZero() {
		c.Began = r.Began.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	for _, f := range r.Result.Faults {
		c.Faults = append(c.Faults, plannedFault{At: seconds(f.OffsetNs), Do: f.Do, Node: results.Struck(f), Err: f.Err})
	}
	shown := thin(results.Course(r), ticks)
	for _, t := range shown {
		c.Seconds = append(c.Seconds, seconds(t.OffsetNs))
	}
	moments := results.Moments(r, shown)
	for _, p := range results.CoursePanels(r) {
		lines := panelLines{Panel: d.panel(p)}
		for _, l := range p.Lines {
			lines.Values = append(lines.Values, values(p.Unit, moments, l.At))
		}
		c.Panels = append(c.Panels, lines)
	}
	for _, p := range results.Phases(r, shown) {
		c.Phases = append(c.Phases, phase{Name: p.Name, Until: number(p.Until)})
	}
	return c
}

// panel is the index of p in d.Panels.
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

// values are those of a line; counts and bytes are shown with more than three digits.
func values(u unit.Unit, moments []results.Moment, at func(results.Moment) float64) any {
	exact, short := make([]number, len(moments)), make([]rough, len(moments))
	for i, m := range moments {
		exact[i], short[i] = number(at(m)), rough(at(m))
	}
	if u == unit.Count || u == unit.Bytes {
		return exact
	}
	return short
}

// books are the counts of a record that say something: those that are known, and of the faults those that happened.
func books(r store.Record) []counted {
	var out []counted
	for _, m := range results.Metrics {
		v := m.Of(r)
		always := m.Better == results.Neither || m.Key == "unsent" || m.Key == "lost"
		if m.Unit == unit.Count && !math.IsNaN(v) && (always || v != 0) {
			out = append(out, counted{m.Name, number(v)})
		}
	}
	return out
}

func stood(r store.Record) *standing {
	p := r.Result.Pauses
	if p == nil {
		return nil
	}
	return &standing{
		P99: number(results.Quantile(p.Late, 0.99)), Longest: number(p.LongestNs), At: seconds(p.LongestOffsetNs),
		GC: number(p.GCPauseNs), Stolen: number(p.StolenSeconds), Queued: number(p.QueuedSeconds),
	}
}

// thin leaves at most n ticks: of several it keeps the mean rates and the worst backlog and latency, because a stall
// must not vanish between two dots.
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

func seconds(ns int64) number { return number(float64(ns/1e6) / 1e3) }
