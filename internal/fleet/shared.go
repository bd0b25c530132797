package fleet

import (
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/worker"
)

// shared is what is known, while an order is carried out, of streams that agents share: by one of them, or by all others together. It
// always holds everything, so that what gets lost on its way comes with the next beat.
type shared struct {
	N      int           // the order, as the agent counts them that says this or is told it
	Made   bool          // the topics are there
	Probed []byte        // bits: which producers have been seen by which subscriptions
	Count  measure.Count // of the trial
	Drains bool          // everything has been sent
}

// with adds what others know.
func (s shared) with(o shared) shared {
	s.Made, s.Drains = s.Made || o.Made, s.Drains && o.Drains
	for i, b := range o.Probed {
		if i >= len(s.Probed) {
			s.Probed = append(s.Probed, make([]byte, len(o.Probed)-len(s.Probed))...)
		}
		s.Probed[i] |= b
	}
	s.Count.Sent += o.Count.Sent
	s.Count.Bytes += o.Count.Bytes
	s.Count.Acked += o.Count.Acked
	s.Count.Failed += o.Count.Failed
	s.Count.Received += o.Count.Received
	return s
}

// soon is how often news of shared streams cross while nothing is measured. While something is, they wait for the next beat.
const soon = 10 * time.Millisecond

// sharing is an agent's own account of the streams that it shares, and what it was told of the others.
type sharing struct {
	mu          sync.Mutex
	own, others shared
	preparing   bool
	news        bool // that own has, and nobody was told
	urgent      bool // others may wait for it
	probes      *worker.Probes
	width       int // subscriptions
}

// begin begins order n. plan is nil unless it is to prepare.
func (s *sharing) begin(n int, plan *worker.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own, s.others, s.news, s.urgent, s.preparing = shared{N: n}, shared{}, false, false, plan != nil
	if plan == nil || plan.Beyond == nil {
		return
	}
	s.width = len(plan.Topology.Subscriptions)
	s.own.Probed = make([]byte, (plan.Beyond.Producers*s.width+7)/8)
	s.probes = worker.NewProbes(plan.Beyond.Producers, s.width, s.saw, s.made)
}

func (s *sharing) saw(producer, subscription int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := producer*s.width + subscription; i/8 < len(s.own.Probed) {
		s.own.Probed[i/8] |= 1 << (i % 8)
		s.news = true
	}
}

func (s *sharing) made() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own.Made, s.news = true, true
}

// heard takes in what the others know.
func (s *sharing) heard(o shared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.N != s.own.N {
		return // of an order that is over
	}
	for i, b := range o.Probed {
		for bit := range 8 {
			if k := 8*i + bit; s.preparing && b>>bit&1 != 0 && k/8 < len(s.own.Probed) {
				s.probes.Seen(k/s.width, k%s.width)
			}
		}
	}
	s.others = o
}

// everywhere is worker.Hooks.Everywhere.
func (s *sharing) everywhere(own measure.Count) (all measure.Count, sending bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.urgent = s.urgent || !s.own.Drains
	s.news = s.news || s.urgent || s.own.Count != own
	s.own.Count, s.own.Drains = own, true
	return s.own.with(s.others).Count, !s.others.Drains
}

// ended tells that this agent's part of the trial is over, perhaps before it came to drain: nobody waits for it any more.
func (s *sharing) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.own.Drains, s.news, s.urgent = true, true, true
}

// tells is whether others should hear of something now.
func (s *sharing) tells() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.news && (s.preparing || s.others.Drains || s.urgent)
	if now {
		s.news, s.urgent = false, false
	}
	return now
}

// said is what the agent knows, to be told to others.
func (s *sharing) said() *shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.own
	o.Probed = append([]byte(nil), o.Probed...)
	return &o
}

// watch has tell called whenever others should hear something, until end is called.
func (s *sharing) watch(tell func()) (end func()) {
	return often(func() {
		if s.tells() {
			tell()
		}
	})
}

// often calls do again and again, soon after each other, until end is called, which waits for the last.
func often(do func()) (end func()) {
	over := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(soon)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				do()
			}
		}
	})
	return func() { close(over); ended.Wait() }
}

// relay tells each agent what the others know of the streams they share, until it is told to end: at once while they prepare or drain,
// else with the beats.
func relay(hands []*remote, preparing bool) (end func()) {
	stop := often(func() { spread(hands, preparing) })
	return func() {
		stop()
		for _, r := range hands {
			r.tellOthers(nil)
		}
	}
}

// spread tells once what is new.
func spread(hands []*remote, preparing bool) {
	news := false
	known := make([]shared, len(hands))
	for i, r := range hands {
		var fresh bool
		known[i], fresh = r.knows()
		news = news || fresh
	}
	if !news {
		return
	}
	drains := true
	for _, k := range known {
		drains = drains && k.Drains
	}
	for i, r := range hands {
		others := shared{Drains: true}
		for j, k := range known {
			if j != i {
				others = others.with(k)
			}
		}
		r.tellOthers(&others)
		if preparing || drains {
			_ = r.say(down{Others: r.others()}) // what is lost comes with the next beat
		}
	}
}

// knows is what the agent knows of shared streams, of the order under way or the one that it has just answered, and whether that is new.
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

// made tells that the agent has made the topics, or found them.
func (r *remote) made() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.own.N == r.n && r.own.Made
}

// tellOthers has the agent be told, again and again, what others know; nil: nothing.
func (r *remote) tellOthers(o *shared) {
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
