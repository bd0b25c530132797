package lab

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/network"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// bench runs one repetition of a point: run brings up the broker and its clients and measures, close takes everything down. It fills the
// record step by step, so the record of a repetition that fails halfway has what was known by then. It is used by one goroutine, except
// that meters and faults of a running trial have goroutines of their own.
type bench struct {
	lab      *lab
	spec     study.Spec
	payloads [][]byte // read from files; none if payloads are generated
	record   *store.Record
	report   func(Event) // of progress

	broker testedBroker
	limit  driver.Limit // of the broker's queues; the zero value if the spec asks for none
	// headerBytes is by how many bytes headers make a message larger.
	headerBytes int
	// redelivery is how long the broker waits for an acknowledgement before it delivers a message again; 0: until the connection ends.
	redelivery time.Duration
	ackSetting string // the setting that decides redelivery; empty if messages in work are never redelivered
	meters     meters
	clients    clients
	// previous is the outcome of the last trial, zero before the first one on these topics. runTrial hands it to the next trial.
	previous worker.Outcome
}

// testedBroker is the broker that a repetition measures.
type testedBroker struct {
	instance *provision.Instance // nil if the broker is attached, or runs in this process
	giveBack func()              // stops the instance, unless other points share it; nil before start
	link     link.Broker         // how other processes reach it; without a topology
	left     *provision.Left     // what is made on an attached one; nil: nothing
	unclean  bool                // some of that could not be removed
	proxies  []*network.Proxy    // between it and its clients; none unless the spec asks for a network
	tls      agent.TLS           // what was negotiated with it
}

// clients are the processes that send to the broker and receive from it.
type clients struct {
	agent     agent.Agent         // nil until it has prepared the point, and for a pipeline
	consumers *provision.Instance // the consumers' own process; nil if they run in the agent's
	relays    *provision.Instance // nil if the spec asks for none
	pipeline  *pipeline           // nil if the spec asks for none
	tool      *provision.Instance // of the broker's maker; nil until it has been started, and if the generator is ours
	exhausted string              // why no more agents can share the load; empty if more may, or were never needed
}

// run brings everything up, measures and fills the record's result. The caller calls close with the error that run returns.
func (b *bench) run(ctx context.Context) error {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil {
		return err
	}
	config, err := b.driverConfig(kind)
	if err != nil {
		return err
	}
	b.noteLimits()
	b.noteNetwork()
	b.noteIdentity(kind, config)
	if config.Target, err = b.start(ctx, config); err != nil {
		return err
	}
	if b.broker.link, err = b.brokerLink(config); err != nil {
		return err
	}
	if b.spec.Pipeline != nil {
		return b.measurePipeline(ctx)
	}
	if b.spec.Generator != "" {
		return b.measureTool(ctx)
	}
	if b.spec.Measure == study.MeasureRead {
		return b.measureRead(ctx)
	}
	plan := b.agentPlan()
	if !driver.UsesStock(config.Client) { // then the client is tuned, its memory included, and its threads if it is alone
		plan.Worker.Heap = 64 << 20
		if len(plan.Worker.Producers) <= 1 && len(plan.Worker.Consumers) <= 1 {
			plan.Worker.Procs = threads(kind.Procs, b.lab.machine.Cores)
		}
	}
	if err := b.connect(ctx, plan); err != nil {
		return err
	}
	if err := b.warmUpOnce(ctx, b.warmBroker); err != nil {
		return err
	}
	return b.measure(ctx)
}

// announce reports that the repetition has entered a stage in which nothing is offered.
func (b *bench) announce(stage string) { b.report(Event{Kind: Staged, Stage: stage}) }

// outlives reports whether the broker goes on running after the repetition: somebody else started it, or other points share it.
func (b *bench) outlives() bool { return len(b.spec.Attach) > 0 || SharedBroker(b.spec) != "" }

// agentPlan returns what the agent prepares, on topics of names that are new each time.
func (b *bench) agentPlan() agent.Plan {
	place := b.spec.Place
	return agent.Plan{
		Broker: b.broker.link, Outlives: b.outlives(), Worker: b.plan(),
		Place: agent.Place{Spread: place.Deal == study.PlaceSpread, Producers: place.Producers, Consumers: place.Consumers},
	}
}

// connect starts the relays and the consumers' process, if the spec asks for them, and has the agent prepare the plan.
func (b *bench) connect(ctx context.Context, p agent.Plan) (err error) {
	if b.spec.Relays > 0 {
		if b.clients.relays, err = b.startRelays(ctx, p.Worker.Topology); err != nil {
			return err
		}
		p.Worker.Topology.Existing = true
	}
	if b.spec.ConsumersApart {
		secret := rand.Text()
		if b.clients.consumers, err = b.startConsumers(ctx, p.Worker.Topology, secret); err != nil {
			return err
		}
		p.Consumers = &agent.ConsumerHost{Address: b.clients.consumers.Addresses()[0], Secret: secret}
	}
	b.announce("connecting")
	b.clients.agent = b.lab.options.NewAgent()
	return b.prepare(ctx, p)
}

// prepare has the agent connect producers and consumers, and waits until the broker has all the copies that were asked for.
func (b *bench) prepare(ctx context.Context, p agent.Plan) error {
	prepared, err := b.clients.agent.Prepare(ctx, p)
	b.broker.tls.Note(prepared.TLS)
	if err != nil {
		b.clients.agent = nil // it has left nothing behind that could be closed
		_, connecting := errors.AsType[*agent.ErrConnect](err)
		if connecting && b.broker.instance == nil {
			return errStart{cause: err}
		}
		return b.explainDeath(err)
	}
	return b.awaitReplicas(ctx)
}

// prepareAgain closes what the agent has prepared and has it prepare the point anew, on other topics. It needs none of what connect
// starts: points on agents have neither relays nor consumers apart. Nor does it limit threads as run does for a single producer and
// consumer: these run on one agent, so no further one is taken for them.
func (b *bench) prepareAgain(ctx context.Context) error {
	b.doubtClose(b.clients.agent.Close(), "clients", nil)
	b.previous = worker.Outcome{}
	return b.prepare(ctx, b.agentPlan())
}

// close takes everything down, also after run has failed halfway. err is the error of run.
func (b *bench) close(err error) {
	if b.clients.pipeline != nil {
		b.clients.pipeline.close(err)
	}
	stop(b.clients.tool)
	stop(b.clients.relays) // before the agent, which removes the relays' topics as it closes
	if b.clients.agent != nil {
		b.doubtClose(b.clients.agent.Close(), "clients", err)
	}
	stop(b.clients.consumers)
	b.endNote()
	for _, p := range b.broker.proxies {
		_ = p.Close() // an error says only that it did not listen any more
	}
	if b.broker.giveBack != nil {
		b.broker.giveBack()
	}
}

// doubtClose adds a doubt if clients could not be closed. If the run ended because the broker died, that explains it.
func (b *bench) doubtClose(closing error, closed string, run error) {
	b.broker.unclean = b.broker.unclean || closing != nil
	if closing != nil && !brokerDied(run) {
		b.doubt(doubt.UncleanClose, "closing the %s failed: %v", closed, closing)
	}
}

// doubt adds a doubt to the record, unless the record has one of this kind.
func (b *bench) doubt(kind *doubt.Kind, format string, args ...any) {
	b.doubts().add(kind, format, args...)
}

// doubts are those of the record.
func (b *bench) doubts() *doubts { return (*doubts)(&b.record.Doubts) }
