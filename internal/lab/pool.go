package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/brokermark/brokermark/internal/catalog"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/study"
)

// pool starts brokers, and holds those that several points share (isolation: shared) until no coming point needs them. For example, ten
// points that differ only in their message size share one broker, and release stops it after the last. One goroutine at a time may use it.
type pool struct {
	host     *provision.Host                // nil if no point starts a broker
	keep     bool                           // keep the brokers' directories
	shared   map[string]*provision.Instance // those that run, by their names (SharedBroker)
	warmedUp map[*provision.Instance]bool   // shared brokers and those of single points
}

func newPool(h *provision.Host, keep bool) *pool {
	return &pool{host: h, keep: keep, shared: map[string]*provision.Instance{}, warmedUp: map[*provision.Instance]bool{}}
}

// SharedBroker returns the name of the broker that a point shares with others: points with equal names can be measured on one broker. It
// is empty if the point starts no broker, if its settings are refused, or if it has a broker of its own: a point with faults breaks its
// broker on purpose.
func SharedBroker(s study.Spec) string {
	_, hasProcesses := catalog.Started(s.Broker)
	startedHere := hasProcesses && len(s.Attach) == 0
	if !startedHere || s.Isolation != "shared" || len(s.Faults) > 0 {
		return ""
	}
	settings, err := serverSettings(s)
	if err != nil {
		return "" // take returns the error
	}
	name, _ := json.Marshal([]any{s.Broker, s.Version, s.Nodes, s.TLS, settings}) // what was read from a document can be marshalled
	return string(name)
}

// take returns a running broker for a spec. It blocks until the broker is ready. The caller calls giveBack when the repetition has ended:
// that stops the broker, unless others share it.
func (p *pool) take(ctx context.Context, s study.Spec) (broker *provision.Instance, giveBack func(), err error) {
	keepRunning := func() {}
	name := SharedBroker(s)
	if running, ok := p.shared[name]; ok {
		return running, keepRunning, nil
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
		Server: server, Keep: p.keep,
	})
	if err != nil {
		return nil, nil, errStart{cause: err}
	}
	if name != "" {
		p.shared[name] = broker
		return broker, keepRunning, nil
	}
	return broker, func() { p.stop(broker) }, nil
}

// drop stops a point's shared broker after it has died or could not be reached. The next point gets a new one.
func (p *pool) drop(s study.Spec) { p.stopShared(SharedBroker(s)) }

// release stops the shared brokers that none of the coming runs uses.
func (p *pool) release(coming ...[]study.Run) {
	if len(p.shared) == 0 { // then the names of all coming runs need not be computed
		return
	}
	wanted := map[string]bool{}
	for _, r := range slices.Concat(coming...) {
		wanted[SharedBroker(r.Point.Spec)] = true
	}
	for name := range p.shared {
		if !wanted[name] {
			p.stopShared(name)
		}
	}
}

// stopShared stops the shared broker of a name, if it runs.
func (p *pool) stopShared(name string) {
	if in, ok := p.shared[name]; ok {
		delete(p.shared, name)
		p.stop(in)
	}
}

// stop stops a broker and forgets that it was warmed up.
func (p *pool) stop(in *provision.Instance) {
	delete(p.warmedUp, in)
	stop(in)
}

// close stops all shared brokers.
func (p *pool) close() { p.release() }

// stop stops a broker or another process that was started here, and blocks until it has ended.
func stop(in *provision.Instance) {
	const timeout = 30 * time.Second // then it is killed
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	_ = in.Stop(ctx) // an error only says that it had to be killed
}
