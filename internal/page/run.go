package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/unit"
)

// A page holds at most so many ticks of its runs' courses; what is left out is said in the page.
const (
	allTicks  = 120_000
	fewestRun = 40 // ticks a course is thinned to at most
)

// run is the course of one repetition, column by column.
type run struct {
	Point      int      `json:"p"`
	Load       string   `json:"load"`
	Repetition int      `json:"rep"`
	Status     string   `json:"status"`
	Reason     string   `json:"reason,omitempty"`
	Doubts     []string `json:"doubts,omitempty"`
	Began      string   `json:"began"`
	Cores      int      `json:"cores"`
	Seconds    []number `json:"t"`
	Phases     []phase  `json:"phases"`
	Published  []rough  `json:"pub"`
	Received   []rough  `json:"rec"`
	Backlog    []number `json:"backlog"`
	P50        []rough  `json:"p50"`
	P99        []rough  `json:"p99"`
	BrokerCPU  []rough  `json:"bcpu"`
	Generator  []rough  `json:"gcpu"`
	// The generator's sides, where its consumers had a process of their own: cores and bytes.
	ProducingCPU    []rough  `json:"pcpu,omitempty"`
	ConsumingCPU    []rough  `json:"ccpu,omitempty"`
	ProducingMemory []number `json:"pmem,omitempty"`
	ConsumingMemory []number `json:"cmem,omitempty"`
	// What the broker said of a pipeline's queue, and what its parts used.
	Queue     []number       `json:"queue,omitempty"`
	Unacked   []number       `json:"unacked,omitempty"`
	QueuedIn  []rough        `json:"qin,omitempty"`
	QueuedOut []rough        `json:"qout,omitempty"`
	Parts     []partOf       `json:"parts,omitempty"`
	Faults    []plannedFault `json:"faults,omitempty"`
	Books     []counted      `json:"books,omitempty"`
	Pauses    *standing      `json:"own,omitempty"`
}

// partOf is what a part of a pipeline used over time: cores and bytes.
type partOf struct {
	Name   string   `json:"name"`
	CPU    []rough  `json:"cpu"`
	Memory []number `json:"mem"`
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

// phase is where a phase ends, in seconds.
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
func runs(points []results.Point) (out []run, leftOut int) {
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
					all = append(all, candidate{i, l.Title, l.Record})
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
		out = append(out, course(c.point, c.load, c.record, each))
	}
	slices.SortStableFunc(out, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.Point, b.Point), cmp.Compare(a.Repetition, b.Repetition))
	})
	return out, leftOut
}

func course(point int, load string, r store.Record, ticks int) run {
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
		c.Published = append(c.Published, rough(t.PublishRate))
		c.Received = append(c.Received, rough(t.ReceiveRate))
		c.Backlog = append(c.Backlog, number(t.Backlog))
		c.P50 = append(c.P50, rough(t.EndToEndP50))
		c.P99 = append(c.P99, rough(t.EndToEndP99))
		c.BrokerCPU = append(c.BrokerCPU, rough(t.BrokerCPU))
		c.Generator = append(c.Generator, rough(t.GeneratorCPU))
	}
	if results.HasSides(r) {
		c.sides(shown)
	}
	if looks := results.PipelineCourse(r); len(looks) > 0 {
		c.pipeline(r.Result.Pipeline.Parts, looks, shown)
	}
	for _, p := range results.Phases(r, shown) {
		c.Phases = append(c.Phases, phase{Name: p.Name, Until: number(p.Until)})
	}
	return c
}

// pipeline shows at each tick the look that is nearest to it.
func (c *run) pipeline(parts []store.PipelinePart, looks []store.PipelineTick, shown []store.Tick) {
	for _, p := range parts {
		c.Parts = append(c.Parts, partOf{Name: p.Name})
	}
	for _, t := range shown {
		look := results.PipelineLook(looks, t.OffsetNs)
		if look == nil {
			look = &store.PipelineTick{}
		}
		c.Queue, c.Unacked = append(c.Queue, number(results.Told(look.Queue))), append(c.Unacked, number(results.Told(look.Unacked)))
		c.QueuedIn, c.QueuedOut = append(c.QueuedIn, rough(results.Told(look.PublishedRate))), append(c.QueuedOut, rough(results.Told(look.DeliveredRate)))
		for i := range c.Parts {
			cpu, memory := math.NaN(), math.NaN()
			if i < len(look.CPU) && i < len(look.RSSBytes) {
				cpu, memory = look.CPU[i], float64(look.RSSBytes[i])
			}
			c.Parts[i].CPU, c.Parts[i].Memory = append(c.Parts[i].CPU, rough(cpu)), append(c.Parts[i].Memory, number(memory))
		}
	}
}

func (c *run) sides(shown []store.Tick) {
	for _, t := range shown {
		s := results.SidesAt(t)
		c.ProducingCPU = append(c.ProducingCPU, rough(s.Producing.User+s.Producing.System))
		c.ConsumingCPU = append(c.ConsumingCPU, rough(s.Consuming.User+s.Consuming.System))
		c.ProducingMemory = append(c.ProducingMemory, number(s.Producing.RSSBytes))
		c.ConsumingMemory = append(c.ConsumingMemory, number(s.Consuming.RSSBytes))
	}
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
