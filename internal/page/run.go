// Repetitions over time, for the front end: rates, latencies, backlog and CPU, with phases and faults. A run is one
// repetition, and a tick is one sample of it. Values are listed line by line:
//
//	{"p": 0, "load": "rate 1k/s", "rep": 1, "t": [0, 1, 2], "phases": [{"name": "warm-up", "until": 1}, ...],
//	 "panels": [{"i": 0, "v": [[1000, 1000, 998], [1000, 999, 1001]]}], ...}
//
// Here the page's panel 0 shows rates, in two lines: 1000, 1000 and 998 messages/s were published at 0, 1 and 2 s, and
// 1000, 999 and 1001 messages/s were received.

package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// The limits keep a page of many repetitions small enough to open.
const (
	maxTicks = 120_000 // of all runs together; the page says how many runs are left out
	minTicks = 40      // of each run; runs are left out rather than thinned further
)

// runList is the runs of a page and the panels in which they are drawn.
type runList struct {
	Runs        []run         `json:"runs"`
	Panels      []coursePanel `json:"panels"`
	RunsLeftOut int           `json:"runsLeftOut,omitempty"`
}

// run is one repetition under one load, over time.
type run struct {
	Point      int            `json:"p"` // index in figureData.Points
	Load       string         `json:"load"`
	Repetition int            `json:"rep"`
	Status     string         `json:"status"`
	Reason     string         `json:"reason,omitempty"`
	Doubts     []string       `json:"doubts,omitempty"` // "not everything came: 3 of 900 deliveries never came"
	Began      string         `json:"began"`            // UTC; empty if that isn't known
	Cores      int            `json:"cores"`
	Seconds    []number       `json:"t"` // of each tick, since the start of the measured phase
	Phases     []phase        `json:"phases"`
	Panels     []panelLines   `json:"panels"`
	Faults     []plannedFault `json:"faults,omitempty"`
	Books      []counted      `json:"books,omitempty"`
	Pauses     *pauses        `json:"own,omitempty"` // nil if they weren't recorded
}

// coursePanel describes one of the charts below each other that draw a run. Runs with the same lines share it.
type coursePanel struct {
	Title string   `json:"title"`
	Unit  string   `json:"unit"`
	Lines []string `json:"lines"` // names
}

// panelLines are a run's lines in a panel.
type panelLines struct {
	Panel  int        `json:"i"` // index in runList.Panels
	Values [][]number `json:"v"` // of each line at each tick
}

// counted is one count of the books: 3 messages "lost". The books say what became of every message that was due.
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
	At   number `json:"t"`    // seconds since the start of the measured phase
	Do   string `json:"do"`   // an action of study.Fault
	Node string `json:"node"` // the target, in words
	Err  string `json:"err,omitempty"`
}

// candidate is a repetition under one load that may become a run of the page, if it fits.
type candidate struct {
	pointIndex int // in figureData.Points
	load       string
	record     store.Record // cut down to the load; it has a result
}

func (c candidate) hasFaults() bool { return len(c.record.Result.Faults) > 0 }

// runsOf lists as many repetitions as fit, in the order of points. If they are too many, those with faults are chosen
// first, then the first repetition of each point, then the second, and so on. Of 1000 runs each has up to 120 ticks,
// of 3000 runs each has 40, and of 4000 runs 1000 are left out.
func runsOf(points []results.Point) runList {
	candidates := candidatesOf(points)
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		switch {
		case a.hasFaults() && !b.hasFaults():
			return -1
		case b.hasFaults() && !a.hasFaults():
			return 1
		default:
			return cmp.Compare(a.record.Repetition, b.record.Repetition)
		}
	})
	list := runList{Runs: []run{}, Panels: []coursePanel{}}
	ticksEach := max(minTicks, maxTicks/max(1, len(candidates)))
	ticks := 0
	for i, c := range candidates {
		ticks += min(ticksEach, len(c.record.Result.Series))
		if ticks > maxTicks {
			list.RunsLeftOut = len(candidates) - i
			break
		}
		list.add(c, ticksEach)
	}
	slices.SortStableFunc(list.Runs, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Repetition, b.Repetition))
	})
	return list
}

// candidatesOf lists the repetitions that were sampled over time, under each of their loads.
func candidatesOf(points []results.Point) []candidate {
	var candidates []candidate
	for i, p := range points {
		for _, r := range p.Records {
			for _, l := range results.Loads(r) {
				if l.Record.Result != nil && len(l.Record.Result.Series) > 1 {
					candidates = append(candidates, candidate{pointIndex: i, load: l.RowTitle, record: l.Record})
				}
			}
		}
	}
	return candidates
}

// add appends the run of a repetition, with mostTicks ticks at most, and panels that the list doesn't have yet.
func (list *runList) add(c candidate, mostTicks int) {
	out := describeRun(c)
	groups := groupMoments(results.Moments(c.record), mostTicks) // of the samples in Result.Series; each becomes one tick of the run
	out.Seconds = lists.Map(groups, func(moments []results.Moment) number { return seconds(moments[len(moments)-1].OffsetNs) })
	for _, p := range results.CoursePanels(c.record) {
		lines := panelLines{Panel: list.panelIndex(p)}
		for _, line := range p.Lines {
			values := lists.Map(groups, func(moments []results.Moment) number { return lineValue(p.Unit, line, moments) })
			lines.Values = append(lines.Values, values)
		}
		out.Panels = append(out.Panels, lines)
	}
	out.Phases = lists.Map(results.Phases(c.record), func(p results.Phase) phase { return phase{Name: p.Name, Until: number(p.Until)} })
	list.Runs = append(list.Runs, out)
}

// groupMoments groups neighbouring moments, so that there are at most maxGroups groups: of 100 moments and 40 groups,
// the first has the moments 0 and 1, the second 2 to 4, and so on up to 99.
func groupMoments(moments []results.Moment, maxGroups int) [][]results.Moment {
	groups := make([][]results.Moment, min(maxGroups, len(moments)))
	for i := range groups {
		first := i * len(moments) / len(groups)
		firstOfNext := (i + 1) * len(moments) / len(groups)
		groups[i] = moments[first:firstOfNext]
	}
	return groups
}

// lineValue returns the value of a line at neighbouring moments: the mean of rates, and the largest of everything else,
// so that a stall does not vanish between two dots. It returns NaN if no moment has a value. Counts and bytes keep the
// digits that a tooltip shows.
func lineValue(u unit.Unit, line results.CourseLine, moments []results.Moment) number {
	sum, largest := 0.0, math.Inf(-1)
	known := 0 // moments with a value
	for _, m := range moments {
		if v := line.At(m); !math.IsNaN(v) {
			known++
			sum += v
			largest = max(largest, v)
		}
	}
	switch {
	case known == 0:
		return number(math.NaN())
	case u == unit.PerSecond:
		return threeDigits(sum / float64(known))
	case u == unit.Count || u == unit.Bytes:
		return number(largest)
	}
	return threeDigits(largest)
}

// describeRun returns a run without its ticks, panels and phases.
func describeRun(c candidate) run {
	r := c.record
	described := run{
		Point: c.pointIndex, Load: c.load, Repetition: r.Repetition, Status: string(r.Status), Reason: r.Reason,
		Cores: r.Host.Cores, Books: books(r), Pauses: pausesOf(r),
	}
	if !r.Began.IsZero() {
		described.Began = r.Began.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	described.Doubts = lists.Map(results.MarkedDoubts([]store.Record{r}), func(d results.Doubt) string {
		return string(d.Kind().Class()) + ": " + d.Text
	})
	for _, f := range r.Result.Faults {
		fault := plannedFault{At: seconds(f.OffsetNs), Do: f.Do, Node: results.Struck(f), Err: f.Err}
		described.Faults = append(described.Faults, fault)
	}
	return described
}

// panelIndex returns the index of p in list.Panels, to which it is added if it isn't there.
func (list *runList) panelIndex(p results.CoursePanel) int {
	described := coursePanel{Title: p.Title, Unit: unitNames[p.Unit]}
	described.Lines = lists.Map(p.Lines, func(l results.CourseLine) string { return l.Name })
	for i, known := range list.Panels {
		if known.Title == described.Title && slices.Equal(known.Lines, described.Lines) {
			return i
		}
	}
	list.Panels = append(list.Panels, described)
	return len(list.Panels) - 1
}

// books returns the message counts of a record that are known. Counts of what should not happen, of which fewer are better, are left out if
// they are 0, except for messages lost and never sent, where a reader looks for the 0.
func books(r store.Record) []counted {
	var counts []counted
	for _, m := range results.Metrics {
		n := m.Of(r)
		if !m.Counts() || math.IsNaN(n) {
			continue
		}
		shouldNotHappen := m.Better == results.Lower
		isLookedFor := m.Key == results.KeyUnsent || m.Key == results.KeyLost
		if n == 0 && shouldNotHappen && !isLookedFor {
			continue
		}
		counts = append(counts, counted{Name: m.Name, N: number(n)})
	}
	return counts
}

// pausesOf returns nil if pauses weren't recorded, or nothing watched for them.
func pausesOf(r store.Record) *pauses {
	p := r.Result.Pauses
	if !p.Watched() {
		return nil
	}
	return &pauses{
		P99: number(results.Quantile(p.Late, 0.99)), Longest: number(p.LongestNs), At: seconds(p.LongestOffsetNs),
		GC: number(p.GCPauseNs), Stolen: number(p.StolenSeconds), Queued: number(p.QueuedSeconds),
	}
}

// seconds cuts a time to milliseconds: a chart over time shows no more.
func seconds(ns int64) number { return number(float64(ns/1e6) / 1e3) }
