package matrixtest

import (
	"slices"
	"testing"

	"github.com/brokermark/brokermark/brokers/internal/livetest"
	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
)

// flushes proves that fsync means a flush before each acknowledgement: messages are sent one at a time, the next one
// after the acknowledgement of the one before, while the broker's system calls are counted.
func (m Matrix) flushes(t *testing.T, in *provision.Instance, cells []*cell) {
	t.Helper()
	var owing []*cell
	for _, c := range cells {
		if c.sound() && c.owes(driver.ProofFlush) {
			owing = append(owing, c)
		}
	}
	if len(owing) == 0 {
		return
	}
	watch, err := provision.WatchFlushes()
	if err != nil {
		for _, c := range owing {
			c.excuse = "flushes can't be counted here: " + err.Error()
		}
		return
	}
	defer watch.Close()
	for _, c := range owing { // one after the other: another cell's flushes must not be counted
		before, none := counts(t, in, watch)
		for range single {
			c.sendAll(1)
		}
		after, gaps := counts(t, in, watch)
		for node := range after {
			after[node] -= before[node]
		}
		c.flushed = after
		switch others := needed(c.guarantee) - 1; {
		case gaps != none:
			c.excuse = "this machine flushed more often than can be counted"
		case !enough(after, others):
			c.failf("for %d acknowledgements the nodes flushed %v times; at least %d times must one, and %d times the others together", single, after, single, single*others)
		default:
			c.prove(driver.ProofFlush)
		}
	}
}

// needed returns how many copies an acknowledgement waits for.
func needed(g driver.Guarantee) int {
	if g.Acks == driver.AcksQuorum {
		return g.Replicas/2 + 1
	}
	return 1
}

// enough reports whether one node flushed for each message, and others besides it: not always the same ones, since any
// majority will do.
func enough(byNode []int, others int) bool {
	most, all := slices.Max(byNode), 0
	for _, n := range byNode {
		all += n
	}
	return most >= single && all-most >= single*others
}

// counts returns how often each node has flushed so far, and how often flushes of this machine were left out.
func counts(t *testing.T, in *provision.Instance, watch *provision.Flushes) (byNode []int, gaps int64) {
	t.Helper()
	for node := range in.Nodes() {
		pids, err := in.Processes(node + 1)
		livetest.Must(t, err)
		var n int64
		n, gaps = watch.Of(pids)
		byNode = append(byNode, int(n))
	}
	return byNode, gaps
}
