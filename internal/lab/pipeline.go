package lab

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
)

// pipeline is the application around the broker of one repetition.
type pipeline struct {
	bench    *bench
	maker    driver.Driver // made the topic, and asks how long the queue is
	consumer *provision.Instance
	servers  *provision.Instance
	balancer *provision.Instance // nil: the client posts to the one server
	state    *provision.Instance // the consumer's database; nil: it keeps its state itself
	remote   *consumer.Remote
	rides    *load.Rides
}

// statePart is the consumer's database. It is part of what is metered; a fault is aimed at the consumer.
const statePart = "state"

// pipelined runs a point that has a pipeline, from starting its parts to the record's result.
func (b *bench) pipelined(ctx context.Context, c driver.Config) error {
	if err := b.warmPipeline(ctx, c); err != nil {
		return err
	}
	p := &pipeline{bench: b}
	b.pipeline = p
	defer p.close()
	if err := p.start(ctx, c); err != nil {
		return err
	}
	l, rate, err := p.load()
	if err != nil {
		return err
	}
	t, kept, err := p.run(ctx, l, rate)
	if err != nil {
		return err
	}
	b.fill(t)
	r := b.record.Result
	r.Pipeline = kept
	if b.spec.Measure == study.MeasureRate {
		r.OfferedRate = offered(t)
		return b.judge(t, r.OfferedRate)
	}
	r.Count = &store.Count{
		Messages: t.Measured.Sent, Bytes: t.Measured.Bytes, PublishSeconds: seconds(t.FirstSent, t.LastAcked),
		TotalSeconds: seconds(t.FirstSent, max(t.LastAcked, t.LastReceived)),
	}
	b.setRates(r.Count.PublishSeconds, seconds(t.FirstSent, t.LastReceived))
	return b.judge(t, 0)
}

// start brings the parts up from the broker outwards: each finds what it needs.
func (p *pipeline) start(ctx context.Context, c driver.Config) (err error) {
	b, s := p.bench, p.bench.spec
	topic := fmt.Sprintf("bm-%s-%d-%04x", b.record.PointID[:8], b.record.Repetition, rand.Uint32()&0xffff)
	to, err := b.link(c)
	if err != nil {
		return err
	}
	to.Topology = link.Topology(topic, s.PartitionsPerTopic)
	b.stage(Event{Kind: Staged, Stage: "connecting"})
	if p.maker, err = to.Open(ctx, b.lab.Log); err != nil {
		return err
	}
	to.Topology.Existing = true
	b.stage(Event{Kind: Staged, Stage: "starting the consumer"})
	taking := parts.Consumer{Broker: to, Threads: s.ConsumerPerSubscription.Largest()}
	if taking.State, err = p.keep(ctx); err != nil {
		return err
	}
	if p.consumer, err = p.part(ctx, parts.ConsumerPart, 1, false, parts.Settings(taking)); err != nil {
		return err
	}
	p.remote = consumer.NewRemote(p.consumer.Addresses()[0])
	b.stage(Event{Kind: Staged, Stage: "starting the servers"})
	serving := parts.Server{Broker: to, Pool: parts.Defaults(), Consumer: p.consumer.Addresses()[0]}
	serving.Pool.Producers, serving.Pool.Window, serving.Pool.AtOnce = s.Pipeline.Pool, s.InFlight.Messages, s.Pipeline.Answer == "at-once"
	balanced := s.Pipeline.Balancer != "none"
	secure := s.TLS != study.TLSOff
	if p.servers, err = p.part(ctx, parts.ServerPart, s.Pipeline.Servers, secure && !balanced, parts.Settings(serving)); err != nil || !balanced {
		return err
	}
	b.stage(Event{Kind: Staged, Stage: "starting " + s.Pipeline.Balancer})
	p.balancer, err = p.part(ctx, s.Pipeline.Balancer, 1, secure, parts.Balance(p.servers.Addresses()))
	return err
}

// keep is where the consumer keeps its state; a database is started for it.
func (p *pipeline) keep(ctx context.Context) (state string, err error) {
	switch p.bench.spec.Pipeline.State {
	case "sqlite":
		return parts.OwnFile, nil
	case "postgres":
		p.bench.stage(Event{Kind: Staged, Stage: "starting PostgreSQL"})
		login := provision.Login{User: "rides", Password: strings.ToLower(crand.Text())}
		p.state, err = p.started(ctx, provision.Options{Broker: parts.Postgres, Login: &login})
		if err != nil {
			return "", err
		}
		return parts.PostgresURL(p.state.Addresses()[0], login), nil
	}
	return "", nil
}

// part starts one part.
func (p *pipeline) part(ctx context.Context, name string, nodes int, secure bool, settings map[string]any) (*provision.Instance, error) {
	return p.started(ctx, provision.Options{Broker: name, Nodes: nodes, TLS: secure, Server: settings})
}

func (p *pipeline) started(ctx context.Context, o provision.Options) (*provision.Instance, error) {
	o.Keep = p.bench.lab.Keep
	in, err := p.bench.lab.Host.Start(ctx, o)
	if err != nil {
		return nil, errStart{err}
	}
	return in, nil
}

// instances are all parts by name, the broker left out; nil where there is none.
func (p *pipeline) instances() map[string]*provision.Instance {
	return map[string]*provision.Instance{study.PartServer: p.servers, study.PartBalancer: p.balancer, study.PartConsumer: p.consumer, statePart: p.state}
}

// entry is where the client posts.
func (p *pipeline) entry() *provision.Instance {
	if p.balancer != nil {
		return p.balancer
	}
	return p.servers
}

// load is what the client posts, by the spec's measure.
func (p *pipeline) load() (l load.Load, rate float64, err error) {
	s := p.bench.spec
	address := p.entry().Addresses()[0]
	_, port, _ := net.SplitHostPort(address)
	p.rides = &load.Rides{Host: "localhost:" + port, Run: fmt.Sprintf("%s-%d-%x", p.bench.record.PointID, p.bench.record.Repetition, rand.Uint64()), Seed: uint64(s.Seed)}
	l = load.Load{
		Address: address, TLS: p.entry().ClientTLS(), Maker: p.rides, Threads: s.Pipeline.Threads,
		Retries: 5, Backoff: 100 * time.Millisecond, Timeout: 30 * time.Second,
	}
	if len(s.Faults) > 0 { // five retries last some seconds, and a broker may need a minute to come back
		l.Patience = time.Duration(s.Drain)
	}
	if s.Measure == study.MeasureCount {
		l.Phases = load.TwoPhases(s.Pipeline.Threads, s.Count.Messages)
		return l, 0, nil
	}
	l.Warmup, l.Duration, l.Drain = time.Duration(s.Warmup.For), time.Duration(s.Duration), time.Duration(s.Drain)
	l.Schedule, err = loadSchedule(s.Load, l.Duration, s.Seed)
	return l, s.Load.Rate, err
}

func (p *pipeline) close() {
	for _, name := range []string{study.PartBalancer, study.PartServer, study.PartConsumer, statePart} {
		if in := p.instances()[name]; in != nil {
			stop(in)
		}
	}
	if p.maker == nil {
		return
	}
	if c, ok := p.maker.(driver.Cleaner); ok {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		_ = c.Clean(ctx) // a broker that died is removed with all it has
		cancel()
	}
	if err := p.maker.Close(); err != nil && p.bench.died == nil {
		p.bench.doubt("unclean-close", "closing the client failed: %v", err)
	}
}

// guard ends the context it returns when a part dies unasked.
func (p *pipeline) guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	for name, in := range p.instances() {
		if in == nil {
			continue
		}
		go func() {
			select {
			case d := <-in.Deaths():
				cancel(fmt.Errorf("the %s died: %s", name, d))
			case <-over:
			}
		}()
	}
	return ctx, func() { close(over); cancel(nil) }
}

// lostPart is why a part's death ended ctx; nil: none did.
func lostPart(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}
