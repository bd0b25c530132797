package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

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
	if o.Meter != nil {
		a.info.Meters = o.Meter.String()
	}
	if a.Worker == nil {
		a.Worker = &agent.Local{Log: a.Log}
	}
	closed := make(chan struct{})
	s, err := a.reach(ctx, func(*nats.Conn) { close(closed) })
	if err != nil {
		return err
	}
	defer a.nc.Close()
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
			return fmt.Errorf("the control server at %s closed the connection: %w", o.Join.Server, a.nc.LastError())
		case s = <-a.claimed:
		}
	}
}

// reach connects to the control server, with the key, and so the ID, that this agent had before a restart if it left a result then.
// It returns the session of that result, or nil.
func (a *joined) reach(ctx context.Context, closed nats.ConnHandler) (s *session, err error) {
	a.key = rand.Text()
	var left *kept
	if a.Dir != "" && a.Meter == nil {
		left = findLeftover(a.Dir, a.info)
	}
	if left != nil {
		a.key, a.busy = left.Key, left.By.String()
	}
	a.info.ID = idOf(a.key)
	handlers := []nats.Option{
		nats.ClosedHandler(closed),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { a.away.Store(true) }), nats.ReconnectHandler(func(*nats.Conn) { a.away.Store(false) }),
	}
	if a.By != nil {
		handlers = append(handlers, nats.SetCustomDialer(a.By))
	}
	a.nc, err = a.Join.connect(ctx, a.Token, a.key, a.Say, handlers...)
	switch {
	case left == nil:
	case err != nil:
		left.release()
	default:
		if s, err = resume(a, left); err != nil {
			a.nc.Close()
		}
	}
	return s, err
}

// renewWithin is how long an agent that works for one run (Options.Once) waits to be claimed again by that run, after a restart or
// after a silence of the coordinator. Meanwhile the coordinator ends a point and starts the next one's broker.
const renewWithin = 10 * time.Minute

// joined is an agent that is connected to a control server.
type joined struct {
	Options
	info    Info
	key     string // of its ID
	nc      *nats.Conn
	claimed chan *session
	away    atomic.Bool // the connection: a caller that posts waits for every attempt to reach the server again
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
	add := func(end string, handler micro.HandlerFunc) error {
		return s.AddEndpoint(end, handler, micro.WithEndpointSubject(subjectOf(a.info.ID, end)))
	}
	if a.Meter != nil {
		if err := add(meterEnd, answering(a.serves)); err != nil {
			return nil, err
		}
	}
	return s, errors.Join(add(claimEnd, answering(a.claim)), add(clockEnd, answering(a.clock)))
}

// answering makes a handler of a function that answers a question. Both are sent as JSON.
func answering[Question, Reply any](answer func(Question) Reply) micro.HandlerFunc {
	return func(r micro.Request) {
		var q Question
		if err := json.Unmarshal(r.Data(), &q); err != nil {
			_ = r.Error("400", err.Error(), nil)
			return
		}
		_ = r.RespondJSON(answer(q))
	}
}

func (a *joined) status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Status{a.info, a.busy, LoadAverage()}
}

// isSession matches what nuid.Next makes. A session is also the name of a file.
var isSession = regexp.MustCompile(`^[0-9A-Za-z]{22}$`)

// claim answers a coordinator that wants the agent for its run: it begins a session, or says why it can't.
func (a *joined) claim(c claim) claimed {
	if why := a.info.fits(c.By); why != "" {
		return claimed{Refused: why}
	}
	if !isSession.MatchString(c.Session) {
		return claimed{Refused: "its session is not one that this program makes"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.busy != "" {
		return claimed{Refused: "it works for " + a.busy}
	}
	s := newSession(a, c)
	if err := s.listen(); err != nil {
		return claimed{Refused: err.Error()}
	}
	select {
	case a.claimed <- s:
		a.busy = c.By.String()
		return claimed{}
	case <-time.After(time.Second):
		_ = s.subscription.Unsubscribe()
		return claimed{Refused: "it is about to end"}
	}
}

func (a *joined) free() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busy = ""
}
