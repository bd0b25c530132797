package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/provision"
)

// Options of an agent.
type Options struct {
	Join  Address
	Token string
	Name  string             // "": the host's
	Build string             // of this program
	Once  bool               // end with the first run
	Dir   string             // for results until they are stored; "": they are in memory only
	Meter *provision.Foreign // of a broker's processes; nil: the agent runs loads
	By    nats.CustomDialer  // makes the connection to the control server; nil: the network
	Log   io.Writer
	// Worker does the work; nil: an agent.Local. One that is simulated shows what coordinating costs.
	Worker agent.Agent
	Say    func(format string, args ...any)
}

// Join runs an agent: it waits for a control server and works for one run after the other. It returns when ctx ends, when the
// control server refuses it, or after the first run if Options.Once is set. If the coordinator of a run falls silent, the agent
// cleans up.
func Join(ctx context.Context, o Options) error {
	a := &joined{Options: o, info: Self(o.Name, o.Build), claimed: make(chan *session), compare: clock.Compare}
	return a.join(ctx)
}

func (a *joined) join(ctx context.Context) error {
	o := a.Options
	a.info.ID = nuid.Next()
	if o.Meter != nil {
		a.info.Meters = o.Meter.String()
	}
	if a.Worker == nil {
		a.Worker = &agent.Local{Log: a.Log}
	}
	closed := make(chan struct{})
	handlers := []nats.Option{
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { a.away.Store(true) }), nats.ReconnectHandler(func(*nats.Conn) { a.away.Store(false) }),
	}
	if o.By != nil {
		handlers = append(handlers, nats.SetCustomDialer(o.By))
	}
	nc, err := o.Join.connect(ctx, o.Token, o.Say, handlers...)
	if err != nil {
		return err
	}
	defer nc.Close()
	a.nc = nc
	s, err := a.back()
	if err != nil {
		return err
	}
	service, err := a.announce()
	if err != nil {
		return err
	}
	defer func() { _ = service.Stop() }() // the connection ends anyway
	if a.info.Meters != "" {
		o.Say("%s meters %s for runs at %s", a.info, a.info.Meters, o.Join.Server)
	} else {
		o.Say("%s is ready at %s", a.info, o.Join.Server)
	}
	for {
		var tooLate <-chan time.Time
		if s != nil {
			err := s.serve(ctx)
			a.free()
			if err != nil || o.Once && !s.renew {
				return err
			}
			if o.Once {
				tooLate = time.After(renewWithin)
			}
		}
		select {
		case <-tooLate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-closed:
			return fmt.Errorf("the control server at %s closed the connection: %w", o.Join.Server, nc.LastError())
		case s = <-a.claimed:
		}
	}
}

// back returns the session that this agent was in before a restart, and takes over the ID that it had then. It returns nil if
// there is none.
func (a *joined) back() (*session, error) {
	if a.Dir == "" || a.Meter != nil {
		return nil, nil
	}
	k := findLeftover(a.Dir, a.info)
	if k == nil {
		return nil, nil
	}
	a.info.ID, a.busy = k.Info.ID, k.By.String()
	return resume(a, k)
}

// renewWithin is how long an agent that works for one run (Options.Once) waits to be claimed again by that run, after a restart or
// after a silence of the coordinator. Meanwhile the coordinator ends a point and starts the next one's broker.
const renewWithin = 10 * time.Minute

// joined is an agent that is connected to a control server.
type joined struct {
	Options
	info    Info
	nc      *nats.Conn
	claimed chan *session
	away    atomic.Bool // the connection: who posts waits for every attempt to reach the server again
	// compare measures where the clock behind an address is on this one.
	compare func(ctx context.Context, address, token string) (clock.Offset, error)

	mu   sync.Mutex
	busy string // for whom it works
}

// announce registers the agent at the control server.
func (a *joined) announce() (micro.Service, error) {
	s, err := micro.AddService(a.nc, micro.Config{
		Name: service, Version: serviceVersion, Description: "runs producers and consumers for brokermark", QueueGroupDisabled: true,
		Metadata:     map[string]string{"name": a.info.Name, "host": a.info.Host, "build": a.info.Build},
		StatsHandler: func(*micro.Endpoint) any { return a.status() },
	})
	if err != nil {
		return nil, err
	}
	if a.Meter != nil {
		if err := s.AddEndpoint(meterEnd, micro.HandlerFunc(a.serves), micro.WithEndpointSubject(subjectOf(a.info.ID, meterEnd))); err != nil {
			return nil, err
		}
	}
	return s, errors.Join(
		s.AddEndpoint(claimEnd, micro.HandlerFunc(a.claim), micro.WithEndpointSubject(subjectOf(a.info.ID, claimEnd))),
		s.AddEndpoint(clockEnd, micro.HandlerFunc(a.clock), micro.WithEndpointSubject(subjectOf(a.info.ID, clockEnd))),
	)
}

func (a *joined) status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Status{a.info, a.busy, loadAverage()}
}

// claim answers a coordinator that wants the agent for its run.
func (a *joined) claim(r micro.Request) {
	var c claim
	if err := json.Unmarshal(r.Data(), &c); err != nil {
		_ = r.Error("400", err.Error(), nil)
		return
	}
	_ = r.RespondJSON(claimed{a.take(c)})
}

// take begins a session, or returns the reason why it can't.
func (a *joined) take(c claim) (refused string) {
	if why := a.info.fits(c.By); why != "" {
		return why
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy != "" {
		return "it works for " + a.busy
	}
	s := newSession(a, c)
	if err := s.listen(); err != nil {
		return err.Error()
	}
	select {
	case a.claimed <- s:
		a.busy = c.By.String()
		return ""
	case <-time.After(time.Second):
		_ = s.subscription.Unsubscribe()
		return "it is about to end"
	}
}

func (a *joined) free() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = ""
}

// session is the agent's side of one run.
type session struct {
	joined       *joined
	id           string
	by           Info
	subscription *nats.Subscription
	orders       chan down
	over         chan struct{} // closed when nobody takes orders any more
	executor     executor
	got, done    int
	last         *answer
	kept         *kept              // the last trial's answer, on disk until its record is stored
	bare         bool               // its clients have ended, by the process's end or since the coordinator wasn't heard
	renew        bool               // the coordinator let this agent go because of bare, and may claim it anew
	heard        time.Time          // the coordinator
	cancel       context.CancelFunc // of the order under way
	ended        chan answer        // what became of it
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
	var p assembler
	s.subscription, err = s.joined.nc.Subscribe(subjectDown(s.id), func(m *nats.Msg) {
		var d down
		if complete, err := p.add(m, &d); err != nil {
			s.joined.Say("from %s: %v", s.by, err)
		} else if complete {
			select {
			case s.orders <- d:
			case <-s.over:
			}
		}
	})
	if err != nil {
		return err
	}
	return errors.Join(s.subscription.SetPendingLimits(-1, -1), s.joined.nc.Flush())
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
		case <-ctx.Done(): // what was not fetched stays on disk: the agent may be started again
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
		case <-s.executor.news():
			s.say(up{})
		case <-beat.C:
			if stall.happened() { // what came meanwhile is heard first
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

// stallDetector notices that this process itself stood still, as under SIGSTOP or in a suspended machine. It then can't tell how
// long the other side was silent.
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
		u.Metered = s.readings.tell()
	}
	if err := post(s.joined.nc, subjectUp(s.id), u); err != nil {
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
		bare := s.bare && o.Do == doRun
		go func() {
			a := answer{Fault: agent.FaultOf(errBare)}
			if !bare {
				a = s.executor.do(ctx, o)
			}
			a.N = o.N
			s.ended <- a
		}()
	case d.Cancel == s.got && s.done < s.got:
		s.cancel()
	case d.Halt == s.got && s.done < s.got:
		s.executor.halt()
	case d.Cue != nil && d.Cue.N == s.got && s.done < s.got:
		s.executor.cue(*d.Cue)
	case d.Again == s.done && s.last != nil:
		s.say(up{Answer: s.last})
	}
}

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
