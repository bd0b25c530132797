// Package watch tells people and machines what a run is doing right now: as a view, as a page that is fed live, and as
// metrics to be scraped. It hears of the run through the lab's events and never asks it for anything.
package watch

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

// View is what goes on at one moment. Times are nanoseconds, rates messages per second.
type View struct {
	Done     int    `json:"done"` // repetitions finished
	Total    int    `json:"total"`
	Title    string `json:"title"` // the point under way; "" before the first
	Stage    string `json:"stage"` // what happens now: "starting kafka", "short trial"
	StageNs  int64  `json:"stage_ns"`
	Phase    string `json:"phase"`    // warm-up | measuring | draining; "" while no load runs
	LeftNs   int64  `json:"left_ns"`  // estimate for everything; 0: unknown
	Now      *Tick  `json:"now"`      // nil while no load runs
	QuietNs  int64  `json:"quiet_ns"` // since the last sample of the load that runs
	Finished bool   `json:"finished"`
}

// Tick is what was seen over the last second.
type Tick struct {
	AtNs         int64   `json:"at_ns"`  // since the stage began
	Target       float64 `json:"target"` // 0: as fast as possible
	Sent         float64 `json:"sent"`
	Received     float64 `json:"received"`
	Backlog      int64   `json:"backlog"`
	P50          int64   `json:"p50_ns"` // end to end; 0: nothing arrived, or a closed loop
	P99          int64   `json:"p99_ns"`
	Closed       bool    `json:"closed_loop"`
	BrokerCPU    float64 `json:"broker_cpu"` // cores; 0: nothing of ours to meter
	GeneratorCPU float64 `json:"generator_cpu"`
	Agents       []Agent `json:"agents,omitempty"` // that the load runs on; none: the process that was started
}

// Agent is one of those that a load runs on.
type Agent struct {
	Name  string  `json:"name"`
	Cores float64 `json:"cores"`
}

// Ending is a repetition that has ended.
type Ending struct {
	Number int    `json:"number"`
	Point  string `json:"point"`
	Title  string `json:"title"` // of the point and the repetition
	Status string `json:"status"`
	Stored bool   `json:"stored"`
	TookNs int64  `json:"took_ns"`
	Outcome
}

// Outcome is what came of a repetition.
type Outcome struct {
	Text   string `json:"text"`   // the figure that was asked for, or the reason why there is none
	P99    int64  `json:"p99_ns"` // end to end; 0: not told
	Doubts int    `json:"doubts"` // kinds of them
}

// samplesPerSecond is how many samples come in a second; rates are taken over that many steps.
const samplesPerSecond = 10

// Follower turns events into views. Its methods may be called from any goroutine.
type Follower struct {
	// Outcome tells what came of a repetition that ended ok. It is set before the first event; may be nil.
	Outcome func(store.Record) Outcome

	mu      sync.Mutex
	view    View
	since   time.Time // of the stage
	ends    time.Time
	sampled time.Time // the last time
	samples []worker.Sample
	ticks   []Tick   // of the stage
	endings []Ending // the last ones
	ended   int      // all of them
}

// Note tells of something that happens beside the repetitions, such as a step of an installation.
func (f *Follower) Note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stage(text)
}

func (f *Follower) stage(text string) {
	if text == f.view.Stage {
		return
	}
	f.view.Stage, f.since = text, time.Now()
	f.rest()
}

// rest forgets the load that ran.
func (f *Follower) rest() {
	f.samples, f.ticks, f.view.Now, f.view.Phase = nil, nil, nil, ""
}

// Event follows the lab.
func (f *Follower) Event(e lab.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.Done, f.view.Total = e.Done, e.Total
	switch e.Kind {
	case lab.Began:
		f.view.Title = Title(e)
		f.ends = time.Now().Add(e.Left)
		f.stage("preparing")
	case lab.Staged:
		f.stage(e.Stage)
		f.since = time.Now() // the next of several trials of one kind
		f.rest()
	case lab.Sampled:
		f.stage(e.Stage)
		f.sample(e)
	case lab.Ended, lab.Skipped:
		if e.Record != nil {
			f.end(e)
		}
		f.view.Title, f.view.Stage = "", ""
		f.rest()
	}
}

func (f *Follower) sample(e lab.Event) {
	f.view.Phase = phase(*e.Sample)
	f.sampled = time.Now()
	f.samples = append(f.samples, *e.Sample)
	n := len(f.samples)
	if n < 2 {
		return
	}
	if n > samplesPerSecond+1 {
		f.samples = f.samples[n-samplesPerSecond-1:]
	}
	first, last := f.samples[0], f.samples[len(f.samples)-1]
	seconds := float64(last.At-first.At) / 1e9
	if seconds <= 0 {
		return
	}
	t := Tick{
		AtNs: int64(time.Since(f.since)), Target: e.Target, Backlog: last.Backlog,
		Sent:      float64(last.Count.Sent-first.Count.Sent) / seconds,
		Received:  float64(last.Count.Received-first.Count.Received) / seconds,
		BrokerCPU: e.CPU.Broker, GeneratorCPU: e.CPU.Generator, Closed: e.ClosedLoop(),
	}
	for _, a := range e.Agents {
		t.Agents = append(t.Agents, Agent(a))
	}
	if !t.Closed { // else it says how full the window or the backlog is
		t.P50, t.P99 = last.EndToEnd.P50, last.EndToEnd.P99
	}
	f.view.Now = &t
	// Two ticks a second are enough to look at, and ten minutes of them.
	if k := len(f.ticks); k == 0 || t.AtNs-f.ticks[k-1].AtNs >= int64(tickEvery) {
		f.ticks = append(f.ticks, t)
	}
	if k := len(f.ticks); k > maxTicks {
		f.ticks = f.ticks[k-maxTicks:]
	}
}

const (
	tickEvery  = 450 * time.Millisecond
	maxTicks   = 1200
	maxEndings = 1000
)

func phase(s worker.Sample) string {
	switch {
	case !s.Sending:
		return "draining"
	case s.Phase == measure.Measured:
		return "measuring"
	}
	return "warm-up"
}

func (f *Follower) end(e lab.Event) {
	reason, _, _ := strings.Cut(e.Record.Reason, "\n")
	end := Ending{
		Number: e.Done, Point: point(e), Title: Title(e), Status: string(e.Record.Status), Stored: e.Kind == lab.Skipped,
		TookNs: int64(e.Record.Ended.Sub(e.Record.Began)), Outcome: Outcome{Text: reason},
	}
	if e.Record.Status == store.OK && f.Outcome != nil {
		end.Outcome = f.Outcome(*e.Record)
	}
	f.endings = append(f.endings, end)
	f.ended++
	if n := len(f.endings); n > maxEndings {
		f.endings = f.endings[n-maxEndings:]
	}
}

// Finish tells that nothing more will come.
func (f *Follower) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.Title, f.view.Stage, f.view.Finished = "", "", true
	f.rest()
}

// View is what goes on now. Now points at data that doesn't change any more.
func (f *Follower) View(now time.Time) View {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.view
	if v.Stage != "" {
		v.StageNs = max(0, int64(now.Sub(f.since)))
	}
	if v.Now != nil {
		v.QuietNs = max(0, int64(now.Sub(f.sampled)))
	}
	if v.Title != "" {
		v.LeftNs = max(0, int64(f.ends.Sub(now)))
	}
	return v
}

// history is what a newcomer has missed of this stage.
func (f *Follower) history() []Tick {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ticks)
}

// after are the endings since the first seen ones, and how many there have been.
func (f *Follower) after(seen int) ([]Ending, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	unseen := min(f.ended-seen, len(f.endings))
	return slices.Clone(f.endings[len(f.endings)-unseen:]), f.ended
}

// point names a point.
func point(e lab.Event) string {
	name := e.Run.Point.Label
	if broker := e.Run.Point.Spec.Broker; !strings.Contains(name, broker) {
		name = strings.TrimSpace(broker + " " + name)
	}
	return name
}

// Title names a repetition.
func Title(e lab.Event) string {
	name := point(e)
	if e.Run.Repetition > 1 {
		name += " #" + strconv.Itoa(e.Run.Repetition)
	}
	return name
}
