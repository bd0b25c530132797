package watch

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/worker"
)

const (
	samplesPerSecond = 10                     // that the lab sends; rates are taken over as many steps
	tickEvery        = 450 * time.Millisecond // between two ticks that are kept
	maxTicks         = 1200                   // kept, those of about ten minutes
	maxEndings       = 1000                   // kept
)

// Follower turns the lab's events into views. Its zero value is ready, and its methods may be called from any goroutine.
type Follower struct {
	// Outcome sums up a repetition that ended ok. It is set before the first event, and may be nil.
	Outcome func(store.Record) Outcome

	mu           sync.Mutex
	view         View // as of the last event, without the durations that go on meanwhile
	stageBegan   time.Time
	expectedEnd  time.Time // of the run
	lastSampled  time.Time
	samples      []worker.Sample // the last second of the load that runs
	ticks        []Tick          // of the stage
	endings      []Ending        // the last maxEndings
	endingsTotal int
}

// Event takes the next event of the lab.
func (f *Follower) Event(e lab.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.event, f.view.Done, f.view.Total = e, e.Done, e.Total
	switch e.Kind {
	case lab.Began:
		f.view.Title = Title(e)
		f.expectedEnd = time.Now().Add(e.Left)
		f.enterStage("preparing")
	case lab.Staged:
		f.enterStage(e.Stage)
	case lab.Sampled:
		if e.Stage != f.view.Stage {
			f.enterStage(e.Stage)
		}
		f.addSample(e)
	case lab.Ended, lab.Skipped:
		if e.Record != nil {
			f.addEnding(e)
		}
		f.view.Title = ""
		f.enterStage("")
	}
}

// Note shows a step that belongs to no repetition, such as one of an installation.
func (f *Follower) Note(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if text != f.view.Stage {
		f.enterStage(text)
	}
}

// Finish marks the run as over.
func (f *Follower) Finish() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view.Title, f.view.Finished = "", true
	f.enterStage("")
}

// enterStage begins a stage, in which no load runs yet.
func (f *Follower) enterStage(stage string) {
	f.view.Stage, f.stageBegan = stage, time.Now()
	f.view.Now, f.view.Phase = nil, ""
	f.samples, f.ticks = nil, nil
}

func (f *Follower) addSample(e lab.Event) {
	f.lastSampled = time.Now()
	f.view.Phase = phaseOf(*e.Sample)
	f.samples = keepLast(append(f.samples, *e.Sample), samplesPerSecond+1)
	tick, ok := tickOver(f.samples, e)
	if !ok {
		return
	}
	tick.AtNs = int64(f.lastSampled.Sub(f.stageBegan))
	f.view.Now = &tick
	if n := len(f.ticks); n == 0 || tick.AtNs-f.ticks[n-1].AtNs >= int64(tickEvery) {
		f.ticks = keepLast(append(f.ticks, tick), maxTicks)
	}
}

// phaseOf is the phase of the load in words for people.
func phaseOf(s worker.Sample) string {
	switch {
	case !s.Sending:
		return "draining"
	case s.Phase == measure.Measured:
		return "measuring"
	}
	return "warm-up"
}

// tickOver sums up samples of one load, of which e is the last, without the time in the stage. ok is false if no time lies between
// the first and the last, so that there is no rate.
func tickOver(samples []worker.Sample, e lab.Event) (t Tick, ok bool) {
	first, last := samples[0], samples[len(samples)-1]
	seconds := float64(last.At-first.At) / 1e9
	if seconds <= 0 {
		return Tick{}, false
	}
	t = Tick{
		Target: e.Target, Backlog: last.Backlog, Closed: e.ClosedLoop(),
		Sent:      float64(last.Count.Sent-first.Count.Sent) / seconds,
		Received:  float64(last.Count.Received-first.Count.Received) / seconds,
		BrokerCPU: e.CPU.Broker, GeneratorCPU: e.CPU.Generator,
	}
	if !t.Closed {
		t.P50, t.P99 = last.EndToEnd.P50, last.EndToEnd.P99
	}
	for _, a := range e.Agents {
		t.Agents = append(t.Agents, Agent(a))
	}
	return t, true
}

func (f *Follower) addEnding(e lab.Event) {
	r := *e.Record
	reason, _, _ := strings.Cut(r.Reason, "\n")
	ending := Ending{
		Number: e.Done, Point: pointName(e), Title: Title(e), Status: string(r.Status), Stored: e.Kind == lab.Skipped,
		TookNs: int64(r.Ended.Sub(r.Began)), Outcome: Outcome{Text: reason},
	}
	if r.Status == store.OK && f.Outcome != nil {
		ending.Outcome = f.Outcome(r)
	}
	f.endings = keepLast(append(f.endings, ending), maxEndings)
	f.endingsTotal++
}

// keepLast is the last n of a list.
func keepLast[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// View is the state of the run now. What it points to does not change any more.
func (f *Follower) View(now time.Time) View {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := f.view
	if v.Stage != "" {
		v.StageNs = max(0, int64(now.Sub(f.stageBegan)))
	}
	if v.Now != nil {
		v.QuietNs = max(0, int64(now.Sub(f.lastSampled)))
	}
	if v.Title != "" {
		v.LeftNs = max(0, int64(f.expectedEnd.Sub(now)))
	}
	return v
}

// stageTicks are the ticks of the stage so far.
func (f *Follower) stageTicks() []Tick {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ticks)
}

// endingsAfter lists the endings since the first seen ones, as far as they are kept, and how many there were in all.
func (f *Follower) endingsAfter(seen int) (unseen []Ending, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(keepLast(f.endings, f.endingsTotal-seen)), f.endingsTotal
}
