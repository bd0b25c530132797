package lab

import (
	"context"
	"errors"
	"time"

	"github.com/brokermark/brokermark/internal/agent"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/pipeline/link"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/worker"
)

// bench runs one repetition of a point: it holds the broker, what meters it, and what drives it.
type bench struct {
	lab      *lab
	spec     study.Spec
	payloads [][]byte      // read from files; none if payloads are generated
	record   *store.Record // filled as the repetition goes on
	stage    func(Event)   // reports progress

	// The broker.
	instance     *provision.Instance // nil if the broker is attached, or runs in this process
	giveBack     func()              // stops the instance, unless other points share it; nil before start
	died         *provision.Death    // nil while the broker lives
	broker       link.Broker         // how other processes reach it; without a topology
	tls          agent.TLS           // what was negotiated with it
	limit        driver.Limit        // on what its queues keep, if the spec asks for one
	limitSetting string              // the setting of limit that may have dropped messages; empty if none may have

	// What meters the broker.
	meter             meter        // of processes on this machine; nil if there are none, or they were not found
	remoteMeters      remoteMeters // of an attached broker on other machines
	meterCoversBroker bool         // the meters cover all nodes of the broker: only then its cost is known
	brokerHidden      bool         // the attached broker is on this machine, but its processes were not found
	pids              pidSet       // all processes that meter has reported
	queue             provision.Queue

	// What drives the broker.
	agent     agent.Agent         // nil until it has prepared the point, and for a pipeline
	consuming *provision.Instance // the consumers' own process; nil if they run in this one
	relays    *provision.Instance // nil if the spec asks for none
	pipeline  *pipeline           // nil if the spec asks for none
	exhausted string              // why no more agents can share the load; empty if more may, or were never needed
	before    worker.Outcome      // of the last trial
}

// run brings everything up, measures and fills the record's result. The caller calls close, whatever run returns.
func (b *bench) run(ctx context.Context) error {
	kind, err := driver.Lookup(b.spec.Broker)
	if err != nil {
		return err
	}
	config, err := b.config(kind)
	if err != nil {
		return err
	}
	if config.Target, err = b.start(ctx, config); err != nil {
		return err
	}
	if b.broker, err = b.link(config); err != nil {
		return err
	}
	if b.spec.Pipeline != nil {
		return b.measurePipeline(ctx)
	}
	plan := agent.Plan{Broker: b.broker, Worker: b.plan(), Place: placed(b.spec)}
	if len(plan.Worker.Producers) <= 1 && len(plan.Worker.Consumers) <= 1 && !driver.UsesStock(config.Client) {
		plan.Worker.Procs = threads(kind.Procs, b.lab.host.Cores)
	}
	if b.spec.Relays > 0 {
		if err := b.startRelays(ctx, plan.Worker.Topology); err != nil {
			return err
		}
		plan.Worker.Topology.Existing = true
	}
	if b.spec.ConsumersApart {
		if plan.Consumers, err = b.startConsumers(ctx, plan.Worker.Topology); err != nil {
			return err
		}
	}
	b.stage(Event{Kind: Staged, Stage: "connecting"})
	b.agent = b.lab.NewAgent()
	if err := b.prepare(ctx, plan); err != nil {
		return err
	}
	if err := b.warmBroker(ctx); err != nil {
		return err
	}
	return b.measure(ctx)
}

// config decodes the settings and refuses the point if its guarantee can't be kept.
func (b *bench) config(kind driver.Kind) (driver.Config, error) {
	c, err := decoded(kind, b.spec)
	if err != nil {
		return c, err
	}
	c.Log = b.lab.Log
	server, err := serverSettings(b.spec)
	if err != nil {
		return c, err
	}
	b.record.Settings = store.Settings{Server: server, Client: readable(c.Client), Topic: readable(c.Topic)}
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

// readable replaces durations by text with their unit.
func readable(values driver.Values) map[string]any {
	out := map[string]any{}
	for name, value := range values {
		if d, ok := value.(time.Duration); ok {
			value = d.String()
		}
		out[name] = value
	}
	return out
}

func guarantee(s study.Spec) driver.Guarantee {
	return driver.Guarantee{
		Delivery: driver.Delivery(s.Delivery), Persistence: driver.Persistence(s.Persistence),
		Replicas: s.Replicas, Acks: driver.Acks(s.Acks), Ordering: driver.Ordering(s.Ordering),
	}
}

// prepare has the agent connect producers and consumers, and waits until the broker has all the copies that were asked for.
func (b *bench) prepare(ctx context.Context, p agent.Plan) error {
	prepared, err := b.agent.Prepare(ctx, p)
	b.tls.Note(prepared.TLS)
	if err != nil {
		b.agent = nil // it has left nothing behind that could be closed
		if b.instance != nil {
			b.noteDeath()
		} else if errors.As(err, new(agent.ErrConnect)) {
			return errStart{err}
		}
		return err
	}
	return b.awaitReplicas(ctx)
}

// prepareAgain closes what the agent has prepared and has it prepare the point anew, on topics of other names. Points on
// agents have no relays, no consumers apart and no bound on threads, so the plan is whole.
func (b *bench) prepareAgain(ctx context.Context) error {
	if err := b.agent.Close(); err != nil {
		return err
	}
	b.before = worker.Outcome{}
	return b.prepare(ctx, agent.Plan{Broker: b.broker, Worker: b.plan(), Place: placed(b.spec)})
}

// close takes everything down, also after run has failed halfway.
func (b *bench) close() {
	if b.relays != nil { // first, since closing the agent removes the relays' topics
		stop(b.relays)
	}
	if b.agent != nil {
		b.doubtClose(b.agent.Close(), "clients")
	}
	if b.consuming != nil {
		stop(b.consuming)
	}
	if b.giveBack != nil {
		b.giveBack()
	}
	b.record.Versions.TLS = b.tls.String()
}

// doubtClose adds a doubt if closing what was connected to a living broker failed.
func (b *bench) doubtClose(err error, closed string) {
	if err != nil && b.died == nil {
		b.doubt("unclean-close", "closing the %s failed: %v", closed, err)
	}
}

// doubt adds a doubt to the record, unless the record has one with this code.
func (b *bench) doubt(code, format string, args ...any) {
	(*doubts)(&b.record.Doubts).add(code, format, args...)
}
