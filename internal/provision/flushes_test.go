//go:build linux && !portable

package provision_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

func TestFlushesAreCountedExactlyByProcess(t *testing.T) {
	f, err := provision.WatchFlushes()
	if os.Geteuid() != 0 && err != nil {
		testkit.Lacks(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	us := []int{os.Getpid()}
	before, none := f.Of(us)
	const each, threads = 500, 3
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			file, err := os.Create(filepath.Join(t.TempDir(), strconv.Itoa(i)))
			if err != nil {
				t.Error(err)
				return
			}
			defer file.Close()
			for range each {
				_ = file.Sync()
				_ = unix.Fdatasync(int(file.Fd()))
			}
		})
	}
	all.Wait()
	if after, gaps := f.Of(us); gaps != none || after-before != 2*each*threads {
		t.Errorf("%d flushes counted, with %d gaps, of %d", after-before, gaps-none, 2*each*threads)
	}
	other := exec.CommandContext(t.Context(), "sync", "-d", filepath.Join(t.TempDir())) // a process of its own, with one fdatasync
	if out, err := other.CombinedOutput(); err != nil {
		testkit.Lacks(t, "%v: %s", err, out)
	}
	if n, gaps := f.Of([]int{other.Process.Pid}); gaps != none || n != 1 {
		t.Errorf("%d flushes of another process counted, with %d gaps, it made 1", n, gaps-none)
	}
	if again, _ := f.Of(us); again-before != 2*each*threads {
		t.Error("another's flush is among ours")
	}
}

func TestFlushesThatTheKernelLeftOutAreNoCount(t *testing.T) {
	f, err := provision.WatchFlushes()
	if err != nil {
		testkit.Lacks(t, "%v", err)
	}
	defer f.Close()
	file, err := os.Create("/dev/shm/brokermark-flushes-" + strconv.Itoa(os.Getpid()))
	if err != nil {
		testkit.Lacks(t, "%v", err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	for range 200_000 { // more than the rings hold, and nobody reads them
		_ = unix.Fdatasync(int(file.Fd()))
	}
	if n, gaps := f.Of([]int{os.Getpid()}); gaps == 0 && n < 200_000 {
		t.Errorf("%d counted of 200000, and nothing says that some are missing", n)
	}
}
