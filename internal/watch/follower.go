// From events of the lab to what people see of a run:
//
//	Began                        the View has a Title, "kafka #2", and the Stage "preparing"
//	Staged, "starting kafka"     the Stage is "starting kafka"
//	Sampled, ten times a second  Now holds the rates and latencies of the last second
//	Ended                        the Title is empty, and there is one more Ending

package watch

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/lab"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

const (
	samplesPerSecond = 10                     // as many as the lab sends
	minTickGap       = 450 * time.Millisecond // between two ticks of the history: about every fifth sample is one
	maxTicks         = 1200                   // of the history, about ten minutes
	maxEndings       = 1000                   // of the history
)

// Follower turns the lab's events into views. Its zero value is ready, and its methods may be called from any goroutine.
type Follower struct {
	// Outcome sums up a repetition that ended ok. It is set before the first event, and may be nil.
	Outcome func(store.Record) Outcome

	mu           sync.Mutex
	run          study.Run // of the last event
	view         View      // as of the last event, without durations: viewOfRun adds these
	stageBegan   time.Time
	expectedEnd  time.Time // of the run
	lastSampled  time.Time
	samples      []worker.Sample // of the last second of the load that runs
	ticks        []Tick          // of the stage
	endings      []Ending        // the last maxEndings
	endingsTotal int
}

// Event takes the next event of the lab.
func (f *Follower) Event(e lab.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run, f.view.Done, f.view.Total = e.Run, e.Done, e.Total
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
	case lab.Spared: // changes the counts only
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
	if e.Sample.At <= f.samples[0].At {
		return // a rate needs time between two samples
	}
	tick := tickOver(f.samples, e)
	tick.AtNs = int64(f.lastSampled.Sub(f.stageBegan))
	f.view.Now = &tick
	if n := len(f.ticks); n == 0 || tick.AtNs-f.ticks[n-1].AtNs >= int64(minTickGap) {
		f.ticks = keepLast(append(f.ticks, tick), maxTicks)
	}
}

// phaseOf returns the phase of the load: a value of View.Phase.
func phaseOf(s worker.Sample) string {
	switch {
	case !s.Sending:
		return "draining"
	case s.Phase == measure.Measured:
		return "measuring"
	}
	return "warm-up"
}

// tickOver sums up samples of a load, between whose first and last some time has passed; e is the event of the last.
func tickOver(samples []worker.Sample, e lab.Event) Tick {
	first, last := samples[0], samples[len(samples)-1]
	seconds := float64(last.At-first.At) / 1e9
	t := Tick{
		Target: e.Target, Backlog: last.Backlog, ClosedLoop: e.ClosedLoop(),
		Sent:      float64(last.Count.Sent-first.Count.Sent) / seconds,
		Received:  float64(last.Count.Received-first.Count.Received) / seconds,
		BrokerCPU: e.CPU.Broker, GeneratorCPU: e.CPU.Generator,
	}
	if !t.ClosedLoop {
		t.P50Ns, t.P99Ns = last.EndToEnd.P50, last.EndToEnd.P99
	}
	for _, a := range e.Agents {
		t.Agents = append(t.Agents, Agent(a))
	}
	return t
}

func (f *Follower) addEnding(e lab.Event) {
	r := *e.Record
	reason, _, _ := strings.Cut(r.Reason, "\n") // the first line
	ending := Ending{
		Number: e.Done, Point: pointName(e), Title: Title(e), Status: r.Status, Stored: e.Kind == lab.Skipped,
		TookNs: int64(r.Took()), Outcome: Outcome{Text: reason},
	}
	if r.Status == store.OK && f.Outcome != nil {
		ending.Outcome = f.Outcome(r)
	}
	f.endings = keepLast(append(f.endings, ending), maxEndings)
	f.endingsTotal++
}

// keepLast returns the last n elements of a list, or all of a shorter one. n is not negative.
func keepLast[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

// View returns the state of the run now. The data that it points to doesn't change any more.
func (f *Follower) View(now time.Time) View {
	v, _ := f.viewOfRun(now)
	return v
}

// viewOfRun returns the state of the run now, with the repetition of the last event.
func (f *Follower) viewOfRun(now time.Time) (View, study.Run) {
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
	return v, f.run
}

// stageTicks returns the ticks of the stage so far.
func (f *Follower) stageTicks() []Tick {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ticks)
}

// endingsAfter leaves out the first seen endings of the run and lists the others, as far as they are kept. total counts
// all; seen is a total of before, or 0.
func (f *Follower) endingsAfter(seen int) (unseen []Ending, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(keepLast(f.endings, f.endingsTotal-seen)), f.endingsTotal
}
