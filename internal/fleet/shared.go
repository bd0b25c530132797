package fleet

import (
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/worker"
)

// shared is the state, during one order, of streams that agents share: of one agent, or the sum over several. A message always
// holds all of it, so a lost message is made up for by the next beat.
type shared struct {
	N      int           // the order, as the agent counts them that says this or is told it
	Made   bool          // the topics are there
	Probed []byte        // bits: which producers have been seen by which subscriptions
	Count  measure.Count // of the trial
	Drains bool          // everything has been sent
}

// plus returns the sum of two states.
func (s shared) plus(o shared) shared {
	s.Made, s.Drains = s.Made || o.Made, s.Drains && o.Drains
	for i, b := range o.Probed {
		if i >= len(s.Probed) {
			s.Probed = append(s.Probed, make([]byte, len(o.Probed)-len(s.Probed))...)
		}
		s.Probed[i] |= b
	}
	s.Count = s.Count.Plus(o.Count)
	return s
}

// newsEvery is how often changes are sent while nothing is measured. During a measurement they wait for the next beat.
const newsEvery = 10 * time.Millisecond

// sharing holds an agent's own state of shared streams, and the sum of the other agents' states.
type sharing struct {
	mu          sync.Mutex
	own, others shared
	preparing   bool
	news        bool // in own, not sent yet
	urgent      bool // others may wait for it
	probes      *worker.Probes
	width       int // subscriptions
}

// begin starts order n. plan is nil unless the order is to prepare.
func (s *sharing) begin(n int, plan *worker.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own, s.others, s.news, s.urgent, s.preparing = shared{N: n}, shared{}, false, false, plan != nil
	if plan == nil || plan.Peers == nil {
		return
	}
	s.width = len(plan.Topology.Subscriptions)
	s.own.Probed = make([]byte, (plan.Peers.Producers*s.width+7)/8)
	s.probes = worker.NewProbes(plan.Peers.Producers, s.width)
	s.probes.OnSeen, s.probes.OnTopicsMade = s.noteProbed, s.noteMade
}

func (s *sharing) noteProbed(producer, subscription int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := producer*s.width + subscription; i/8 < len(s.own.Probed) {
		s.own.Probed[i/8] |= 1 << (i % 8)
		s.news = true
	}
}

func (s *sharing) noteMade() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own.Made, s.news = true, true
}

// heard stores the state of the other agents.
func (s *sharing) heard(o shared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.N != s.own.N {
		return // of an order that is over
	}
	if s.preparing {
		for k := range 8 * min(len(o.Probed), len(s.own.Probed)) {
			if o.Probed[k/8]>>(k%8)&1 != 0 {
				s.probes.Seen(k/s.width, k%s.width)
			}
		}
	}
	s.others = o
}

// everywhere implements worker.Hooks.CountAll.
func (s *sharing) everywhere(own measure.Count) (all measure.Count, sending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.urgent = s.urgent || !s.own.Drains
	s.news = s.news || s.urgent || s.own.Count != own
	s.own.Count, s.own.Drains = own, true
	return s.own.plus(s.others).Count, !s.others.Drains
}

// ended is called at the end of the agent's part of a trial. If the part ended before its drain, the other agents must not wait
// for it.
func (s *sharing) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own.Drains, s.news, s.urgent = true, true, true
}

// takeNews reports whether the other agents should be sent something now, and marks it as sent.
func (s *sharing) takeNews() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.news && (s.preparing || s.others.Drains || s.urgent)
	if now {
		s.news, s.urgent = false, false
	}
	return now
}

// snapshot returns a copy of the agent's own state.
func (s *sharing) snapshot() *shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.own
	o.Probed = slices.Clone(o.Probed)
	return &o
}

// watch calls tell whenever there is something to send, until the returned function is called.
func (s *sharing) watch(tell func()) (end func()) {
	return clock.Repeat(newsEvery, func() {
		if s.takeNews() {
			tell()
		}
	})
}

// relay passes each agent's state on to the others until the returned function is called: at once while they prepare or drain, and
// with the beats otherwise.
func relay(agents []*remote, preparing bool) (end func()) {
	stop := clock.Repeat(newsEvery, func() { relayOnce(agents, preparing) })
	return func() {
		stop()
		for _, r := range agents {
			r.setOthers(nil)
		}
	}
}

// relayOnce computes for each agent the sum of the other agents' states, if any state has changed.
func relayOnce(agents []*remote, preparing bool) {
	news := false
	known := make([]shared, len(agents))
	for i, r := range agents {
		var fresh bool
		known[i], fresh = r.knows()
		news = news || fresh
	}
	if !news {
		return
	}
	draining := !slices.ContainsFunc(known, func(k shared) bool { return !k.Drains })
	for i, r := range agents {
		others := shared{Drains: true}
		for j, k := range known {
			if j != i {
				others = others.plus(k)
			}
		}
		r.setOthers(&others)
		if preparing || draining {
			_ = r.say(down{Others: r.others()}) // if it is lost, the next beat has it
		}
	}
}

// knows returns the agent's state in the last order, and whether it has changed since the last call.
func (r *remote) knows() (shared, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.fresh
	r.fresh = false
	if r.own.N != r.n {
		return shared{}, fresh
	}
	return r.own, fresh
}

// topicsMade reports whether the agent has created the topics, or found them.
func (r *remote) topicsMade() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own.N == r.n && r.own.Made
}

// setOthers sets the state of the other agents that each beat carries to this agent. nil means none.
func (r *remote) setOthers(o *shared) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if o != nil {
		o.N = r.n
	}
	r.told = o
}

func (r *remote) others() *shared {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.told
}
