package lab

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/consumer"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/pipeline/load"
	"github.com/brokermark/brokermark/internal/pipeline/parts"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// pipeline is the application around the broker of one repetition, which is measured end to end. The client is this
// process; all other parts have processes of their own:
//
//	client ──HTTP──► balancer ──► servers ──► broker ──► consumer ──► state
//
// The client posts rides, the servers publish each as a message, and the consumer counts them in its state. A part is
// nil until it has been started, and throughout if the spec does not ask for it.
type pipeline struct {
	bench    *bench        // the repetition under way
	admin    driver.Driver // a client of the broker that makes and removes the topic, and asks for the queue's length
	balancer *provision.Instance
	servers  *provision.Instance
	consumer *provision.Instance
	state    *provision.Instance // the consumer's database, if that is PostgreSQL

	counts *consumer.Remote // asks the consumer what it has counted
	rides  *load.Rides      // those that the client posts; set by clientLoad
}

// measurePipeline measures a point that has a pipeline: it starts the parts, posts the load and fills the record's
// result.
func (b *bench) measurePipeline(ctx context.Context) error {
	if err := b.warmUpOnce(ctx, b.warmPipeline); err != nil {
		return err
	}
	p := &pipeline{bench: b}
	b.clients.pipeline = p // bench.close closes it
	if err := p.start(ctx); err != nil {
		return err
	}
	l, err := p.clientLoad()
	if err != nil {
		return err
	}
	t, stored, err := p.run(ctx, l)
	if err != nil {
		return err
	}
	result := b.keepResult(t)
	result.Pipeline = stored
	if b.spec.Measure == study.MeasureCount {
		setCount(result, t)
		return b.judge(t, noRate)
	}
	result.OfferedRate = t.offeredRate()
	return b.judge(t, result.OfferedRate)
}

// start starts the parts, each after those that it connects to. The caller calls close, also after an error.
func (p *pipeline) start(ctx context.Context) error {
	broker, err := p.makeTopic(ctx)
	if err != nil {
		return err
	}
	if err := p.startConsumer(ctx, broker); err != nil {
		return err
	}
	return p.startServers(ctx, broker)
}

// makeTopic makes the topic and returns how the other parts reach it.
func (p *pipeline) makeTopic(ctx context.Context) (link.Broker, error) {
	b := p.bench
	b.announce("connecting")
	broker := b.broker.link
	broker.Topology = link.Topology(b.topicName(uint16(rand.Uint32())), b.spec.PartitionsPerTopic)
	var err error
	p.admin, err = broker.Open(ctx, b.lab.options.Log)
	broker.Topology.Existing = true // for the others
	return broker, err
}

// startConsumer starts the consumer, after the database that its state is in.
func (p *pipeline) startConsumer(ctx context.Context, broker link.Broker) error {
	p.bench.announce("starting the consumer")
	state, err := p.startState(ctx)
	if err != nil {
		return err
	}
	settings := provision.PartSettings(parts.Consumer{Broker: broker, Threads: p.bench.spec.ConsumerPerSubscription.Largest(), State: state})
	p.consumer, err = p.startPart(ctx, provision.Options{Broker: parts.ConsumerPart, Nodes: 1, Server: settings, Limits: limitsOf(p.bench.spec.Limits.Consumer)})
	if err != nil {
		return err
	}
	p.counts = consumer.NewRemote(p.consumer.Addresses()[0])
	return nil
}

// startState returns where the consumer keeps its state, as parts.Consumer has it: an empty text is the consumer's
// memory. It starts PostgreSQL if the state is there.
func (p *pipeline) startState(ctx context.Context) (location string, err error) {
	switch state := p.bench.spec.Pipeline.State; state {
	case "memory":
		return "", nil
	case "sqlite":
		return parts.OwnFile, nil
	case "postgres":
		p.bench.announce("starting PostgreSQL")
		login := provision.Login{User: "rides", Password: strings.ToLower(crand.Text())}
		if p.state, err = p.startPart(ctx, provision.Options{Broker: parts.Postgres, Login: &login}); err != nil {
			return "", err
		}
		return parts.PostgresURL(p.state.Addresses()[0], login), nil
	default:
		return "", fmt.Errorf("pipeline.state: unknown word %q; allowed: memory, sqlite, postgres", state)
	}
}

// startServers starts the servers, and the balancer if the spec asks for one. TLS is only on the way from the client:
// to the balancer, or to the servers if there is none.
func (p *pipeline) startServers(ctx context.Context, broker link.Broker) error {
	s := p.bench.spec
	p.bench.announce("starting the servers")
	pool := parts.Defaults() // of each server's producers
	pool.Producers = s.Pipeline.Pool
	pool.Window = s.InFlight.Messages
	pool.AtOnce = s.Pipeline.Answer == "at-once"
	settings := provision.PartSettings(parts.Server{Broker: broker, Pool: pool, Consumer: p.consumer.Addresses()[0]})
	balanced := s.Pipeline.Balancer != "none"
	encrypted := s.TLS != study.TLSOff
	var err error
	p.servers, err = p.startPart(ctx, provision.Options{
		Broker: parts.ServerPart, Nodes: s.Pipeline.Servers, TLS: encrypted && !balanced, Server: settings, Limits: limitsOf(s.Limits.Server),
	})
	if err != nil || !balanced {
		return err
	}
	p.bench.announce("starting " + s.Pipeline.Balancer)
	p.balancer, err = p.startPart(ctx, provision.Options{
		Broker: s.Pipeline.Balancer, Nodes: 1, TLS: encrypted, Server: parts.Balance(p.servers.Addresses()), Limits: limitsOf(s.Limits.Balancer),
	})
	return err
}

// startPart starts the processes of a part.
func (p *pipeline) startPart(ctx context.Context, o provision.Options) (*provision.Instance, error) {
	in, err := p.bench.startProcesses(ctx, o)
	if err != nil {
		return nil, errStart{cause: err}
	}
	return in, nil
}

// part is all processes of one kind that a repetition needs beside the broker and this process: relays, or a part of a
// pipeline.
type part struct {
	name     string // as faults and records name it
	instance *provision.Instance
}

// statePart names the consumer's database among the parts. It is metered, but a fault can't be aimed at it.
const statePart = "state"

// startedParts returns the parts that have been started, in the direction of the messages. The client and the broker are
// not among them.
func (p *pipeline) startedParts() []part {
	all := []part{
		{name: study.PartBalancer, instance: p.balancer},
		{name: study.PartServer, instance: p.servers},
		{name: study.PartConsumer, instance: p.consumer},
		{name: statePart, instance: p.state},
	}
	return slices.DeleteFunc(all, func(each part) bool { return each.instance == nil })
}

// How the client retries a request that was answered with 429 or 5xx, or not at all.
const (
	postRetries = 5
	postBackoff = 100 * time.Millisecond // before the first retry; doubled before each further one
	postTimeout = 30 * time.Second       // of one attempt
)

// clientLoad returns what the client posts: a number of rides in a closed loop (measure: count), or rides by the spec's
// schedule. The parts must have been started.
func (p *pipeline) clientLoad() (load.Load, error) {
	s := p.bench.spec
	entry := p.balancer
	if entry == nil {
		entry = p.servers
	}
	address := entry.Addresses()[0] // of the balancer, or of the only server: a spec with several has a balancer
	address, err := p.bench.slowed(address, p.bench.spec.Network.Client)
	if err != nil {
		return load.Load{}, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return load.Load{}, err
	}
	run := fmt.Sprintf("%s-%d-%x", p.bench.record.PointID, p.bench.record.Repetition, rand.Uint64())
	p.rides = &load.Rides{Host: "localhost:" + port, Run: run, Seed: uint64(p.bench.record.Seed)}
	l := load.Load{
		Address: address, TLS: entry.ClientTLS(), Maker: p.rides, Threads: s.Pipeline.Threads,
		Retries: postRetries, Backoff: postBackoff, Timeout: postTimeout,
	}
	if len(s.Faults) > 0 { // postRetries last some seconds, and a broker may need a minute to come back
		l.Patience = time.Duration(s.Drain)
	}
	if s.Measure == study.MeasureCount {
		l.Phases = load.TwoPhases(s.Pipeline.Threads, s.Count.Messages)
		return l, nil
	}
	l.Warmup, l.Duration, l.Drain = time.Duration(s.Warmup.For), time.Duration(s.Duration), time.Duration(s.Drain)
	l.Schedule, err = p.bench.schedule()
	return l, err
}

// close stops the parts, each before those that it sends to, and removes the topic. err is the error that ended the
// run; nil if none did.
func (p *pipeline) close(err error) {
	for _, running := range p.startedParts() {
		stop(running.instance)
	}
	if p.admin != nil {
		p.bench.closeAdmin(p.admin, err)
	}
}

// closeAdmin closes a client and removes the topics that it has made. If it can't, that is a doubt only if the broker goes on running: one
// that is stopped next is removed with its topics. run is the error that ended the run; nil if none did.
func (b *bench) closeAdmin(admin driver.Driver, run error) {
	var cleaned error
	if c, ok := admin.(driver.Cleaner); ok {
		const timeout = 5 * time.Second // a broker that is stuck must not keep the next point waiting
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		if err := c.Clean(ctx); err != nil && b.outlives() {
			cleaned = fmt.Errorf("remove the topics from the broker: %w", err)
		}
	}
	b.doubtClose(errors.Join(cleaned, admin.Close()), "client", run)
}
