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
	host *provision.Host
	keep bool
	open map[string]*provision.Instance
	warm map[*provision.Instance]bool // of those, the ones that were driven before
}

func newPool(h *provision.Host, keep bool) *pool {
	return &pool{host: h, keep: keep, open: map[string]*provision.Instance{}, warm: map[*provision.Instance]bool{}}
}

// instanceKey tells which points can share a broker: those that start the same one.
func instanceKey(s study.Spec) string {
	settings, _ := served(s)            // what is refused starts nothing
	server, _ := json.Marshal(settings) // a map with ordered keys, from JSON in the first place
	key, _ := json.Marshal([]any{s.Broker, s.Version, s.Nodes, s.TLS, string(server)})
	return string(key)
}

// shareable tells whether a point may leave its broker to others: not when it breaks it.
func shareable(s study.Spec) bool { return s.Isolation == "shared" && len(s.Faults) == 0 }

// Shares names the broker that a point shares with the others that have the same name for it; "" where it has one of its
// own, or starts none.
func Shares(s study.Spec) string {
	if _, ok := catalog.Started(s.Broker); !ok || len(s.Attach) > 0 || !shareable(s) {
		return ""
	}
	return instanceKey(s)
}

// take returns a running broker for the spec and the call that gives it back.
func (p *pool) take(ctx context.Context, s study.Spec) (*provision.Instance, func(), error) {
	shared := shareable(s)
	key := instanceKey(s)
	if in, ok := p.open[key]; ok && shared {
		return in, func() {}, nil
	}
	if p.host == nil {
		return nil, nil, errStart{fmt.Errorf("%s can't be started: there is no directory for brokers", s.Broker)}
	}
	server, err := served(s)
	if err != nil {
		return nil, nil, err
	}
	in, err := p.host.Start(ctx, provision.Options{
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

// drop ends a shared broker that can't be trusted any more.
func (p *pool) drop(s study.Spec) {
	if in, ok := p.open[instanceKey(s)]; ok {
		delete(p.open, instanceKey(s))
		stop(in)
	}
}

// release ends the brokers that none of the runs to come shares.
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

func (p *pool) close() { p.release() }

func stop(in *provision.Instance) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_ = in.Stop(ctx) // it ends by force what doesn't end by itself
}
