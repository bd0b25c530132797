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

// pool holds the brokers that several points share (isolation: shared), until no point to come needs them.
type pool struct {
	host *provision.Host                // nil if no point starts a broker
	keep bool                           // keep the brokers' directories
	open map[string]*provision.Instance // shared brokers that run, by instanceKey
	warm map[*provision.Instance]bool   // brokers that have been warmed up
}

func newPool(h *provision.Host, keep bool) *pool {
	return &pool{host: h, keep: keep, open: map[string]*provision.Instance{}, warm: map[*provision.Instance]bool{}}
}

// instanceKey is equal for points that start the same broker, so that they can share it.
func instanceKey(s study.Spec) string {
	settings, _ := serverSettings(s) // if they are refused, take refuses them as well
	// Marshal can't fail: the settings were read from a document.
	key, _ := json.Marshal([]any{s.Broker, s.Version, s.Nodes, s.TLS, settings})
	return string(key)
}

// shareable reports whether a point may leave its broker to others. It may not if it injects faults.
func shareable(s study.Spec) bool { return s.Isolation == "shared" && len(s.Faults) == 0 }

// Shares returns a name that is equal for all points that share a broker. It is empty if the point has a broker of its own, or
// starts none.
func Shares(s study.Spec) string {
	if _, ok := catalog.Started(s.Broker); !ok || len(s.Attach) > 0 || !shareable(s) {
		return ""
	}
	return instanceKey(s)
}

// take returns a running broker for a spec. The caller calls giveBack when the repetition has ended: that stops the broker, unless
// others share it.
func (p *pool) take(ctx context.Context, s study.Spec) (in *provision.Instance, giveBack func(), err error) {
	shared := shareable(s)
	key := instanceKey(s)
	if in, ok := p.open[key]; ok && shared {
		return in, func() {}, nil
	}
	if p.host == nil {
		return nil, nil, errStart{fmt.Errorf("%s can't be started: there is no directory for brokers", s.Broker)}
	}
	server, err := serverSettings(s)
	if err != nil {
		return nil, nil, err
	}
	in, err = p.host.Start(ctx, provision.Options{
		Broker: s.Broker, Version: s.Version, Nodes: s.Nodes, TLS: s.TLS != study.TLSOff, Mutual: s.TLS == study.TLSMutual, Server: server, Keep: p.keep,
	})
	if err != nil {
		return nil, nil, errStart{err}
	}
	if shared {
		p.open[key] = in
		return in, func() {}, nil
	}
	return in, func() { stop(in) }, nil
}

// drop stops a shared broker that has died or could not be started properly: the next point gets a new one.
func (p *pool) drop(s study.Spec) {
	if in, ok := p.open[instanceKey(s)]; ok {
		delete(p.open, instanceKey(s))
		stop(in)
	}
}

// release stops the shared brokers that none of these runs, which are still to come, will use.
func (p *pool) release(runs ...[]study.Run) {
	if len(p.open) == 0 {
		return
	}
	wanted := map[string]bool{}
	for _, r := range slices.Concat(runs...) {
		if shareable(r.Point.Spec) {
			wanted[instanceKey(r.Point.Spec)] = true
		}
	}
	for key, in := range p.open {
		if !wanted[key] {
			delete(p.open, key)
			stop(in)
		}
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
