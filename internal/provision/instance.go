package provision

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Instance is one running broker: a single server or a cluster. Safe for use by several goroutines; the starter owns
// it and must Stop it.
type Instance struct {
	host    *Host
	cluster *Cluster
	members []*member
	meter   *Meter
	deaths  chan Death
	began   time.Time
	held    *os.File // while it is open the directory is not removed; supervisors have it open, too
	user    *os.File // while it is open no other instance gets the user; supervisors have it open, too; nil: the broker runs as our own user
	// deadline bounds a start and every restart.
	deadline time.Duration

	mu       sync.Mutex
	stopped  bool
	detached bool
}

// Death is the unexpected end of a node.
type Death struct {
	Node   int
	At     time.Time
	Reason string   // "exited with code 1"
	Log    []string // the last lines
}

func (d Death) String() string {
	return fmt.Sprintf("node %d %s%s", d.Node, d.Reason, logged(d.Log))
}

func newInstance(h *Host, c *Cluster) *Instance {
	in := &Instance{host: h, cluster: c, deaths: make(chan Death, 64), began: time.Now(), deadline: usualDeadline}
	in.meter = &Meter{in: in}
	return in
}

// ID returns a name that is unique on this machine.
func (in *Instance) ID() string { return in.cluster.ID }

// Broker returns the recipe's name.
func (in *Instance) Broker() string { return in.cluster.Recipe.Broker }

// Version returns the version that runs, never empty.
func (in *Instance) Version() string { return in.cluster.Version }

// Nodes counts the cluster's nodes, dead ones included.
func (in *Instance) Nodes() int { return len(in.members) }

// Addresses returns host:port of every node's client port.
func (in *Instance) Addresses() []string {
	var list []string
	for _, m := range in.members {
		list = append(list, m.node.Address())
	}
	return list
}

// FarAddresses returns the addresses for clients if Options.Far asked for them, one for each node.
func (in *Instance) FarAddresses() []string {
	var list []string
	for _, m := range in.members {
		list = append(list, m.node.Far)
	}
	return list
}

// Settings returns a copy of the server settings of the start, never nil.
func (in *Instance) Settings() map[string]any {
	all := map[string]any{}
	maps.Copy(all, in.cluster.Settings)
	return all
}

// Endpoints lists the recipe's further addresses by role; those of nodes after the first have "-2", "-3" after
// the role.
func (in *Instance) Endpoints() map[string]string {
	all := map[string]string{}
	if in.cluster.Recipe.Endpoints == nil {
		return all
	}
	for _, m := range in.members {
		for role, where := range in.cluster.Recipe.Endpoints(m.node) {
			if m.node.ID > 1 {
				role = fmt.Sprintf("%s-%d", role, m.node.ID)
			}
			all[role] = where
		}
	}
	return all
}

// ClientTLS returns nil for a plain instance; otherwise a configuration that trusts only this instance and has a client certificate.
func (in *Instance) ClientTLS() *tls.Config {
	if in.cluster.TLS == nil {
		return nil
	}
	c, err := in.cluster.TLS.ClientConfig()
	if err != nil { // the files are ours: nothing may connect without them
		return &tls.Config{MinVersion: tls.VersionTLS13, ServerName: "invalid." + in.ID()}
	}
	return c
}

// TLSFiles returns nil for a plain instance.
func (in *Instance) TLSFiles() *TLSFiles { return in.cluster.TLS }

// Login returns nil if the broker needs no login.
func (in *Instance) Login() *Login { return in.cluster.Login }

// Meter returns the meter of the instance's processes.
func (in *Instance) Meter() *Meter { return in.meter }

// Deaths carries unexpected ends after Start has returned. It is never closed.
func (in *Instance) Deaths() <-chan Death { return in.deaths }

// Wait blocks until every node has ended by itself (Recipe.Ends), or ctx ends. A node that ended with an exit code other than 0
// is an *ErrDied.
func (in *Instance) Wait(ctx context.Context) error {
	for _, m := range in.members {
		p := m.current()
		if err := p.wait(ctx); err != nil {
			return err
		}
		if p.fate.Code != 0 {
			return m.death(p)
		}
	}
	return nil
}

// LogPath returns the file with the node's output; node counts from 1.
func (in *Instance) LogPath(node int) string {
	m, err := in.member(node)
	if err != nil {
		return ""
	}
	return m.node.LogPath()
}

// LogTail returns the last n lines of the node's output.
func (in *Instance) LogTail(node, n int) []string {
	m, err := in.member(node)
	if err != nil {
		return nil
	}
	return m.tail(n)
}

// Stop ends every node gracefully, then by force, removes the instance's directory unless it is to be kept, and returns when all
// processes have ended. A second call does nothing.
func (in *Instance) Stop(ctx context.Context) error {
	in.mu.Lock()
	again := in.stopped
	in.stopped = true
	in.mu.Unlock()
	if again {
		return nil
	}
	var all sync.WaitGroup
	for _, m := range in.members {
		all.Go(func() { m.stop(ctx) })
	}
	all.Wait()
	in.keepProfiles()
	return in.clear()
}

// abandon stops an instance that never came up, without grace.
func (in *Instance) abandon() {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if err := in.Stop(done); err != nil {
		in.host.log("%v", err)
	}
}

// clear releases everything once every process has ended.
func (in *Instance) clear() error {
	for _, m := range in.members {
		if p := m.current(); p != nil {
			p.dismiss()
		}
		if m.ports != nil {
			m.ports.release()
		}
	}
	defer in.release()
	if in.cluster.keep {
		letGo(in.cluster.dir)
		return shut(in.cluster.dir)
	}
	if err := remove(in.cluster.dir); err != nil {
		return fmt.Errorf("remove the instance's directory: %w", err)
	}
	return nil
}

// locks returns the locks that every supervisor holds together with the tool.
func (in *Instance) locks() []*os.File {
	return slices.DeleteFunc([]*os.File{in.held, in.user}, func(f *os.File) bool { return f == nil })
}

func (in *Instance) release() {
	for _, lock := range in.locks() {
		lock.Close()
	}
}

func (in *Instance) member(node int) (*member, error) {
	if node < 1 || node > len(in.members) {
		return nil, fmt.Errorf("no node %d: %s has nodes 1 to %d", node, in.ID(), len(in.members))
	}
	return in.members[node-1], nil
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
