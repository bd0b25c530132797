package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/brokermark/brokermark/internal/agent"
)

// session is the agent's side of one run.
type session struct {
	joined       *joined
	id           string
	by           Info
	subscription *nats.Subscription
	orders       chan down
	over         chan struct{} // closed when no orders are taken any more
	executor     executor
	got, done    int
	last         *answer
	kept         *kept              // the last trial's answer, on disk until its record is stored
	bare         bool               // its clients have ended, by the process's end or since the coordinator wasn't heard
	renew        bool               // the coordinator let this agent go because of bare, and may claim it anew
	heard        time.Time          // the coordinator
	cancel       context.CancelFunc // of the order under way
	ended        chan answer        // the outcome
	readings     *readings          // of an agent that meters
}

func newSession(a *joined, c claim) *session {
	return &session{
		joined: a, id: c.Session, by: c.By, orders: make(chan down, 16), over: make(chan struct{}), heard: time.Now(), ended: make(chan answer, 1),
		executor: executor{local: a.Worker, tell: make(chan struct{}, 1)},
	}
}

// listen subscribes to the messages of the coordinator. It returns when the control server knows of the subscription, so that the
// coordinator's first message, sent after the answer to its claim, is not missed.
func (s *session) listen() (err error) {
	obey := func(d down) {
		select {
		case s.orders <- d:
		case <-s.over:
		}
	}
	failed := func(err error) { s.joined.Say("from %s: %v", s.by, err) }
	if s.subscription, err = receive(s.joined.nc, subjectDown(s.joined.info.ID, s.id), maxDown, obey, failed); err != nil {
		return err
	}
	return s.joined.nc.Flush()
}

// serve carries out orders until the coordinator frees the agent or is given up.
func (s *session) serve(ctx context.Context) error {
	defer func() { _ = s.subscription.Unsubscribe() }()
	defer close(s.over)
	s.joined.Say("working for %s", s.by)
	if s.joined.Meter != nil {
		s.readings = read(s.joined.Meter)
		defer s.readings.close()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	var stall stallDetector
	for {
		stall.begin()
		select {
		case <-ctx.Done(): // a result that was not fetched stays on disk: the agent may be started again
			if s.unfetched() && s.kept != nil {
				s.kept.release()
			} else {
				s.stored()
			}
			return errors.Join(ctx.Err(), s.cleanUp())
		case d := <-s.orders:
			s.heard = time.Now()
			if d.Leave {
				s.joined.Say("the run of %s is over", s.by)
				s.renew = s.bare
				s.stored()
				return s.cleanUp()
			}
			s.obey(ctx, d)
		case a := <-s.ended:
			s.cancel()
			s.keep(&a)
			s.done, s.last = a.N, &a
			s.say(up{Answer: &a})
		case <-s.executor.tell:
			s.say(up{})
		case <-beat.C:
			if stall.happened() { // messages that came meanwhile are handled first
				s.heard = time.Now()
			}
			s.say(up{})
			if over, err := s.alone(time.Since(s.heard)); over {
				return err
			}
		}
	}
}

// alone is called when the coordinator has been silent for the given time. After lostAfter it ends the clients. It ends the
// session then, too, unless the coordinator may still fetch a result, which is kept for keptFor.
func (s *session) alone(silent time.Duration) (over bool, err error) {
	if silent <= lostAfter {
		return false, nil
	}
	if !s.bare {
		s.joined.Say("%s was not heard for %s: cleaning up", s.by, silent.Round(100*time.Millisecond))
		s.bare = true
		if err := s.cleanUp(); err != nil {
			return true, err
		}
	}
	if s.unfetched() && silent <= keptFor {
		return false, nil
	}
	s.stored()
	return true, nil
}

// errBare is the answer to a load after the clients have ended.
var errBare = errors.New("its clients have ended: it was started again, or did not hear this process for too long")

// stallDetector notices that this process itself stood still, as under SIGSTOP or in a suspended machine. It then doesn't
// know how long the other side was silent.
type stallDetector struct{ since time.Time }

// begin is called before each wait of at most beatEvery.
func (d *stallDetector) begin() { d.since = time.Now() }

// happened is called after the wait.
func (d *stallDetector) happened() bool { return time.Since(d.since) > lostAfter/2 }

// say sends a beat. It sends nothing while the connection is down; the coordinator asks again for what it misses.
func (s *session) say(u up) {
	if s.joined.away.Load() {
		return
	}
	u.Got, u.Done, u.Bare = s.got, s.done, s.bare
	s.executor.report(&u)
	if s.readings != nil {
		u.Metered = s.readings.unsent()
	}
	if err := post(s.joined.nc, subjectUp(s.joined.info.ID, s.id), u); err != nil {
		s.joined.Say("to %s: %v", s.by, err)
	}
}

func (s *session) obey(ctx context.Context, d down) {
	if d.Others != nil {
		s.executor.streams.heard(*d.Others)
	}
	switch o := d.Order; {
	case o != nil && o.N == s.got+1 && s.done == s.got:
		s.got = o.N
		if o.Do == doPrepare { // the next point: the record of the last one is stored
			s.stored()
			s.bare = false
		}
		s.executor.begin(o)
		ctx, s.cancel = context.WithCancel(ctx)
		refused := s.refuses(o)
		go func() {
			a := answer{Fault: agent.FaultOf(refused)}
			if refused == nil {
				a = s.executor.do(ctx, o)
			}
			a.N = o.N
			s.ended <- a
		}()
	case d.Cancel == s.got && s.done < s.got:
		s.cancel()
	case d.Halt == s.got && s.done < s.got:
		s.executor.halted.Store(true)
	case d.Cue != nil && d.Cue.N == s.got && s.done < s.got:
		s.executor.cue(*d.Cue)
	case d.Again == s.done && s.last != nil:
		s.say(up{Answer: s.last})
	}
}

// refuses returns why an order is not carried out, or nil.
func (s *session) refuses(o *order) error {
	switch {
	case s.joined.Meter != nil:
		return errMeters
	case s.bare && o.Do == doRun:
		return errBare
	case o.Plan != nil && o.Plan.Broker.NamesFiles():
		return errFiles
	}
	return nil
}

// The answers to orders that no coordinator of this program sends.
var (
	errMeters = errors.New("this agent meters a broker's processes and runs no load")
	errFiles  = errors.New("the plan names files of this host instead of holding certificates itself")
)

// cleanUp ends the order under way and all clients.
func (s *session) cleanUp() error {
	over := time.After(cleanWithin)
	if s.done < s.got {
		s.cancel()
		select {
		case <-s.ended:
		case <-over:
			return fmt.Errorf("what was under way for %s did not end within %s", s.by, cleanWithin)
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- s.executor.local.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			s.joined.Say("closing the clients: %v", err)
		}
		return nil
	case <-over:
		return fmt.Errorf("the clients of the run of %s did not close within %s", s.by, cleanWithin)
	}
}
