package lab

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// start brings up the broker of a bench, one repetition under way, and returns how clients reach it. There are three ways: the broker
// runs in this process, it is started, or the spec names one that somebody else runs. c has everything else that a client needs.
func (b *bench) start(ctx context.Context, c driver.Config) (driver.Target, error) {
	b.doubtUnmetered(provision.Metered)
	recipe, hasProcesses := catalog.Started(b.spec.Broker)
	if !hasProcesses {
		return b.nameInProcess(), nil
	}
	if len(b.spec.Attach) == 0 {
		return b.startInstance(ctx, recipe)
	}
	target, err := attachedTarget(b.spec)
	if err != nil {
		return target, errStart{cause: err}
	}
	b.broker.tls.Watch(target.TLS)
	c.Target = target
	return target, b.attach(ctx, c, recipe)
}

// errStart is the error of a broker that could not be installed, started or reached: there was nothing to measure.
type errStart struct{ cause error }

func (e errStart) Error() string { return e.cause.Error() }
func (e errStart) Unwrap() error { return e.cause }

// nameInProcess returns how clients reach a broker that runs in this process: by a new name. The first client that connects to a name
// makes the broker, so each repetition has one of its own.
func (b *bench) nameInProcess() driver.Target {
	b.doubt(doubt.InProcess, "the broker ran inside the generator's process: its cost can't be told apart")
	name := fmt.Sprintf("%s-%d-%d", b.record.PointID, b.record.Repetition, rand.Uint64())
	return driver.Target{Addresses: []string{name}}
}

// startInstance takes a broker from the pool, which starts one unless the point can share one that runs.
func (b *bench) startInstance(ctx context.Context, recipe *provision.Recipe) (t driver.Target, err error) {
	b.announce("starting " + b.spec.Broker)
	var far func(string) (string, error)
	if tellsProxies(b.spec) {
		far = func(address string) (string, error) { return b.slowed(address, b.spec.Network.Broker) }
	}
	instance, giveBack, err := b.lab.pool.take(ctx, b.spec, b.record.Repetition, far)
	if err != nil {
		return t, err
	}
	b.broker.instance, b.broker.giveBack = instance, giveBack
	if provision.Metered {
		b.meters.local, b.meters.complete = instance.Meter(), true
	}
	t = driver.Target{
		Addresses: instance.Addresses(), TLS: instance.ClientTLS(), Version: instance.Version(), Endpoints: instance.Endpoints(), Server: instance.Settings(),
	}
	if far != nil {
		t.Addresses = instance.FarAddresses()
	} else if err := b.slowBroker(t.Addresses); err != nil {
		return t, err
	}
	b.broker.tls.Watch(t.TLS)
	b.record.Versions.Broker = instance.Version()
	version, err := recipe.Version(instance.Version())
	if err != nil {
		return t, err
	}
	b.doubtVersion(version)
	plain := cmp.Or(version.Plain, recipe.Plain) // what the nodes of a cluster say to each other without TLS; empty: nothing
	if plain != "" && instance.Nodes() > 1 && t.TLS != nil {
		b.doubt(doubt.PlainBetweenNodes, "TLS is on for the clients; the nodes do without it for %s", plain)
	}
	return t, nil
}

// doubtVersion adds the doubt that a recipe has about a version, if any.
func (b *bench) doubtVersion(v provision.Version) {
	if v.Doubt != "" {
		b.doubt(doubt.OldVersion, "version %s: %s", v.Name, v.Doubt)
	}
}

// awaitReplicas waits until the broker reports, by its own administration, as many replicas in sync as the spec asks for. A broker
// may accept a number of replicas and run fewer. Nothing is measured before.
func (b *bench) awaitReplicas(ctx context.Context) error {
	if b.broker.instance == nil || b.spec.Replicas < 2 {
		return nil
	}
	recipe, started := catalog.Started(b.spec.Broker)
	if !started || recipe.InSync == nil { // there is nothing to ask: the driver has checked the replicas as it made the topics
		return nil
	}
	const timeout = time.Minute // until every replica of new topics follows its leader
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if _, err := b.broker.instance.InSync(ctx, b.spec.Replicas); err != nil {
		return fmt.Errorf("replicas: %d: %w", b.spec.Replicas, err)
	}
	return nil
}
