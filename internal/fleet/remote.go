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

// remote is the coordinator's side of one claimed agent.
type remote struct {
	nc           *nats.Conn
	id           string // of the session
	info         Info
	me           Info
	logf         func(string, ...any)
	subscription *nats.Subscription
	endBeats     func()

	answer      chan answer
	first       clock.Offset // an early one of its clock
	clockServer *clockServer // nil: there is none to ask
	noDatagrams bool         // no exchange of clocks reaches this process from it

	mu        sync.Mutex
	n         int // the last order
	heard     time.Time
	got, done int
	bare      bool // its clients have ended
	used      provision.Usage
	feed      *trialFeed // of the trial under way

	meter *meter  // of an agent that meters
	own   shared  // its state of streams that it shares
	fresh bool    // own is new since it was last read
	told  *shared // the other agents' state of these streams, which every beat tells it
}

// askTime bounds how long an agent takes to answer a question.
const askTime = 3 * time.Second

// take claims an agent and begins to exchange beats with it. purpose is what it can't do for this run if it is of another build.
func (f *Fleet) take(ctx context.Context, info Info, purpose string) (*remote, error) {
	if why := info.fits(f.me); why != "" {
		return nil, fmt.Errorf("agent %s can't %s for this run: %s", info, purpose, why)
	}
	r := &remote{
		nc: f.nc, id: nuid.Next(), info: info, me: f.me, logf: f.say, clockServer: f.clockServer, answer: make(chan answer, 1), heard: time.Now(),
	}
	if info.Meters != "" {
		r.meter = &meter{r: r, facts: agent.MeterFacts{Name: info.String(), Host: info.Host, Here: info.Machine == f.me.Machine}}
	}
	unreadable := func(error) {} // the agent repeats missing messages
	var err error
	if r.subscription, err = receive(f.nc, subjectUp(info.ID, r.id), maxUp, r.hear, unreadable); err != nil {
		return nil, err
	}
	var reply claimed
	err = r.ask(ctx, claimEnd, claim{r.id, f.me}, &reply)
	if err == nil && reply.Refused != "" {
		err = fmt.Errorf("agent %s refuses: %s", info, reply.Refused)
	}
	if err != nil {
		_ = r.subscription.Unsubscribe()
		return nil, err
	}
	// A beat that can't be sent is not an error: the agent's silence will show it.
	r.endBeats = clock.Repeat(beatEvery, func() { _ = r.say(down{Cue: r.lastCue(), Others: r.others()}) })
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
	answers, err := r.nc.SubscribeSync(newInbox(r.nc))
	if err != nil {
		return r.lost("it can't be asked: %v", err)
	}
	defer func() { _ = answers.Unsubscribe() }()
	var m *nats.Msg
	if err = r.nc.PublishRequest(subjectOf(r.info.ID, end), answers.Subject, text); err == nil {
		m, err = answers.NextMsgWithContext(ctx)
	}
	if err != nil {
		return r.lost("it does not answer: %v", err)
	}
	return json.Unmarshal(m.Data, reply)
}

func (r *remote) lost(why string, args ...any) error {
	return &agent.ErrLost{Agent: r.info.String(), Why: fmt.Sprintf(why, args...)}
}

// checkHeard returns an error if the agent has been silent for longer than lostAfter.
func (r *remote) checkHeard() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if silent := time.Since(r.heard); silent > lostAfter {
		return r.lost("it was not heard for %s", silent.Round(100*time.Millisecond))
	}
	return nil
}

func (r *remote) say(d down) error { return post(r.nc, subjectDown(r.info.ID, r.id), d) }

// hear processes a message of the agent. The subscription calls it from one goroutine.
func (r *remote) hear(u up) {
	r.mu.Lock()
	r.heard, r.got, r.done, r.bare, r.used = time.Now(), u.Got, u.Done, u.Bare, u.Used
	feed := r.feed
	if u.Own != nil {
		r.own, r.fresh = *u.Own, true
	}
	r.mu.Unlock()
	if r.meter != nil {
		r.meter.hear(u.Metered)
	}
	if feed != nil && u.Got == feed.n {
		feed.take(u)
	}
	if u.Answer != nil {
		select {
		case r.answer <- *u.Answer:
		default: // it is not waited for any more
		}
	}
}

// next returns the number of a new order.
func (r *remote) next() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return r.n
}

// do sends an order and blocks until it is answered or the agent is lost. When ctx ends, do cancels the order and waits up to
// cleanWithin for its answer. Messages may get lost, so it repeats what the agent's beats show to be missing.
func (r *remote) do(ctx context.Context, o order) (answer, error) {
	o.N = r.next()
	if err := r.say(down{Order: &o}); err != nil {
		return answer{}, r.lost("no order could be sent to it: %v", err)
	}
	look := time.NewTicker(beatEvery / 2)
	defer look.Stop()
	told := time.Now()
	ended := ctx.Done()
	var patience <-chan time.Time
	var stall stallDetector
	hoping := false
	for {
		stall.begin()
		select {
		case a := <-r.answer:
			if a.N == o.N {
				return a, nil
			}
		case <-ended:
			ended, patience = nil, time.After(cleanWithin)
			_ = r.say(down{Cancel: o.N}) // repeated below
		case <-patience:
			return answer{}, r.lost("it did not end its work within %s", cleanWithin)
		case <-look.C:
			r.mu.Lock()
			if stall.happened() { // this process did not run, so messages of the agent may be waiting
				r.heard = time.Now()
			}
			silent, got, done, feed := time.Since(r.heard), r.got, r.done, r.feed
			r.mu.Unlock()
			if silent > lostAfter {
				hope := ended != nil && feed != nil && feed.sent.Load() && silent <= keptFor
				if !hope || r.isFree(ctx) {
					return answer{}, r.lost("it was not heard for %s", silent.Round(100*time.Millisecond))
				}
				if !hoping {
					r.logf("agent %s was not heard for %s, and had sent everything: waiting %s for it to come back with its result", r.info, silent.Round(100*time.Millisecond), keptFor-lostAfter)
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

// isFree reports whether the agent is connected and has no work, so that its result is gone.
func (r *remote) isFree(ctx context.Context) bool {
	found, err := list(ctx, r.nc)
	return err == nil && slices.ContainsFunc(found, func(s Status) bool {
		return s.Info.Name == r.info.Name && s.Info.Host == r.info.Host && s.Info.Meters == r.info.Meters && s.Busy == ""
	})
}

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
		err = a.Fault.Err()
	}
	if err != nil || a.Prepared == nil {
		return agent.Prepared{}, err
	}
	return *a.Prepared, nil
}

// reaches returns an error if the broker listens on this machine's loopback and the agent is on another machine.
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

// run runs a load that starts at start on this process's clock. line gives the offset of the agent's clock. The second result is
// answer.Bend.
func (r *remote) run(ctx context.Context, l worker.Load, start int64, line clock.Line, feed *trialFeed) (agent.Part, int64, error) {
	p := agent.Part{Name: r.info.String(), Host: r.info.Host, Cores: r.info.Cores, Machine: r.info.Machine, OnThisMachine: r.info.Machine == r.me.Machine, Offset: line.OffsetAt(start)}
	if r.info.PIDs == r.me.PIDs {
		p.PID = r.info.PID
	}
	l.Start = start + p.Offset
	feed.offset = p.Offset
	r.setFeed(feed)
	defer r.setFeed(nil)
	a, err := r.do(ctx, order{Do: doRun, Load: &agent.Load{Load: l}, Haltable: l.Hopeless != nil, Others: len(feed.view.agents) > 1})
	if err == nil {
		if err = a.Fault.Err(); err != nil && r.ended() {
			err = r.lost("%v", err)
		}
	}
	if err == nil && (a.Outcome == nil || a.Meters == nil) {
		err = r.lost("it answered without an outcome")
	}
	if err != nil {
		return p, 0, err
	}
	p.Outcome, p.StartedLate = a.Outcome.Moved(-p.Offset), a.Woke-l.Start
	p.Begin, p.Until, p.End = a.Meters.Begin, a.Meters.Until, a.Meters.End
	return p, a.Bend, nil
}

// ended reports whether the agent's clients have ended unasked, because the agent was restarted or did not hear this process.
func (r *remote) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bare
}

// close ends the agent's clients. The agent stays claimed.
func (r *remote) close(ctx context.Context) error {
	a, err := r.do(ctx, order{Do: doClose})
	return errors.Join(err, a.Fault.Err())
}

// leave frees the agent.
func (r *remote) leave() {
	r.endBeats()
	_ = r.say(down{Leave: true})
	_ = r.nc.FlushTimeout(askTime)
	_ = r.subscription.Unsubscribe()
}
