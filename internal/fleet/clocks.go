package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
)

// sundial answers agents' exchanges of clocks, beside the control server: at its address, by UDP.
type sundial struct {
	host  string // which agents reach; "": that of the control server, as each of them knows it
	port  int
	token string
	at    []*clock.Answerer
}

// newSundial answers on a host of this machine; where that stands for all of its addresses, on each of them. The port is taken by another
// program only where it isn't the control server's.
func newSundial(host string, port int, token string) (*sundial, error) {
	s := &sundial{port: port, token: token}
	hosts := []string{host}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		hosts = nil
		addresses, err := net.InterfaceAddrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() {
				hosts = append(hosts, n.IP.String())
			}
		}
	}
	var last error
	for _, h := range hosts {
		a, err := clock.Answers(net.JoinHostPort(h, strconv.Itoa(s.port)), token)
		if err != nil {
			last = err
			continue
		}
		_, text, err := net.SplitHostPort(a.Address())
		if err != nil {
			return nil, errors.Join(err, a.Close())
		}
		s.port, _ = strconv.Atoi(text)
		s.at = append(s.at, a)
	}
	if len(s.at) == 0 {
		return nil, last
	}
	return s, nil
}

func (s *sundial) close() {
	for _, a := range s.at {
		_ = a.Close() // nothing is lost with it
	}
}

// lookTime bounds the exchanges of one measurement.
const lookTime = 2 * time.Second

// clock answers where the coordinator's clock is on this agent's.
func (a *joined) clock(r micro.Request) {
	var l look
	if err := json.Unmarshal(r.Data(), &l); err != nil {
		_ = r.Error("400", err.Error(), nil)
		return
	}
	said := looked{}
	if l.Port != 0 {
		host := l.Host
		if host == "" {
			host = hostOf(a.nc.ConnectedAddr())
		}
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		var err error
		if said.Offset, err = a.compare(ctx, net.JoinHostPort(host, strconv.Itoa(l.Port)), l.Token); err != nil {
			said.Why = err.Error()
		}
	}
	said.Now = now()
	_ = r.RespondJSON(said)
}

// questions is how many questions for the time are asked over the control channel, where the agent can't be reached directly.
const questions = 8

// clock finds out where the agent's clock is on this process's.
func (r *remote) clock(ctx context.Context) (clock.Offset, error) {
	if r.info.Clock == r.me.Clock {
		return clock.Offset{At: now()}, nil
	}
	if s := r.dial; s != nil && !r.deaf {
		var said looked
		if err := r.ask(ctx, clockEnd, look{s.host, s.port, s.token}, &said); err != nil {
			return clock.Offset{}, err
		}
		if said.Why == "" {
			return said.Offset.Turned(), nil
		}
		r.deaf = true
		r.tell("the clock of agent %s is compared over the control channel, which tells less: %s", r.info, said.Why)
	}
	pings := make([]clock.Ping, questions)
	for i := range pings {
		var said looked
		asked := now()
		if err := r.ask(ctx, clockEnd, look{}, &said); err != nil {
			return clock.Offset{}, err
		}
		pings[i] = clock.Ping{Sent: asked, Arrived: said.Now, Answered: said.Now, Received: now()}
	}
	o, err := clock.EstimateOffset(pings)
	if err != nil {
		return o, &agent.ErrClock{Agent: r.info.String(), Why: err.Error()}
	}
	return o, nil
}

// sure is how well, in ns of each ns, the drift between two clocks has to be known from earlier measurements for it to be foreseen.
// Oscillators are off by tens of ppm.
const sure = 1e-5

// steady is for how long the drift between two clocks is taken to be the same.
const steady = 10 * time.Minute

// foresee is where the agent's clock will be until a time to come, from a measurement that was just made and the first one.
func (r *remote) foresee(o clock.Offset, until int64) clock.Line {
	if r.info.Clock == r.me.Clock {
		return clock.Line{}
	}
	first := r.first
	if first == (clock.Offset{}) || o.At-first.At > int64(steady) {
		r.first = o
	}
	span := o.At - first.At
	if first != (clock.Offset{}) && float64(o.Bound+first.Bound) < sure*float64(span) {
		if l, err := clock.Foresee(first, o, until); err == nil {
			return l
		}
	}
	return clock.Steady(o, until)
}
