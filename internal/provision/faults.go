package provision

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Pause freezes every process of the node (SIGSTOP) and returns when all have stopped. The kernel still accepts connections and
// data for them, as for a hanging broker.
func (in *Instance) Pause(_ context.Context, node int) error {
	return in.inTurn(node, func(_ *member, p *process) error {
		if !freeze(p.Supervisor.PID) {
			return fmt.Errorf("node %d of %s could not be paused", node, in.ID())
		}
		return nil
	})
}

// Resume ends a Pause; on a node that isn't paused it does nothing.
func (in *Instance) Resume(_ context.Context, node int) error {
	return in.inTurn(node, func(_ *member, p *process) error {
		thaw(p.Supervisor.PID)
		return nil
	})
}

// Kill ends every process of the node with SIGKILL and returns when all are gone. Its data stay; it is not a Death.
func (in *Instance) Kill(_ context.Context, node int) error {
	return in.inTurn(node, func(m *member, _ *process) error {
		m.expect(true).kill()
		return nil
	})
}

// inTurn calls do for a running node while no other call starts, kills or restarts it.
func (in *Instance) inTurn(node int, do func(*member, *process) error) error {
	m, p, err := in.running(node)
	if err != nil {
		return err
	}
	m.turn.Lock()
	defer m.turn.Unlock()
	return do(m, p)
}

// Restart starts a node again on its own data and ports; it first stops a running node gracefully. It blocks until the node is ready.
func (in *Instance) Restart(ctx context.Context, node int) error {
	m, err := in.member(node)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := in.save(); err != nil { // names us as owner, so that no other tool removes a stopped node
		return err
	}
	// Held all the time: dismissing the supervisor could otherwise end a broker that another call has just started.
	m.turn.Lock()
	defer m.turn.Unlock()
	m.end(ctx)
	in.mu.Lock()
	stopped, detached := in.stopped, in.detached
	in.mu.Unlock()
	if stopped {
		return fmt.Errorf("%s is stopped", in.ID())
	}
	m.current().dismiss()
	limited, cancel := context.WithTimeout(ctx, in.deadline)
	defer cancel()
	if err := m.start(limited); err != nil {
		return in.explain(ctx, err, began)
	}
	if detached {
		m.current().detach()
	}
	if p := m.expect(false); p.dead() {
		return m.death(p)
	}
	return nil
}

// NodeOf returns the target nodes of a fault: "all", a number, or "leader".
func (in *Instance) NodeOf(ctx context.Context, target string) ([]int, error) {
	switch target {
	case "all":
		all := make([]int, len(in.members))
		for i := range all {
			all[i] = i + 1
		}
		return all, nil
	case "leader":
		if len(in.members) == 1 {
			return []int{1}, nil
		}
		if in.cluster.Recipe.Leader == nil {
			return nil, &ErrRefused{Broker: in.Broker(), Reason: "which node leads is not known for this broker; name a node by number"}
		}
		leader, err := in.cluster.Recipe.Leader(ctx, in.cluster)
		if err != nil {
			return nil, fmt.Errorf("find the leader of %s: %w", in.ID(), err)
		}
		return []int{leader}, nil
	}
	n, err := strconv.Atoi(target)
	if err != nil {
		return nil, fmt.Errorf("a fault's node is %q; allowed: all, leader, or a number", target)
	}
	if _, err := in.member(n); err != nil {
		return nil, err
	}
	return []int{n}, nil
}

// InSync waits until at least this many nodes have all replicated data, or ctx ends, and returns the number of such nodes.
func (in *Instance) InSync(ctx context.Context, copies int) (int, error) {
	ask := in.cluster.Recipe.InSync
	if ask == nil {
		return 0, &ErrRefused{Broker: in.Broker(), Reason: "how many copies are in step is not known for this broker"}
	}
	have := 0
	err := probe(ctx, func(ctx context.Context) (err error) {
		if have, err = ask(ctx, in.cluster); err == nil && have < copies {
			err = fmt.Errorf("%d of %d copies are in step", have, copies)
		}
		return err
	})
	return have, err
}

// Processes lists the process IDs of a running node without its supervisor. node counts from 1.
func (in *Instance) Processes(node int) ([]int, error) {
	_, p, err := in.running(node)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, d := range descendants(p.Supervisor.PID) {
		if d.State != "Z" && d.State != "X" {
			list = append(list, d.PID)
		}
	}
	return list, nil
}

func (in *Instance) running(node int) (*member, *process, error) {
	m, err := in.member(node)
	if err != nil {
		return nil, nil, err
	}
	p := m.current()
	if p == nil || p.dead() {
		return nil, nil, fmt.Errorf("node %d of %s does not run", node, in.ID())
	}
	return m, p, nil
}
