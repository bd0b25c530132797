//go:build !portable

package provision

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/testkit"
)

func mounted(t *testing.T, id string) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mounts")
	ok(t, err)
	return strings.Contains(string(text), id)
}

func inMemory(t *testing.T) {
	t.Helper()
	if err := CanHoldInMemory(1); err != nil {
		testkit.Without(t, "%v", err)
	}
}

func TestDataInMemoryAreBoundedAndGoneAfterTheStop(t *testing.T) {
	inMemory(t)
	if err := CanHoldInMemory(1 << 50); err == nil || !strings.Contains(err.Error(), "are more than half of this machine's memory") {
		t.Errorf("more than there is: %v", err)
	}
	h := newHost(t)
	in := start(t, h, Options{DataInMemory: 32 << 20})
	var fs unix.Statfs_t
	ok(t, unix.Statfs(in.cluster.Nodes[0].Data, &fs))
	if fs.Type != unix.TMPFS_MAGIC || int64(fs.Blocks)*fs.Bsize != 32<<20 {
		t.Errorf("data are on a file system of type %x with %d bytes", fs.Type, int64(fs.Blocks)*fs.Bsize)
	}
	ok(t, in.Stop(t.Context()))
	if mounted(t, in.ID()) || !isEmpty(t, h.runs()) {
		t.Error("something of it is left")
	}
}

func TestNoDataAreLeftInMemoryWhenToolAndSupervisorsAreKilled(t *testing.T) {
	inMemory(t)
	h := newHost(t)
	tool, id := runTool(t, h, "in memory")
	s, err := readState(filepath.Join(h.runs(), id))
	if err != nil || !mounted(t, id) {
		t.Fatalf("nothing is held in memory, %v", err)
	}
	_ = tool.Process.Signal(syscall.SIGKILL)
	for _, n := range s.Nodes {
		_ = syscall.Kill(n.Supervisor.PID, syscall.SIGKILL)
	}
	eventually(t, "its data gone", func() bool {
		h.sweepRuns() // as the next command does
		return !mounted(t, id) && isEmpty(t, h.runs())
	})
}
