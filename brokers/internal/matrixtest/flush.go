package matrixtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

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
	trace, why := traced(t, in)
	if trace == nil {
		for _, c := range owing {
			c.excuse = "flushes can't be counted here: " + why
		}
		return
	}
	defer trace.end()
	for _, c := range owing { // one after the other: nobody else's flushes may be counted
		before := trace.count()
		for range single {
			c.sendAll(1)
		}
		copies := 1 // whose flush an acknowledgement waits for
		if c.guarantee.Acks == driver.AcksQuorum {
			copies = c.guarantee.Replicas/2 + 1
		}
		if n := trace.count() - before; n < single*copies {
			c.failf("the broker flushed %d times for %d acknowledgements, %d copies each", n, single, copies)
		} else {
			c.prove(driver.ProofFlush)
		}
	}
}

// trace is strace attached to every process of a broker. It writes a line for each call as that returns.
type trace struct {
	t           *testing.T
	command     *exec.Cmd
	calls, said string // files
	ended       chan struct{}
}

// traced attaches to all processes, or says why it can't.
func traced(t *testing.T, in *provision.Instance) (*trace, string) {
	t.Helper()
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Meet(t.Context(), provision.Need{Command: "strace", Apt: []string{"strace"}}); err != nil {
		return nil, err.Error()
	}
	dir := t.TempDir()
	tr := &trace{t: t, calls: filepath.Join(dir, "calls"), said: filepath.Join(dir, "said"), ended: make(chan struct{})}
	args := []string{"-f", "-e", "trace=fsync,fdatasync,msync", "-o", tr.calls}
	attached := 0
	for node := range in.Nodes() {
		pids, err := in.Processes(node + 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			attached++
			args = append(args, "-p", strconv.Itoa(pid))
		}
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
	// It speaks of every process once it has attached to all threads of it.
	if !eventually(func() bool { return tr.spoke("attached") >= attached || tr.over() }) || tr.over() {
		tr.end()
		text, _ := os.ReadFile(tr.said)
		return nil, fmt.Sprintf("strace can't attach to %d processes: %s", attached, text)
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

// A call that others interrupt in the listing has two lines, of which the first has the bracket.
var flush = regexp.MustCompile(`(?m)\b(fsync|fdatasync|msync)\(`)

// count is how many flushes have begun so far.
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
