package fleet

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/worker"
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
		a, err := clock.NewAnswerer(net.JoinHostPort(h, strconv.Itoa(s.port)), token)
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

// clock answers a question about the agent's clock.
func (a *joined) clock(q clockQuestion) (reply clockReply) {
	if q.Port != 0 {
		host := cmp.Or(q.Host, hostOf(a.nc.ConnectedAddr()))
		ctx, cancel := context.WithTimeout(context.Background(), exchangeTime)
		defer cancel()
		var err error
		if reply.Offset, err = a.compare(ctx, net.JoinHostPort(host, strconv.Itoa(q.Port)), q.Token); err != nil {
			reply.Why = err.Error()
		}
	}
	reply.Now = clock.Now()
	return reply
}

// questions is how often the time is asked over the control channel when no datagram gets through.
const questions = 8

// clock measures the offset of the agent's clock from this process's.
func (r *remote) clock(ctx context.Context) (clock.Offset, error) {
	if r.info.Clock == r.me.Clock {
		return clock.Offset{At: clock.Now()}, nil
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
		r.logf("the clock of agent %s is compared over the control channel, which is less precise: %s", r.info, reply.Why)
	}
	pings := make([]clock.Ping, questions)
	for i := range pings {
		var reply clockReply
		asked := clock.Now()
		if err := r.ask(ctx, clockEnd, clockQuestion{}, &reply); err != nil {
			return clock.Offset{}, err
		}
		pings[i] = clock.Ping{Sent: asked, Arrived: reply.Now, Answered: reply.Now, Received: clock.Now()}
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

func (c *crew) clocks(ctx context.Context, agents []*remote) ([]clock.Offset, error) {
	where := make([]clock.Offset, len(agents))
	err := each(agents, func(i int, r *remote) (err error) {
		where[i], err = r.clock(ctx)
		c.forgetIfLost(r, err)
		return err
	})
	return where, err
}

// loads returns each agent's load. If agents share streams, an agent with consumers learns which producers the other agents have, and
// the offsets of their clocks.
func (c *crew) loads(l worker.Load, agents []*remote, start int64, lines []clock.Line) []worker.Load {
	loads := make([]worker.Load, len(agents))
	for k := range agents {
		loads[k] = l
		if !c.shared() || len(c.parts[k].Consumers) == 0 {
			continue
		}
		for j := range agents {
			if j == k || len(c.parts[j].Producers) == 0 {
				continue
			}
			e := worker.PeerProducers{From: start + lines[j].OffsetAt(start) + int64(l.Warmup.For)}
			e.Axis, _ = c.between(agents, lines, k, j) // no error: all lines were measured at the same time
			for _, p := range c.parts[j].Producers {
				e.Producers = append(e.Producers, worker.FirstMessage{Producer: p.ID, Seq: c.bases[p.ID]})
			}
			loads[k].Peers = append(loads[k].Peers, e)
		}
	}
	return loads
}

// between returns the offset of agent j's clock from agent k's.
func (c *crew) between(agents []*remote, lines []clock.Line, k, j int) (clock.Line, error) {
	if agents[k].info.Clock == agents[j].info.Clock {
		return clock.Line{}, nil
	}
	return clock.Relative(lines[k], lines[j])
}

// alike gives agents that read the same clock the same line, the first one's.
func alike(agents []*remote, lines []clock.Line) {
	for i, r := range agents {
		lines[i] = lines[slices.IndexFunc(agents, func(one *remote) bool { return one.info.Clock == r.info.Clock })]
	}
}

// clockHistory holds the measurements of the agents' clocks in a trial.
type clockHistory struct {
	before []clock.Offset // measured before it
	taken  []clock.Line   // what the agents computed latencies with
	bends  []int64        // answer.Bend
}

// join makes one outcome of those of agents that share streams, and advances bases to the next messages.
func (c *crew) join(ctx context.Context, l worker.Load, clocks clockHistory, parts []agent.Part, outs []worker.Outcome) worker.Outcome {
	for _, o := range outs {
		if o.Shard == nil {
			continue
		}
		for _, sent := range o.Shard.Sent {
			if sent.Producer >= 0 && sent.Producer < len(c.bases) {
				c.bases[sent.Producer] = sent.Base + sent.End
			}
		}
	}
	lines, bound, err := c.fitClocks(context.WithoutCancel(ctx), clocks, parts)
	if bound == 0 {
		clear(lines) // the agents read one clock; an offset to this process's clock doesn't matter
	}
	out := c.whole.Joined(l, outs, lines)
	out.ClockBound = bound
	out.Err = cmp.Or(out.Err, err)
	return out
}

// fitClocks measures the agents' clocks after a trial and fits lines to the offsets before and after it. bound is the largest error of a
// latency between two agents, which computed it with the lines foreseen before the trial.
func (c *crew) fitClocks(ctx context.Context, clocks clockHistory, parts []agent.Part) (lines []clock.Line, bound int64, err error) {
	agents := c.present()
	lines = make([]clock.Line, len(agents))
	after, err := c.clocks(ctx, agents)
	if err != nil {
		return lines, 0, err
	}
	for i, r := range agents {
		if r.info.Clock == r.me.Clock {
			continue
		}
		if lines[i], err = clock.Fit(clocks.before[i], after[i]); err != nil {
			return lines, 0, &agent.ErrClock{Agent: r.info.String(), Why: err.Error()}
		}
		lines[i].Bound += clocks.bends[i]
		parts[i].Bound = lines[i].Bound
	}
	alike(agents, lines)
	for k := range agents {
		for j := range agents {
			if agents[k].info.Clock == agents[j].info.Clock || len(c.parts[k].Consumers) == 0 || len(c.parts[j].Producers) == 0 {
				continue
			}
			fitted, err := c.between(agents, lines, k, j)
			taken, errTaken := c.between(agents, clocks.taken, k, j)
			if err = cmp.Or(err, errTaken); err != nil {
				return lines, 0, &agent.ErrClock{Agent: agents[j].info.String(), Why: err.Error()}
			}
			bound = max(bound, fitted.ErrorOf(taken))
		}
	}
	return lines, bound, nil
}
