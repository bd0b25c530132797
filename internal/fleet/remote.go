package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/worker"
)

// remote is an agent that this process has claimed.
type remote struct {
	nc           *nats.Conn
	id           string // of the session
	info         Info
	me           Info
	tell         func(string, ...any)
	subscription *nats.Subscription
	over         chan struct{} // closed to end the beats
	beating      sync.WaitGroup

	answer chan answer
	first  clock.Offset // an early one of its clock
	dial   *sundial     // nil: there is none to ask
	deaf   bool         // no exchange of clocks reaches this process from it
	kept   *clock.Discipline

	mu        sync.Mutex
	n         int // the last order
	heard     time.Time
	got, done int
	bare      bool // its clients have ended
	used      provision.Usage
	watching  *watching // of the trial under way

	meter *meter  // of an agent that meters
	own   shared  // what it said of streams that it shares
	fresh bool    // since own was last asked for
	told  *shared // what it is told with every beat
}

// askTime bounds the answer to a claim, and to a question for the time.
const askTime = 3 * time.Second

// take claims an agent.
func take(ctx context.Context, nc *nats.Conn, me, info Info, tell func(string, ...any)) (*remote, error) {
	r := &remote{
		nc: nc, id: nuid.Next(), info: info, me: me, tell: tell, over: make(chan struct{}), answer: make(chan answer, 1), heard: time.Now(),
	}
	if info.Meters != "" {
		r.meter = newMeter(r)
	}
	var p parcel
	var err error
	if r.subscription, err = nc.Subscribe(subjectUp(r.id), func(m *nats.Msg) {
		var u up
		if complete, err := p.add(m, &u); err == nil && complete {
			r.hear(u)
		}
	}); err != nil {
		return nil, err
	}
	if err := r.subscription.SetPendingLimits(-1, -1); err != nil {
		return nil, err
	}
	var said claimed
	if err := r.ask(ctx, claimEnd, claim{r.id, me}, &said); err != nil {
		_ = r.subscription.Unsubscribe()
		return nil, err
	}
	if said.Refused != "" {
		_ = r.subscription.Unsubscribe()
		return nil, fmt.Errorf("agent %s refuses: %s", info, said.Refused)
	}
	r.beating.Go(r.beat)
	return r, nil
}

// ask sends a small question to an endpoint of the agent.
func (r *remote) ask(ctx context.Context, end string, question, reply any) error {
	text, err := json.Marshal(question)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	m, err := r.nc.RequestWithContext(ctx, subjectOf(r.info.ID, end), text)
	if err != nil {
		return r.lost("it does not answer: %v", err)
	}
	return json.Unmarshal(m.Data, reply)
}

func (r *remote) lost(why string, args ...any) error {
	return &agent.ErrLost{Agent: r.info.String(), Why: fmt.Sprintf(why, args...)}
}

// silent is that the agent hasn't been heard for so long that it is lost.
func (r *remote) silent() error {
	r.mu.Lock()
	silent := time.Since(r.heard)
	r.mu.Unlock()
	if silent <= lostAfter {
		return nil
	}
	return r.lost("it was not heard for %s", silent.Round(100*time.Millisecond))
}

// beat tells the agent again and again that somebody is there.
func (r *remote) beat() {
	t := time.NewTicker(beatEvery)
	defer t.Stop()
	for {
		select {
		case <-r.over:
			return
		case <-t.C:
			_ = r.say(down{Cue: r.lastCue(), Others: r.others()}) // who can't be told is lost in time
		}
	}
}

func (r *remote) say(d down) error { return post(r.nc, subjectDown(r.id), d) }

// hear takes a beat in. It is called by one goroutine.
func (r *remote) hear(u up) {
	r.mu.Lock()
	r.heard, r.got, r.done, r.bare, r.used = time.Now(), u.Got, u.Done, u.Bare, u.Used
	w := r.watching
	if u.Own != nil {
		r.own, r.fresh = *u.Own, true
	}
	r.mu.Unlock()
	if r.meter != nil {
		r.meter.hear(u.Metered)
	}
	if w != nil && u.Got == w.n {
		w.take(u)
	}
	if u.Answer != nil {
		select {
		case r.answer <- *u.Answer:
		default: // nobody waits for it any more
		}
	}
}

// next is the number of the next order, which is given now.
func (r *remote) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return r.n
}

// do gives an order and blocks until it is answered or the agent is lost. When ctx ends, the order is to end early, and its answer
// is waited for a little longer.
func (r *remote) do(ctx context.Context, o order) (answer, error) {
	o.N = r.next()
	if err := r.say(down{Order: &o}); err != nil {
		return answer{}, r.lost("it can't be told anything: %v", err)
	}
	look := time.NewTicker(beatEvery / 2)
	defer look.Stop()
	told := time.Now()
	ended := ctx.Done()
	var patience <-chan time.Time
	var own watch
	hoping := false
	for {
		own.begin()
		select {
		case a := <-r.answer:
			if a.N == o.N {
				return a, nil
			}
		case <-ended:
			ended, patience = nil, time.After(cleanWithin)
			_ = r.say(down{Cancel: o.N}) // said again below
		case <-patience:
			return answer{}, r.lost("it did not end its work within %s", cleanWithin)
		case <-look.C:
			r.mu.Lock()
			if own.stood() { // what came meanwhile is heard first
				r.heard = time.Now()
			}
			silent, got, done, w := time.Since(r.heard), r.got, r.done, r.watching
			r.mu.Unlock()
			if silent > lostAfter {
				hope := ended != nil && w != nil && w.ended.Load() && silent <= keptFor
				if !hope || r.free(ctx) {
					return answer{}, r.lost("it was not heard for %s", silent.Round(100*time.Millisecond))
				}
				if !hoping {
					r.tell("agent %s was not heard for %s, and had sent everything: waiting %s for it to come back with its result", r.info, silent.Round(100*time.Millisecond), keptFor-lostAfter)
				}
				hoping = true
			}
			if time.Since(told) < sendAgain {
				continue
			}
			told = time.Now()
			switch {
			case got < o.N:
				_ = r.say(down{Order: &o})
			case done >= o.N:
				_ = r.say(down{Again: o.N})
			case ended == nil:
				_ = r.say(down{Cancel: o.N})
			}
		}
	}
}

// free tells that the agent is there and works for nobody: what it had of this run is gone.
func (r *remote) free(ctx context.Context) bool {
	found, err := list(ctx, r.nc)
	return err == nil && slices.ContainsFunc(found, func(s Status) bool {
		return s.Info.Name == r.info.Name && s.Info.Host == r.info.Host && s.Info.Meters == r.info.Meters && s.Busy == ""
	})
}

// prepare tells the plan.
func (r *remote) prepare(ctx context.Context, p agent.Plan) (agent.Prepared, error) {
	if err := r.reaches(p); err != nil {
		return agent.Prepared{}, err
	}
	var err error
	if p.Broker, err = p.Broker.Carried(); err != nil {
		return agent.Prepared{}, err
	}
	a, err := r.do(ctx, order{Do: doPrepare, Plan: &p})
	if err == nil {
		err = a.Fault.Error()
	}
	if err != nil || a.Prepared == nil {
		return agent.Prepared{}, err
	}
	r.kept = a.Clock
	return *a.Prepared, nil
}

// reaches refuses a broker on this machine's loopback for an agent on another machine.
func (r *remote) reaches(p agent.Plan) error {
	if r.info.Machine == r.me.Machine {
		return nil
	}
	for _, address := range p.Broker.Addresses {
		if local(hostOf(address)) {
			return fmt.Errorf("agent %s is on another machine, and %s listens on %s only: start it so that agents reach it, and attach to it", r.info, p.Broker.Broker, address)
		}
	}
	return nil
}

// run runs a load from start on, by this process's clock. line is where the agent's clock is.
func (r *remote) run(ctx context.Context, l worker.Load, start int64, line clock.Line, w *watching) (agent.Part, int64, error) {
	p := agent.Part{Name: r.info.String(), Host: r.info.Host, Cores: r.info.Cores, Machine: r.info.Machine, Here: r.info.Machine == r.me.Machine, Clock: r.kept, Offset: line.At(start)}
	if r.info.PIDs == r.me.PIDs {
		p.PID = r.info.PID
	}
	l.Start = start + p.Offset
	w.offset = p.Offset
	r.watch(w)
	defer r.watch(nil)
	a, err := r.do(ctx, order{Do: doRun, Load: &agent.Load{Load: l}, Haltable: l.Hopeless != nil, Others: w.others})
	if err == nil {
		if err = a.Fault.Error(); err != nil && r.ended() {
			err = r.lost("%v", err)
		}
	}
	if err == nil && (a.Outcome == nil || a.Meters == nil) {
		err = r.lost("it answered without an outcome")
	}
	if err != nil {
		return p, 0, err
	}
	p.Outcome, p.Late = a.Outcome.Moved(-p.Offset), a.Woke-l.Start
	p.Begin, p.Until, p.End = a.Meters.Begin, a.Meters.Until, a.Meters.End
	return p, a.Bend, nil
}

// ended tells that the agent's clients have, though nobody told them to: its process is another one, or did not hear this one.
func (r *remote) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bare
}

// close ends what was prepared; the agent stays claimed.
func (r *remote) close(ctx context.Context) error {
	a, err := r.do(ctx, order{Do: doClose})
	return errors.Join(err, a.Fault.Error())
}

// leave lets the agent go.
func (r *remote) leave() {
	close(r.over)
	r.beating.Wait()
	_ = r.say(down{Leave: true})
	_ = r.nc.FlushTimeout(askTime)
	_ = r.subscription.Unsubscribe()
}
