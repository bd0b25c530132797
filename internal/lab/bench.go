package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// connectTime bounds connecting, creating topics and probing: a minute, and some time for everything that a wide topology
// has.
func connectTime(p worker.Plan) time.Duration {
	const each, most = 10 * time.Millisecond, time.Hour
	things := len(p.Producers) + len(p.Consumers)
	for _, t := range p.Topology.Topics {
		things += t.Partitions
	}
	return min(time.Minute+time.Duration(things)*each, most)
}

// bench is everything one repetition of a point needs.
type bench struct {
	lab      *lab
	record   *store.Record
	spec     study.Spec
	payloads [][]byte // real ones, or none
	stage    func(Event)
	instance *provision.Instance // nil: attached, or without processes of its own
	giveBack func()
	meter    meter // nil: attached and not found on this machine, or without processes of its own
	away     away  // agents that meter an attached broker on its hosts
	// meterCoversBroker is set if the meters cover all nodes of the broker: only then its cost is known.
	meterCoversBroker bool
	brokerHidden      bool // the attached broker is on this machine, but its processes were not found
	pids              seen // processes that the meter has reported
	queue             provision.Queue
	agent             agent.Agent
	again             func(context.Context) error // has the agent prepare the point anew, after it was closed
	exhausted         string                      // why no more agents can share the load, once more would have been needed
	pipeline          *pipeline                   // of a point that has one
	// consuming is the process of the consumers, where the spec asks for one.
	consuming    *provision.Instance
	relays       *provision.Instance // where the spec asks for them
	died         *provision.Death
	tls          agent.TLS
	before       worker.Outcome // of the last trial
	limit        driver.Limit   // on what a queue keeps, where the spec asks for one
	limitSetting string         // the setting of limit that may have dropped messages; empty if none may have
}

// run brings everything up, measures and fills the record's result.
func (b *bench) run(ctx context.Context) error {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil {
		return err
	}
	config, err := b.config(kind)
	if err != nil {
		return err
	}
	if err := b.start(ctx, &config); err != nil {
		return err
	}
	if b.spec.Pipeline != nil {
		return b.pipelined(ctx, config)
	}
	plan := b.plan()
	if b.spec.Relays > 0 {
		if err := b.relay(ctx, config, plan.Topology); err != nil {
			return err
		}
		plan.Topology.Existing = true
	}
	elsewhere, err := b.apart(ctx, config, plan.Topology)
	if err != nil {
		return err
	}
	b.stage(Event{Kind: Staged, Stage: "connecting"})
	b.agent = b.lab.NewAgent()
	if len(plan.Producers) <= 1 && len(plan.Consumers) <= 1 && !driver.UsesStock(config.Client) {
		plan.Procs = threads(kind.Procs, b.lab.host.Cores)
	}
	to, err := b.link(config)
	if err != nil {
		return err
	}
	if err := b.connect(ctx, agent.Plan{Broker: to, Worker: plan, Place: placed(b.spec), Consumers: elsewhere}); err != nil {
		return err
	}
	b.again = func(ctx context.Context) error {
		return b.connect(ctx, agent.Plan{Broker: to, Worker: b.plan(), Place: placed(b.spec)})
	}
	if err := b.warmBroker(ctx); err != nil {
		return err
	}
	return b.measure(ctx)
}

// connect has the agent prepare a plan.
func (b *bench) connect(ctx context.Context, p agent.Plan) error {
	prepared, err := b.agent.Prepare(ctx, p)
	b.tls.Note(prepared.TLS)
	if err != nil {
		b.agent = nil
		if b.instance != nil {
			b.lookForDeath(time.Second)
		} else if errors.As(err, new(agent.ErrConnect)) {
			return errStart{err}
		}
		return err
	}
	return b.copies(ctx)
}

// threads is how many threads of Go code a client that wants no more than so many may use: half of the cores, which it
// shares with the broker, and at least what it wants. 0: no limit.
func threads(wanted, cores int) int {
	if wanted == 0 {
		return 0
	}
	return max(wanted, cores/2)
}

// config decodes the settings and asks whether the guarantee can be kept at all.
func (b *bench) config(kind driver.Kind) (driver.Config, error) {
	c, err := asked(kind, b.spec)
	if err != nil {
		return c, err
	}
	c.Log = b.lab.Log
	server, err := served(b.spec)
	if err != nil {
		return c, err
	}
	b.record.Settings = store.Settings{Server: server, Client: plain(c.Client), Topic: plain(c.Topic)}
	b.record.Versions.Client, b.record.Failover = moduleVersion(kind.Client), kind.Failover
	b.record.Versions.Broker = b.spec.Version
	size := max(1, int64(b.spec.MessageSize.Mean()))
	if kind.Keeps != nil {
		b.limit = kind.Keeps(c.Client, c.Topic, size)
	}
	if kind.ServerKeeps != nil {
		b.limit = b.limit.Least(kind.ServerKeeps(b.spec.Server, size))
	}
	return c, supported(kind, b.spec, c)
}

func guarantee(s study.Spec) driver.Guarantee {
	return driver.Guarantee{
		Delivery: driver.Delivery(s.Delivery), Persistence: driver.Persistence(s.Persistence),
		Replicas: s.Replicas, Acks: driver.Acks(s.Acks), Ordering: driver.Ordering(s.Ordering),
	}
}

// start finds or starts the broker and completes the target.
func (b *bench) start(ctx context.Context, c *driver.Config) (err error) {
	b.giveBack = func() {}
	b.unmetered(provision.Metered)
	recipe, ok := catalog.Started(b.spec.Broker)
	switch {
	case !ok: // it runs in this process; each repetition gets one of its own
		if err := inProcess(b.spec); err != nil {
			return err
		}
		c.Target.Addresses = []string{fmt.Sprintf("%s-%d-%d", b.record.PointID, b.record.Repetition, rand.Uint64())}
		b.doubt("in-process", "the broker ran inside the generator's process: its cost can't be told apart")
		return nil
	case len(b.spec.Attach) > 0:
		if c.Target, err = Attached(b.spec); err != nil {
			return errStart{err}
		}
		b.tls.Watch(c.Target.TLS)
		return b.attached(ctx, *c, recipe)
	}
	return b.startProcesses(ctx, recipe, c)
}

// startProcesses takes a broker's processes from the pool, which starts them where none are free.
func (b *bench) startProcesses(ctx context.Context, recipe *provision.Recipe, c *driver.Config) error {
	if err := startable(recipe, b.spec); err != nil {
		return err
	}
	b.stage(Event{Kind: Staged, Stage: "starting " + b.spec.Broker})
	instance, giveBack, err := b.lab.pool.take(ctx, b.spec)
	if err != nil {
		return err
	}
	b.instance, b.giveBack = instance, giveBack
	if provision.Metered {
		b.meter, b.meterCoversBroker = instance.Meter(), true
	}
	c.Target = driver.Target{
		Addresses: instance.Addresses(), TLS: instance.ClientTLS(), Version: instance.Version(), Endpoints: instance.Endpoints(),
	}
	b.tls.Watch(c.Target.TLS)
	b.record.Versions.Broker = instance.Version()
	version, err := recipe.Version(instance.Version())
	if err != nil {
		return err
	}
	if version.Doubt != "" {
		b.doubt("old-version", "%s %s: %s", b.spec.Broker, version.Name, version.Doubt)
	}
	if plain := cmp.Or(version.Plain, recipe.Plain); plain != "" && instance.Nodes() > 1 && c.Target.TLS != nil {
		b.doubt("plain-between-nodes", "TLS is on for the clients; the nodes do without it for %s", plain)
	}
	return nil
}

// plan lays out producers and consumers: topics × producersPerTopic, and for each topic and subscription its
// consumers.
func (b *bench) plan() worker.Plan {
	s := b.spec
	p := worker.Plan{
		Payload: worker.Payload{
			Random: s.RandomBytesRatio, Pool: s.RandomizedPayloadPoolSize, Samples: s.PayloadFile, Given: b.payloads, Seed: s.Seed,
		},
		Keys:         worker.Keys{Kind: keyKinds[s.KeyDistributor], N: s.Keys, Exponent: s.ZipfExponent, Seed: s.Seed},
		KeyOrdered:   s.PartitionsPerTopic > 1 || s.ConsumerPerSubscription.Largest() > 1, // whoever is given a key has all of it
		InFlight:     s.InFlight.Messages,
		Bytes:        int(s.InFlight.Bytes),
		ConsumeLater: s.Measure == "backlog",
		Run:          uint16(rand.Uint32()),
	}
	for _, size := range s.MessageSize {
		p.Payload.Sizes = append(p.Payload.Sizes, worker.Size{Bytes: int(size.Size), Weight: size.Weight})
	}
	// Unique, so that what an earlier point left on a shared broker is never mistaken for this one's.
	name := fmt.Sprintf("bm-%s-%d-%04x", b.record.PointID[:8], b.record.Repetition, p.Run)
	for i := range s.SubscriptionsPerTopic {
		p.Topology.Subscriptions = append(p.Topology.Subscriptions, fmt.Sprintf("s%d", i))
	}
	for t := range s.Topics {
		topic := driver.Topic{Name: fmt.Sprintf("%s-%d", name, t), Partitions: s.PartitionsPerTopic}
		if s.Relays > 0 {
			topic.Out = topic.Name + "-out"
		}
		p.Topology.Topics = append(p.Topology.Topics, topic)
		for range s.ProducersPerTopic {
			p.Producers = append(p.Producers, worker.Producer{ID: len(p.Producers), Topic: t})
		}
	}
	p.Delay = worker.Delay{Mean: time.Duration(s.ConsumerDelay), Exponential: s.ConsumerDelays == "exponential", Seed: s.Seed}
	p.Clients = s.Connections * s.ProducersPerTopic
	p.Consumers = consumers(s)
	p.Connect = connectTime(p)
	return p
}

// consumers are those of every topic and subscription, or of the topics that share a connection: t, t+n, t+2n and so on of
// n connections, as the producers do.
func consumers(s study.Spec) (list []driver.ConsumerConfig) {
	connections := s.Topics
	if s.Connections > 0 {
		connections = s.Connections
	}
	for first := range connections {
		var also []int
		for t := first + connections; t < s.Topics; t += connections {
			also = append(also, t)
		}
		for sub := range s.SubscriptionsPerTopic {
			of := s.ConsumerPerSubscription.Of(sub)
			for c := range of {
				list = append(list, driver.ConsumerConfig{ID: c, Of: of, Topic: first, Also: also, Subscription: sub, Delay: time.Duration(s.ConsumerDelay)})
			}
		}
	}
	return list
}

// keyKinds maps the spec's words (the OpenMessaging Benchmark's, and ours) to the worker's.
var keyKinds = map[string]string{
	"NO_KEY": "none", "KEY_ROUND_ROBIN": "roundrobin", "RANDOM_NANO": "random", "RANDOM": "random", "ZIPF": "zipf",
}

func (b *bench) close() {
	if b.relays != nil { // before their topics go
		stop(b.relays)
	}
	if b.agent != nil {
		if err := b.agent.Close(); err != nil && b.died == nil {
			b.doubt("unclean-close", "closing the clients failed: %v", err)
		}
	}
	if b.consuming != nil {
		stop(b.consuming)
	}
	if b.giveBack != nil {
		b.giveBack()
	}
	b.record.Versions.TLS = b.tls.String()
}

// doubt adds a doubt to the record, once.
func (b *bench) doubt(code, format string, args ...any) {
	(*doubts)(&b.record.Doubts).add(code, format, args...)
}

// lookForDeath notes a death that has been reported, waiting a little for one that is being found out.
func (b *bench) lookForDeath(wait time.Duration) {
	select {
	case d := <-b.instance.Deaths():
		b.died = &d
	case <-time.After(wait):
	}
}

var errDied = errors.New("the broker died")

// guard ends the context it returns when the broker, or a relay, dies unasked.
func (b *bench) guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var broker, relays <-chan provision.Death
	if b.instance != nil {
		broker = b.instance.Deaths()
	}
	if b.relays != nil {
		relays = b.relays.Deaths()
	}
	over := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case d := <-broker:
			b.died = &d
			cancel(errDied)
		case d := <-relays:
			cancel(errRelay{d})
		case <-over:
		}
	}()
	return ctx, func() { close(over); <-ended; cancel(nil) }
}

// plain writes settings as a person would: durations with their unit.
func plain(v driver.Values) map[string]any {
	out := map[string]any{}
	for name, value := range v {
		if d, ok := value.(time.Duration); ok {
			value = d.String()
		}
		out[name] = value
	}
	return out
}
