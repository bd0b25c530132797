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

// pool holds the brokers that several points share (isolation: shared), until no coming point needs them.
type pool struct {
	host     *provision.Host                // nil if no point starts a broker
	keep     bool                           // keep the brokers' directories
	shared   map[string]*provision.Instance // those that run, by the name that Shares gives
	warmedUp map[*provision.Instance]bool   // brokers of the pool or of a point of their own
}

func newPool(h *provision.Host, keep bool) *pool {
	return &pool{host: h, keep: keep, shared: map[string]*provision.Instance{}, warmedUp: map[*provision.Instance]bool{}}
}

// Shares returns a name that is equal for all points that share a broker. It is empty if the point starts no broker, or has one of
// its own: a point with faults breaks its broker on purpose.
func Shares(s study.Spec) string {
	if _, ok := catalog.Started(s.Broker); !ok || len(s.Attach) > 0 || s.Isolation != "shared" || len(s.Faults) > 0 {
		return ""
	}
	settings, _ := serverSettings(s) // if they are refused, take refuses them as well
	// Marshal can't fail: the settings were read from a document.
	name, _ := json.Marshal([]any{s.Broker, s.Version, s.Nodes, s.TLS, settings})
	return string(name)
}

// take returns a running broker for a spec. The caller calls giveBack when the repetition has ended: that stops the broker, unless
// others share it.
func (p *pool) take(ctx context.Context, s study.Spec) (in *provision.Instance, giveBack func(), err error) {
	keepRunning := func() {}
	name := Shares(s)
	if in, ok := p.shared[name]; ok {
		return in, keepRunning, nil
	}
	if p.host == nil {
		return nil, nil, errStart{fmt.Errorf("%s can't be started: there is no directory for brokers", s.Broker)}
	}
	server, err := serverSettings(s)
	if err != nil {
		return nil, nil, err
	}
	in, err = p.host.Start(ctx, provision.Options{
		Broker: s.Broker, Version: s.Version, Nodes: s.Nodes, TLS: s.TLS != study.TLSOff, Mutual: s.TLS == study.TLSMutual,
		Server: server, Keep: p.keep,
	})
	if err != nil {
		return nil, nil, errStart{err}
	}
	if name != "" {
		p.shared[name] = in
		return in, keepRunning, nil
	}
	return in, func() { stop(in) }, nil
}

// drop stops the shared broker of a point if it has died or could not be started properly: the next point gets a new one.
func (p *pool) drop(s study.Spec) { p.stopShared(Shares(s)) }

// release stops the shared brokers that none of the coming runs uses.
func (p *pool) release(coming ...[]study.Run) {
	if len(p.shared) == 0 { // spares the names of all coming runs
		return
	}
	wanted := map[string]bool{}
	for _, r := range slices.Concat(coming...) {
		wanted[Shares(r.Point.Spec)] = true
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
		stop(in)
	}
}

// close stops all shared brokers.
func (p *pool) close() { p.release() }

// stopTimeout is how long a broker may take to stop by itself before it is killed.
const stopTimeout = 30 * time.Second

// stop stops a broker or another process of ours.
func stop(in *provision.Instance) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	_ = in.Stop(ctx) // an error only says that it had to be killed
}
