package fleet

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
)

// view sums up the beats of all agents in a trial for the hooks of the load. It also takes the decisions that need all agents: the
// end of an automatic warm-up, the begin of the drain, and that a load is hopeless.
type view struct {
	load   worker.Load
	start  int64
	lines  []clock.Line // where the agents' clocks are
	agents []*remote

	mu       sync.Mutex
	joint    *worker.Joint
	told     []worker.Sample // of the measured phase, while Hopeless may be asked
	begun    bool
	sending  int // agents that haven't sent all messages
	running  int // agents that haven't ended their part
	halted   bool
	steady   *worker.SteadyState // nil: the warm-up's end is known
	filled   []bool              // by agent
	draining bool
}

func newView(l worker.Load, agents []*remote, start int64, lines []clock.Line) *view {
	v := &view{load: l, start: start, lines: lines, agents: agents, joint: worker.NewJoint(len(agents)), sending: len(agents), running: len(agents), filled: make([]bool, len(agents))}
	if l.Warmup.Coordinated {
		v.steady = worker.NewSteadyState(l.Warmup)
	}
	return v
}

// measuring notes that the measured phase begins on an agent. The first one counts.
func (v *view) measuring(at int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.begun && v.load.Measuring != nil {
		v.load.Measuring(at)
	}
	v.begun = true
}

// allSent notes that one more agent has sent all messages.
func (v *view) allSent() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.sending--; v.sending == 0 && v.load.Sent != nil {
		v.load.Sent()
	}
}

// backlogFilled notes that agent i has filled its part of a backlog, or has ended. All agents begin to drain together: a broker
// that still takes messages for one of them would drain more slowly.
func (v *view) backlogFilled(i int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.filled[i] = true
	if v.draining || slices.Contains(v.filled, false) {
		return
	}
	v.draining = true
	for _, r := range v.agents {
		r.setCue(func(c *cue) { c.Drain = true })
	}
}

// end notes that agent i has ended its part.
func (v *view) end(i int) {
	v.backlogFilled(i)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(v.joint.End(i))
	if v.running--; v.running == 0 {
		v.show(v.joint.Rest())
	}
}

// samples takes new samples of agent i.
func (v *view) samples(i int, list []worker.Sample) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(v.joint.Add(i, list))
}

// show passes samples of all agents together to the hooks.
func (v *view) show(list []worker.Sample) {
	for _, s := range list {
		if v.load.Observe != nil {
			v.load.Observe(s)
		}
		v.settle(s)
		v.checkHopeless(s)
	}
}

// settle ends an automatic warm-up once rate and latency are steady. Agents learn of it before the measured phase begins.
func (v *view) settle(s worker.Sample) {
	if v.steady == nil || s.Latency == nil || !v.steady.Reached(time.Duration(s.At-v.start), s) {
		return
	}
	v.steady = nil
	from := clock.Now() + int64(lead)
	for i, r := range v.agents {
		r.setCue(func(c *cue) { c.Measure = v.lines[i].PeerTime(from) })
	}
}

// checkHopeless ends the measured phase on all agents if the load's rule says that it can't pass any more.
func (v *view) checkHopeless(s worker.Sample) {
	if v.load.Hopeless == nil || v.halted || !v.begun || !s.Sending || s.Phase == 0 {
		return
	}
	v.told = append(v.told, s)
	if !v.load.Hopeless(v.told) {
		return
	}
	v.halted = true
	for _, r := range v.agents {
		r.halt()
	}
}

// trialFeed passes what one agent's beats say of a trial to the view, on this process's clock. Each event is passed once.
type trialFeed struct {
	view   *view
	agent  int   // its number in the view
	n      int   // number of the order
	offset int64 // of the agent's clock
	begun  bool
	filled bool
	sent   atomic.Bool
	cue    cue // the last one, which every beat repeats: the agent may have missed it
}

// take passes on the news in a beat.
func (feed *trialFeed) take(u up) {
	if u.Measuring != 0 && !feed.begun {
		feed.begun = true
		feed.view.measuring(u.Measuring - feed.offset)
	}
	for i := range u.Samples {
		u.Samples[i].At -= feed.offset
	}
	if len(u.Samples) > 0 {
		feed.view.samples(feed.agent, u.Samples)
	}
	if u.Filled && !feed.filled {
		feed.filled = true
		feed.view.backlogFilled(feed.agent)
	}
	if u.Sent && !feed.sent.Swap(true) {
		feed.view.allSent()
	}
}

func (r *remote) setFeed(feed *trialFeed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.feed = feed; feed != nil {
		feed.n = r.n + 1
	}
}

// halt ends the measured phase of the trial under way.
func (r *remote) halt() {
	r.mu.Lock()
	feed := r.feed
	r.mu.Unlock()
	if feed != nil {
		_ = r.say(down{Halt: feed.n}) // lost: the load is sent to its end
	}
}

// lastCue returns the last cue of the trial under way, or nil.
func (r *remote) lastCue() *cue {
	r.mu.Lock()
	defer r.mu.Unlock()
	if feed := r.feed; feed != nil && feed.cue != (cue{}) {
		c := feed.cue
		return &c
	}
	return nil
}

// setCue changes the cue of the trial under way and sends it. If the message is lost, the next beat repeats it.
func (r *remote) setCue(set func(*cue)) {
	r.mu.Lock()
	feed := r.feed
	if feed != nil {
		feed.cue.N = feed.n
		set(&feed.cue)
	}
	r.mu.Unlock()
	if feed != nil {
		_ = r.say(down{Cue: r.lastCue()}) // lost: it is said again
	}
}
