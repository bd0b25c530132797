package fleet_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/clock"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/measure"
	"github.com/brokermark/brokermark/internal/wire"
	"github.com/brokermark/brokermark/internal/worker"
)

// traffic is the messages of a trial of which everything follows from their numbers: who sends each, who receives it, and after how long. So
// what any number of agents must count and measure of them is known.
type traffic struct {
	plan      worker.Plan
	messages  uint64 // evenly spaced over the measured phase
	lossEvery uint64 // every so many messages one is lost; 0: none is
	twice     uint64 // every so many messages one comes to two consumers of each subscription; 0: none does
	latencies []int64
}

// newTraffic has so many topics, each of them so many producers and subscriptions, and each subscription so many consumers.
func newTraffic(topics, producers, subscriptions, consumers int, messages uint64) *traffic {
	t := &traffic{messages: messages, plan: worker.Plan{
		Topology: driver.Topology{Subscriptions: []string{"a", "b"}[:subscriptions]},
		Payload:  worker.Payload{Sizes: []worker.Size{{Bytes: 100, Weight: 1}}, Random: 1, Pool: 1},
		InFlight: 100, Bytes: 1 << 20, Connect: 10 * time.Second,
	}}
	for i := range topics {
		t.plan.Topology.Topics = append(t.plan.Topology.Topics, driver.Topic{Name: fmt.Sprint("t", i), Partitions: 1})
		for range producers {
			t.plan.Producers = append(t.plan.Producers, worker.Producer{ID: len(t.plan.Producers), Topic: i})
		}
		for s := range t.plan.Topology.Subscriptions {
			for id := range consumers {
				t.plan.Consumers = append(t.plan.Consumers, driver.ConsumerConfig{ID: id, Of: consumers, Topic: i, Subscription: s})
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 4096 { // median 5 ms
		t.latencies = append(t.latencies, min(int64(5e6*math.Exp(rng.NormFloat64())), int64(300*time.Millisecond)))
	}
	return t
}

// mixed is a number that looks random (the finalizer of MurmurHash3).
func mixed(number uint64) uint64 {
	number = (number ^ number>>33) * 0xff51afd7ed558ccd
	number = (number ^ number>>33) * 0xc4ceb9fe1a85ec53
	return number ^ number>>33
}

// latency is how long a message takes to a subscription, ns.
func (t *traffic) latency(number uint64, subscription int) int64 {
	return t.latencies[mixed(number<<1|uint64(subscription))%uint64(len(t.latencies))]
}

// lost says that no consumer receives a message.
func (t *traffic) lost(number uint64) bool {
	return t.lossEvery > 0 && number%t.lossEvery == t.lossEvery/2
}

// receives says that a consumer of a topic gets a message.
func (t *traffic) receives(c driver.ConsumerConfig, topic string, number uint64) bool {
	producer := t.plan.Producers[number%uint64(len(t.plan.Producers))]
	if t.plan.Topology.Topics[producer.Topic].Name != topic || t.lost(number) {
		return false
	}
	to := int(mixed(number) >> 32 % uint64(c.Of))
	return c.ID == to || t.twice > 0 && number%t.twice == 0 && c.ID == (to+1)%c.Of
}

// sorted are the latencies of all messages that came, each once for each subscription.
func (t *traffic) sorted() (all []int64) {
	for number := range t.messages {
		for s := range t.plan.Topology.Subscriptions {
			if !t.lost(number) {
				all = append(all, t.latency(number, s))
			}
		}
	}
	slices.Sort(all)
	return all
}

// skewed is an agent's clock: ahead of this process's by a time that grows.
type skewed struct {
	ahead int64   // at origin, ns
	drift float64 // ns gained in each ns
}

// origin is when skewed clocks begin to drift.
var origin = clock.Now()

// shows is the time on the clock at a time of this process's.
func (s skewed) shows(at int64) int64 { return at + s.ahead + int64(s.drift*float64(at-origin)) }

// at is the time of this process's clock at a time on s.
func (s skewed) at(shown int64) int64 {
	return origin + int64(float64(shown-s.ahead-origin)/(1+s.drift))
}

// compare is clock.Compare for an agent with this clock.
func (s skewed) compare(ctx context.Context, address, token string) (clock.Offset, error) {
	o, err := clock.Compare(ctx, address, token)
	at := s.shows(o.At)
	return clock.Offset{At: at, Ns: o.At + o.Ns - at, Bound: o.Bound + 1}, err
}

// clocksOf are the clocks by which producers stamp, by their IDs: what a simulated broker would have to know to deliver in time.
type clocksOf struct {
	mu   sync.Mutex
	byID map[int]skewed
}

// bookkeeper is a worker that sends and receives nothing, and books traffic as a real one would have.
type bookkeeper struct {
	agent.Agent
	traffic *traffic
	clock   skewed
	clocks  *clocksOf // of all bookkeepers; nil: every clock is this process's
	hasty   bool      // it doesn't wait until its messages would have come
	plan    worker.Plan
	next    map[int]uint64 // the number of a producer's next message
}

func (b *bookkeeper) Prepare(_ context.Context, p agent.Plan) (agent.Prepared, error) {
	b.plan, b.next = p.Worker, map[int]uint64{}
	if b.clocks != nil {
		b.clocks.mu.Lock()
		defer b.clocks.mu.Unlock()
		for _, one := range p.Worker.Producers {
			b.clocks.byID[one.ID] = b.clock
		}
	}
	return agent.Prepared{}, nil
}

func (b *bookkeeper) Close() error { return nil }

// sender is a producer as this worker's recorders know it.
type sender struct {
	own   *measure.Producer // nil: another worker's
	base  uint64
	start int64 // of the trial, on its clock
	clock skewed
}

// senders are all producers that this worker has or hears of, by ID.
func (b *bookkeeper) senders(t *measure.Trial, l worker.Load) []sender {
	list := make([]sender, len(b.traffic.plan.Producers))
	clockOf := func(id int) skewed {
		if b.clocks == nil {
			return skewed{}
		}
		b.clocks.mu.Lock()
		defer b.clocks.mu.Unlock()
		return b.clocks.byID[id]
	}
	for _, p := range b.plan.Producers {
		t.SetBase(p.ID, b.next[p.ID])
		list[p.ID] = sender{own: t.Producer(p.ID), base: b.next[p.ID], start: l.Start, clock: clockOf(p.ID)}
	}
	for _, e := range l.Peers {
		host := measure.NewHost(e.Axis)
		host.MeasureFrom(e.From)
		for _, p := range e.Producers {
			t.SetHost(p.Producer, p.Seq, host)
			list[p.Producer] = sender{base: p.Seq, start: e.From - int64(l.Warmup.For), clock: clockOf(p.Producer)}
		}
	}
	return list
}

func (b *bookkeeper) Run(_ context.Context, l worker.Load) (worker.Outcome, []agent.Part) {
	out := worker.Outcome{Start: l.Start, From: l.Start + int64(l.Warmup.For), Drained: true, Producers: len(b.plan.Producers)}
	out.Until = out.From + int64(l.Duration)
	if l.Measuring != nil {
		l.Measuring(out.From)
	}
	t := measure.NewTrial(measure.Shape{
		Producers: len(b.traffic.plan.Producers), Consumers: len(b.plan.Consumers), Subscriptions: len(b.plan.Topology.Subscriptions),
	})
	t.MeasureFrom(out.From)
	b.book(t, l)
	if l.Sent != nil {
		l.Sent()
	}
	if !b.hasty {
		wait := b.clock.at(out.Until) + slices.Max(b.traffic.latencies) - clock.Now()
		time.Sleep(time.Duration(wait))
	}
	out.LastAcked = clock.Now() // when everything was booked, though by this process's clock
	out.Warmup, out.Measured = t.Books(measure.Warmup), t.Books(measure.Measured)
	out.Histograms, out.Early = t.Histograms(measure.Measured), t.Early()
	if b.plan.Peers != nil {
		shard := t.Shard()
		out.Shard = &shard
	}
	return out, nil
}

// book books all messages of a trial in the order of their numbers.
func (b *bookkeeper) book(t *measure.Trial, l worker.Load) {
	const size = 100
	senders := b.senders(t, l)
	consumers := make([]*measure.Consumer, len(b.plan.Consumers))
	for i, c := range b.plan.Consumers {
		consumers[i] = t.Consumer(i, c.Subscription, nil)
	}
	acks := make([]measure.Acks, len(senders))
	const together = 1 << 12 // messages
	for first := uint64(0); first < b.traffic.messages; first += together {
		last := min(first+together, b.traffic.messages)
		each := func(do func(id int, s *sender, number, seq uint64, intended int64)) {
			for number := first; number < last; number++ {
				id := int(number % uint64(len(senders)))
				s := &senders[id]
				since := int64(l.Warmup.For) + int64(float64(l.Duration)*float64(number)/float64(b.traffic.messages))
				do(id, s, number, s.base+number/uint64(len(senders)), s.start+since)
			}
		}
		each(func(id int, s *sender, number, seq uint64, intended int64) {
			if s.own == nil {
				return
			}
			phase := s.own.Sent(seq, size, intended, intended, 0)
			s.own.Acked(&acks[id], phase, intended, intended, intended+b.traffic.latency(number, 0))
			b.next[id] = seq + 1
		})
		for id, s := range senders {
			if s.own != nil {
				s.own.Commit()
				s.own.Confirm(&acks[id])
			}
		}
		each(func(id int, s *sender, number, seq uint64, intended int64) {
			h := wire.Header{ID: wire.MakeID(uint32(id), seq), Intended: intended, Sent: intended, Timed: true}
			for i, c := range b.plan.Consumers {
				if b.traffic.receives(c, b.plan.Topology.Topics[c.Topic].Name, number) {
					consumers[i].Received(&h, b.clock.shows(s.clock.at(intended)+b.traffic.latency(number, c.Subscription)))
				}
			}
		})
		for _, c := range consumers {
			c.Commit()
		}
	}
}
