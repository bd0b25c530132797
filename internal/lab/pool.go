package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
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

func newPool(h *provision.Host, keep bool, profiles string) *pool {
	return &pool{host: h, keep: keep, profiles: profiles, warmedUp: map[*provision.Instance]bool{}}
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

// stop stops a broker or another process that was started here, and blocks until it has ended.
func stop(in *provision.Instance) {
	const timeout = 30 * time.Second // then it is killed
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = in.Stop(ctx) // an error only says that it had to be killed
}
