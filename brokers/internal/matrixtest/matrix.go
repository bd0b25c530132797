// Package matrixtest proves, on running brokers, every guarantee that a driver says it keeps. It knows the words of a
// guarantee and what each of them owes (driver.Proof), and nothing of any particular broker.
package matrixtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Matrix is the broker whose guarantees are proved.
type Matrix struct {
	Broker string // by which driver and recipe are registered
	// Server are settings for every server of the test, such as a smaller heap.
	Server map[string]any
	// Apart gives each persistence a server of its own, for drivers that set it for the whole running server.
	Apart bool
}

const (
	patience  = livetest.Patience
	deadline  = 2 * time.Minute        // for what breaks a node and starts it again
	atOnce    = 16                     // cells that are busy at the same time
	ripening  = 2 * time.Second        // from the setup to the kill: brokers write down a new topic later than messages to it
	afterwork = 300 * time.Millisecond // for what would come once more
)

// Prove starts as few servers as the guarantees allow and carries out every proof that a kept guarantee owes, as a subtest
// of that guarantee. Refused guarantees need no proof.
func Prove(t *testing.T, m Matrix) {
	kind := livetest.Kind(t, m.Broker)
	if kind.Maps == nil {
		t.Fatalf("%s doesn't say how it keeps guarantees (driver.Kind.Maps)", m.Broker)
	}
	groups, err := grouped(kind, m.Apart)
	livetest.Must(t, err)
	if len(groups) == 0 {
		t.Fatalf("%s keeps no guarantee", m.Broker)
	}
	for i, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			if i > 0 {
				testkit.Long(t)
			}
			m.prove(t, kind, g)
		})
	}
}

// group holds the guarantees that one broker can be asked for.
type group struct {
	name   string
	nodes  int
	server map[string]any // what the guarantees need of it
	cells  []driver.Guarantee
}

func grouped(kind driver.Kind, apart bool) ([]group, error) {
	matrix := kind.Matrix()
	most := 1
	for _, c := range matrix {
		if c.Refusal == nil {
			most = max(most, c.Guarantee.Replicas)
		}
	}
	byName := map[string]*group{}
	for _, c := range matrix {
		if c.Refusal != nil {
			continue
		}
		g := group{name: "one node", nodes: 1, server: map[string]any{}}
		if c.Guarantee.Replicas > 1 {
			g.name, g.nodes = fmt.Sprintf("%d nodes", kind.Spread(most)), kind.Spread(most)
		}
		if apart {
			g.name += ", " + string(c.Guarantee.Persistence)
		}
		if kind.Server != nil {
			var err error
			if g.server, err = kind.Server(c.Guarantee, g.server); err != nil {
				return nil, err
			}
		}
		for _, name := range slices.Sorted(maps.Keys(g.server)) {
			g.name += fmt.Sprintf(", %s=%v", name, g.server[name])
		}
		if byName[g.name] == nil {
			byName[g.name] = &g
		}
		byName[g.name].cells = append(byName[g.name].cells, c.Guarantee)
	}
	var groups []group
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		groups = append(groups, *byName[name])
	}
	slices.SortStableFunc(groups, func(a, b group) int { return cmp.Compare(a.nodes, b.nodes) })
	return groups, nil
}

// prove takes all cells of a group through the same stages: a healthy exchange; messages one at a time while flushes are
// counted; messages that wait, and messages in flight, while a node is killed; what is left afterwards.
func (m Matrix) prove(t *testing.T, kind driver.Kind, g group) {
	in, target := livetest.Start(t, provision.Options{Broker: m.Broker, Nodes: g.nodes, Server: driver.Completed(m.Server, g.server)})
	var cells []*cell
	for i, guarantee := range g.cells {
		cells = append(cells, newCell(t, kind, guarantee, target, i))
	}
	defer each(cells, (*cell).close)
	each(cells, (*cell).open)
	opened := time.Now()
	each(cells, (*cell).exchange)
	m.flushes(t, in, cells)
	each(cells, (*cell).fill)
	if left := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return !c.survives() }); len(left) > 0 {
		time.Sleep(time.Until(opened.Add(ripening)))
		each(left, (*cell).hurry)
		breakIt(t, in, g.nodes, kind.Failover)
		each(left, (*cell).recover)
	}
	for _, c := range cells {
		t.Run(c.String(), c.report)
	}
}

// breakIt kills the one node and starts it again; of several it kills the leader, and starts it again only if no other node
// takes over.
func breakIt(t *testing.T, in *provision.Instance, nodes int, failover bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), deadline)
	defer cancel()
	target := "1"
	if nodes > 1 {
		target = "leader"
	}
	hit, err := in.NodeOf(ctx, target)
	livetest.Must(t, err)
	livetest.Must(t, in.Kill(ctx, hit[0]))
	if nodes == 1 || !failover {
		livetest.Must(t, in.Restart(ctx, hit[0]))
	}
}

// each calls do for all cells, some at once.
func each(cells []*cell, do func(*cell)) {
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for _, c := range cells {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(c)
		})
	}
	wg.Wait()
}

// String names the guarantee as the matrix does.
func (c *cell) String() string {
	g := c.guarantee
	return strings.Join([]string{string(g.Delivery), string(g.Persistence), fmt.Sprint("replicas ", g.Replicas), "acks " + string(g.Acks), string(g.Ordering)}, ", ")
}
