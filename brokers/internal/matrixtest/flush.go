package matrixtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
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
	traces, why := tracedAll(t, in)
	defer func() {
		for _, tr := range traces {
			tr.end()
		}
	}()
	if why != "" {
		for _, c := range owing {
			c.excuse = "flushes can't be counted here: " + why
		}
		return
	}
	for _, c := range owing { // one after the other: another cell's flushes must not be counted
		before := counts(traces)
		for range single {
			c.sendAll(1)
		}
		after := counts(traces)
		for node := range after {
			after[node] -= before[node]
		}
		if others := needed(c.guarantee) - 1; !enough(after, others) {
			c.failf("for %d acknowledgements the nodes flushed %v times; at least %d times must one, and %d times the others together", single, after, single, single*others)
		} else {
			c.prove(driver.ProofFlush)
		}
		c.flushed = after
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

func counts(traces []*trace) []int {
	var list []int
	for _, tr := range traces {
		list = append(list, tr.count())
	}
	return list
}

// tracedAll attaches to every node, or says why it can't.
func tracedAll(t *testing.T, in *provision.Instance) (traces []*trace, why string) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	livetest.Must(t, err)
	livetest.Must(t, host.Meet(t.Context(), provision.Need{Command: "strace", Apt: []string{"strace"}}))
	for node := range in.Nodes() {
		pids, err := in.Processes(node + 1)
		if err != nil {
			t.Fatal(err)
		}
		tr, why := traced(t, pids)
		if tr == nil {
			return traces, why
		}
		traces = append(traces, tr)
	}
	return traces, ""
}

// trace is strace attached to every process of a node. It writes a line for each call as that returns.
type trace struct {
	t           *testing.T
	command     *exec.Cmd
	calls, said string // files
	ended       chan struct{}
}

// traced attaches to processes, or says why it can't.
func traced(t *testing.T, pids []int) (*trace, string) {
	t.Helper()
	dir := t.TempDir()
	tr := &trace{t: t, calls: filepath.Join(dir, "calls"), said: filepath.Join(dir, "said"), ended: make(chan struct{})}
	args := []string{"-f", "-e", "trace=fsync,fdatasync,msync", "-o", tr.calls}
	for _, pid := range pids {
		args = append(args, "-p", strconv.Itoa(pid))
	}
	said, err := os.Create(tr.said)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	tr.command = exec.Command("strace", args...)
	tr.command.Stderr = said
	if err := tr.command.Start(); err != nil {
		return nil, err.Error()
	}
	go func() {
		defer close(tr.ended)
		_ = tr.command.Wait()
	}()
	// It says so for every process once it has attached to all of its threads.
	if !livetest.Within(patience, func() bool { return tr.spoke("attached") >= len(pids) || tr.over() }) || tr.over() {
		tr.end()
		text, _ := os.ReadFile(tr.said)
		return nil, fmt.Sprintf("strace can't attach to %d processes: %s", len(pids), text)
	}
	return tr, ""
}

func (tr *trace) over() bool {
	select {
	case <-tr.ended:
		return true
	default:
		return false
	}
}

func (tr *trace) spoke(word string) int {
	text, _ := os.ReadFile(tr.said)
	return bytes.Count(text, []byte(word))
}

// A call that the listing interrupts has two lines, of which only the first has the bracket.
var flush = regexp.MustCompile(`(?m)\b(fsync|fdatasync|msync)\(`)

// count returns how many flushes have begun so far.
func (tr *trace) count() int {
	text, err := os.ReadFile(tr.calls)
	if err != nil {
		tr.t.Error(err)
	}
	return len(flush.FindAll(text, -1))
}

// end detaches from the broker, which goes on.
func (tr *trace) end() {
	_ = tr.command.Process.Signal(syscall.SIGINT)
	<-tr.ended
}
