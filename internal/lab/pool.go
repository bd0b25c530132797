package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// pool starts brokers, and holds the one that several points of a repetition share (isolation: shared) until another repetition begins
// that can't use it: while a broker is measured, no other is up. For example, ten points that differ only in their message size share one
// broker in their first repetition, and another one in their second. One goroutine at a time may use a pool.
type pool struct {
	host     *provision.Host              // nil if no point starts a broker
	keep     bool                         // keep the brokers' directories
	profiles string                       // the folder for their profiles; "": they aren't profiled
	shared   *sharedBroker                // nil if none runs
	warmedUp map[*provision.Instance]bool // the shared broker, and that of a single point
}

// sharedBroker is a broker for all points of one repetition that have its name.
type sharedBroker struct {
	name       string // see SharedBroker
	repetition int
	instance   *provision.Instance
}

// SharedBroker returns the name of the broker that a point shares with others: points with equal names can be measured on one broker. It
// is empty if the point starts no broker, if its settings are refused, or if it has a broker of its own: a point with faults breaks its
// broker on purpose, and proxies end with their point.
func SharedBroker(s study.Spec) string {
	_, hasProcesses := catalog.Started(s.Broker)
	startedHere := hasProcesses && len(s.Attach) == 0
	if !startedHere || s.Isolation != "shared" || len(s.Faults) > 0 || tellsProxies(s) {
		return ""
	}
	settings, err := serverSettings(s)
	if err != nil {
		return "" // take returns the error
	}
	name, _ := json.Marshal([]any{s.Broker, s.Version, s.Nodes, s.TLS, s.Limits.Broker, s.DataInMemory, settings}) // what was read from a document can be marshalled
	return string(name)
}

// makeRoom stops the shared broker unless a repetition, which is about to begin, can use it.
func (p *pool) makeRoom(s study.Spec, repetition int) {
	if p.shared != nil && !p.shared.serves(s, repetition) {
		p.close()
	}
}

// serves reports whether a repetition of a spec can be measured on a shared broker.
func (b *sharedBroker) serves(s study.Spec, repetition int) bool {
	return b.repetition == repetition && b.name == SharedBroker(s)
}

// take returns a running broker for a repetition, for which makeRoom has been called. It blocks until the broker is ready. The caller
// calls giveBack when the repetition has ended: that stops the broker, unless others share it. far is as provision.Options has it.
func (p *pool) take(ctx context.Context, s study.Spec, repetition int, far func(string) (string, error)) (broker *provision.Instance, giveBack func(), err error) {
	keepRunning := func() {}
	if p.shared != nil {
		return p.shared.instance, keepRunning, nil
	}
	if p.host == nil {
		return nil, nil, errStart{cause: fmt.Errorf("%s can't be started: there is no directory for brokers", s.Broker)}
	}
	server, err := serverSettings(s)
	if err != nil {
		return nil, nil, err
	}
	broker, err = p.host.Start(ctx, provision.Options{
		Broker: s.Broker, Version: s.Version, Nodes: s.Nodes, TLS: s.TLS != study.TLSOff, Mutual: s.TLS == study.TLSMutual,
		Server: server, Limits: limitsOf(s.Limits.Broker), DataInMemory: int64(s.DataInMemory), Keep: p.keep, Profiles: p.profiles, Far: far,
	})
	if err != nil {
		return nil, nil, errStart{cause: err}
	}
	if name := SharedBroker(s); name != "" {
		p.shared = &sharedBroker{name: name, repetition: repetition, instance: broker}
		return broker, keepRunning, nil
	}
	return broker, func() { p.stop(broker) }, nil
}

// close stops the shared broker, if one runs. The next point gets a new one.
func (p *pool) close() {
	if p.shared != nil {
		p.stop(p.shared.instance)
		p.shared = nil
	}
}

// stop stops a broker and forgets that it was warmed up.
func (p *pool) stop(in *provision.Instance) {
	delete(p.warmedUp, in)
	stop(in)
}

// stop stops a broker or another process, and blocks until it has ended; nil: it wasn't started.
func stop(in *provision.Instance) {
	if in == nil {
		return
	}
	const timeout = 30 * time.Second // then it is killed
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = in.Stop(ctx) // an error only says that it had to be killed
}

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
