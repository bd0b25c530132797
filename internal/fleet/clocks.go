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

// clockServer answers the datagrams by which agents compare their clocks with this process's, at the address of the control
// server.
type clockServer struct {
	host      string // which agents reach; "": that of the control server, as each of them knows it
	port      int
	token     string
	answerers []*clock.Answerer
}

// newClockServer listens on a host of this machine, or on all its addresses if host is unspecified. Port 0 stands for any free
// port.
func newClockServer(host string, port int, token string) (*clockServer, error) {
	s := &clockServer{port: port, token: token}
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
		s.answerers = append(s.answerers, a)
	}
	if len(s.answerers) == 0 {
		return nil, last
	}
	return s, nil
}

func (s *clockServer) close() {
	for _, a := range s.answerers {
		_ = a.Close() // nothing is lost with it
	}
}

// exchangeTime bounds the exchanges of one measurement.
const exchangeTime = 2 * time.Second

// clock answers a clockQuestion.
func (a *joined) clock(r micro.Request) {
	var l clockQuestion
	if err := json.Unmarshal(r.Data(), &l); err != nil {
		_ = r.Error("400", err.Error(), nil)
		return
	}
	reply := clockReply{}
	if l.Port != 0 {
		host := l.Host
		if host == "" {
			host = hostOf(a.nc.ConnectedAddr())
		}
		ctx, cancel := context.WithTimeout(context.Background(), exchangeTime)
		defer cancel()
		var err error
		if reply.Offset, err = a.compare(ctx, net.JoinHostPort(host, strconv.Itoa(l.Port)), l.Token); err != nil {
			reply.Why = err.Error()
		}
	}
	reply.Now = now()
	_ = r.RespondJSON(reply)
}

// questions is how often the time is asked over the control channel when no datagram gets through.
const questions = 8

// clock measures the offset of the agent's clock from this process's.
func (r *remote) clock(ctx context.Context) (clock.Offset, error) {
	if r.info.Clock == r.me.Clock {
		return clock.Offset{At: now()}, nil
	}
	if s := r.clockServer; s != nil && !r.noDatagrams {
		var reply clockReply
		if err := r.ask(ctx, clockEnd, clockQuestion{s.host, s.port, s.token}, &reply); err != nil {
			return clock.Offset{}, err
		}
		if reply.Why == "" {
			return reply.Offset.Reversed(), nil
		}
		r.noDatagrams = true
		r.logf("the clock of agent %s is compared over the control channel, which tells less: %s", r.info, reply.Why)
	}
	pings := make([]clock.Ping, questions)
	for i := range pings {
		var reply clockReply
		asked := now()
		if err := r.ask(ctx, clockEnd, clockQuestion{}, &reply); err != nil {
			return clock.Offset{}, err
		}
		pings[i] = clock.Ping{Sent: asked, Arrived: reply.Now, Answered: reply.Now, Received: now()}
	}
	o, err := clock.EstimateOffset(pings)
	if err != nil {
		return o, &agent.ErrClock{Agent: r.info.String(), Why: err.Error()}
	}
	return o, nil
}

// foreseeableDrift is how exactly the drift between two clocks has to be known, in ns per ns, to be extrapolated. Oscillators are
// off by some 1e-5.
const foreseeableDrift = 1e-5

// steadyFor is how long the drift between two clocks counts as constant.
const steadyFor = 10 * time.Minute

// foresee extrapolates the offset of the agent's clock until a future time, from the measurement o and the first one.
func (r *remote) foresee(o clock.Offset, until int64) clock.Line {
	if r.info.Clock == r.me.Clock {
		return clock.Line{}
	}
	first := r.first
	if first == (clock.Offset{}) || o.At-first.At > int64(steadyFor) {
		r.first = o
	}
	span := o.At - first.At
	if first != (clock.Offset{}) && float64(o.Bound+first.Bound) < foreseeableDrift*float64(span) {
		if l, err := clock.Predict(first, o, until); err == nil {
			return l
		}
	}
	return clock.Steady(o, until)
}
