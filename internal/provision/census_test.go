package provision

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

// fakeProc is a /proc of a test's own. Times are in ticks of 10 ms.
type fakeProc struct {
	t   *testing.T
	dir string
}

type fakeProcess struct {
	pid, parent, start        int
	name                      string
	user, system, cuser, csys int
	kernel                    bool
	cgroup                    string
	sockets                   []int // inodes
	pages, read, written      int
}

func newFakeProc(t *testing.T) fakeProc { return fakeProc{t, t.TempDir()} }

func (f fakeProc) write(name, format string, args ...any) {
	f.t.Helper()
	path := filepath.Join(f.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// machine sets /proc/stat, in ticks: user, nice, system, idle, iowait, irq, softirq, steal.
func (f fakeProc) machine(user, system, softirq, steal int) {
	f.write("stat", "cpu  %d 0 %d 1000 0 0 %d %d 0 0\n", user, system, softirq, steal)
}

func (f fakeProc) add(list ...fakeProcess) {
	for _, p := range list {
		flags := 4194304
		if p.kernel {
			flags |= 0x00200000
		}
		dir := strconv.Itoa(p.pid)
		f.write(dir+"/stat", "%d (%s) S %d 1 1 0 -1 %d 0 0 0 0 %d %d %d %d 20 0 1 0 %d 1000 %d 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
			p.pid, p.name, p.parent, flags, p.user, p.system, p.cuser, p.csys, p.start, p.pages)
		f.write(dir+"/io", "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: %d\nwrite_bytes: %d\ncancelled_write_bytes: 0\n", p.read, p.written)
		group := p.cgroup
		if group == "" {
			group = "/"
		}
		f.write(dir+"/cgroup", "0::%s\n", group)
		for i, inode := range p.sockets {
			fd := filepath.Join(f.dir, dir, "fd")
			if err := os.MkdirAll(fd, 0o755); err != nil {
				f.t.Fatal(err)
			}
			if err := os.Symlink(fmt.Sprintf("socket:[%d]", inode), filepath.Join(fd, strconv.Itoa(i+3))); err != nil && !os.IsExist(err) {
				f.t.Fatal(err)
			}
		}
	}
}

func (f fakeProc) remove(pids ...int) {
	for _, pid := range pids {
		if err := os.RemoveAll(filepath.Join(f.dir, strconv.Itoa(pid))); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f fakeProc) census(at uint64) Census {
	c := census(f.dir)
	c.at = at
	return c
}

// A generator (100), its broker below a supervisor (110), kernel threads, a shell with a build, and a daemon.
func crowd() []fakeProcess {
	return []fakeProcess{
		{pid: 1, name: "init", start: 0},
		{pid: 2, name: "kthreadd", kernel: true},
		{pid: 30, parent: 2, name: "kworker/0:1", kernel: true, system: 50},
		{pid: 31, parent: 2, name: "jbd2/sda1-8", kernel: true, system: 20},
		{pid: 90, parent: 1, name: "bash", start: 50, user: 10},
		{pid: 100, parent: 90, name: "brokermark", start: 60, user: 100, system: 10},
		{pid: 110, parent: 100, name: "supervisor", start: 70, cuser: 5},
		{pid: 111, parent: 110, name: "broker", start: 71, user: 200, system: 100},
		{pid: 112, parent: 111, name: "helper", start: 72, user: 30},
		{pid: 200, parent: 90, name: "make", start: 80, user: 5, cuser: 4000},
		{pid: 201, parent: 200, name: "cc", start: 90, user: 700},
		{pid: 300, parent: 1, name: "daemon", start: 10, user: 100_000},
	}
}

func TestACensusTellsOthersFromTheLoad(t *testing.T) {
	const tick = 10 * time.Millisecond
	for name, c := range map[string]struct {
		change  func(f fakeProc)
		used    time.Duration
		biggest string
	}{
		"nothing happens": {func(fakeProc) {}, 0, ""},
		"the kernel works for the load": {func(f fakeProc) {
			f.machine(1000, 1000+80, 300, 0)
			f.add(fakeProcess{pid: 30, parent: 2, name: "kworker/0:1", kernel: true, system: 90})
			f.add(fakeProcess{pid: 31, parent: 2, name: "jbd2/sda1-8", kernel: true, system: 60})
			f.add(fakeProcess{pid: 32, parent: 2, name: "kworker/1:7", kernel: true, system: 40, start: 600})
		}, 0, ""},
		"generator, broker and its helpers work": {func(f fakeProc) {
			f.machine(1400, 1000, 0, 0)
			f.add(fakeProcess{pid: 100, parent: 90, name: "brokermark", start: 60, user: 200, system: 10})
			f.add(fakeProcess{pid: 111, parent: 110, name: "broker", start: 71, user: 300, system: 100, cuser: 50})
			f.add(fakeProcess{pid: 112, parent: 111, name: "helper", start: 72, user: 60})
			f.add(fakeProcess{pid: 113, parent: 112, name: "helper", start: 700, user: 40})
		}, 0, ""},
		"a helper of the broker ends": {func(f fakeProc) {
			f.machine(1010, 1000, 0, 0)
			f.remove(112)
			f.add(fakeProcess{pid: 111, parent: 110, name: "broker", start: 71, user: 200, system: 100, cuser: 40})
		}, 0, ""},
		"the broker dies": {func(f fakeProc) {
			f.machine(1010, 1000, 0, 0)
			f.remove(111, 112)
			f.add(fakeProcess{pid: 110, parent: 100, name: "supervisor", start: 70, cuser: 345})
		}, 0, ""},
		"the supervisor was reaped": {func(f fakeProc) {
			f.machine(1010, 1000, 0, 0)
			f.remove(110, 111, 112)
			f.add(fakeProcess{pid: 100, parent: 90, name: "brokermark", start: 60, user: 100, system: 10, cuser: 345})
		}, 0, ""},
		"a daemon works": {func(f fakeProc) {
			f.machine(1060, 1000, 0, 0)
			f.add(fakeProcess{pid: 300, parent: 1, name: "daemon", start: 10, user: 100_060})
		}, 60 * tick, "daemon"},
		"a build begins and ends compilers": {func(f fakeProc) {
			f.machine(1250, 1000, 0, 0)
			f.remove(201)
			// cc had used 700, ends with 800; others come and go with 100 together; one has begun and has 50.
			f.add(fakeProcess{pid: 200, parent: 90, name: "make", start: 80, user: 5, cuser: 4900})
			f.add(fakeProcess{pid: 202, parent: 200, name: "cc", start: 620, user: 50})
		}, 250 * tick, "make"},
		"the build ends": {func(f fakeProc) {
			f.machine(1030, 1000, 0, 0)
			f.remove(200, 201)
			f.add(fakeProcess{pid: 90, parent: 1, name: "bash", start: 50, user: 10, cuser: 4735})
		}, 30 * tick, "bash"},
		"a number is used again": {func(f fakeProc) {
			f.machine(1040, 1000, 0, 0)
			f.add(fakeProcess{pid: 300, parent: 1, name: "new", start: 640, user: 40})
			f.add(fakeProcess{pid: 1, name: "init", start: 0, cuser: 100_000})
		}, 40 * tick, "new"},
		"hours of a process whose beginning nobody saw": {func(f fakeProc) {
			f.machine(1040, 1000, 0, 0)
			f.add(fakeProcess{pid: 400, parent: 1, name: "shy", start: 20, user: 90_000, cuser: 90_000})
			f.add(fakeProcess{pid: 300, parent: 1, name: "daemon", start: 10, user: 100_010})
		}, 10 * tick, "daemon"},
		"hours reaped by one that was no parent": {func(f fakeProc) {
			f.machine(1040, 1000, 0, 0)
			f.add(fakeProcess{pid: 300, parent: 1, name: "daemon", start: 10, user: 100_010, cuser: 50_000})
		}, 40 * tick, "daemon"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeProc(t)
			f.machine(1000, 1000, 0, 0)
			f.add(crowd()...)
			before := f.census(500)
			c.change(f)
			n := f.census(700).Since(before, 100, []int{110})
			if n.Used != c.used || n.Biggest != c.biggest {
				t.Errorf("others used %v, most of it %q (%v); want %v, %q", n.Used, n.Biggest, n.BiggestUsed, c.used, c.biggest)
			}
			if n.BiggestUsed > n.Used {
				t.Errorf("one used %v of %v", n.BiggestUsed, n.Used)
			}
		})
	}
}

func TestACensusSeesStolenTimeAndWhatNobodyAccountsFor(t *testing.T) {
	f := newFakeProc(t)
	f.machine(1000, 1000, 0, 40)
	f.add(crowd()...)
	before := f.census(500)
	f.machine(1090, 1010, 500, 65)
	f.add(fakeProcess{pid: 300, parent: 1, name: "daemon", start: 10, user: 100_030})
	n := f.census(700).Since(before, 100, []int{110})
	if n.Stolen != 250*time.Millisecond || n.Used != 300*time.Millisecond || n.Unseen != 700*time.Millisecond {
		t.Errorf("%+v; want 250ms stolen, 300ms used and 700ms unseen", n)
	}
}

func TestABrokerThatIsNotOursIsLeftOutOfTheOthers(t *testing.T) {
	f := newFakeProc(t)
	f.machine(1000, 1000, 0, 0)
	f.add(crowd()...)
	before := f.census(500)
	f.machine(1200, 1000, 0, 0)
	f.add(fakeProcess{pid: 200, parent: 90, name: "make", start: 80, user: 25, cuser: 4000})
	f.add(fakeProcess{pid: 201, parent: 200, name: "cc", start: 90, user: 800})
	f.add(fakeProcess{pid: 203, parent: 201, name: "as", start: 690, user: 7})
	if n := f.census(700).Since(before, 100, []int{110, 201}); n.Used != 200*time.Millisecond || n.Biggest != "make" {
		t.Errorf("%+v; want make's 200ms", n)
	}
}

func TestThreadsThatWaitForACoreAreAddedUp(t *testing.T) {
	f := newFakeProc(t)
	f.machine(0, 0, 0, 0)
	if err := os.Symlink("100", filepath.Join(f.dir, "self")); err != nil {
		t.Fatal(err)
	}
	thread := func(id, waited int) { f.write(fmt.Sprintf("100/task/%d/schedstat", id), "5000 %d 12\n", waited) }
	q := Queue{mount: f.dir}
	for i, step := range []struct {
		change func()
		want   time.Duration
	}{
		{func() { thread(100, 1000); thread(101, 500) }, 1500},
		{func() { thread(100, 1100); thread(102, 50) }, 1650},
		{func() { _ = os.RemoveAll(filepath.Join(f.dir, "100/task/101")) }, 1650}, // what it waited stays
		{func() { thread(102, 60) }, 1660},
		{func() { thread(102, 5) }, 1665}, // another thread with the same number
		{func() { _ = os.RemoveAll(filepath.Join(f.dir, "100")) }, 1665},
		{func() { thread(100, 1200); thread(102, 5) }, 1765},
	} {
		step.change()
		if got := q.Delay(); got != step.want {
			t.Errorf("step %d: %d ns, want %d", i+1, got, step.want)
		}
	}
}

func TestThisProcessWaitsForACoreWhenMoreThreadsRunThanThereAreCores(t *testing.T) {
	if _, err := os.Stat("/proc/self/task"); err != nil {
		testkit.Lacks(t, "no /proc here")
	}
	if text, err := os.ReadFile("/proc/self/schedstat"); err != nil || string(text) == "0 0 0\n" {
		testkit.Lacks(t, "this kernel doesn't account for the run queue")
	}
	threads := 4 * runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	var q Queue
	before := q.Delay()
	var burning sync.WaitGroup
	end := time.Now().Add(300 * time.Millisecond)
	for range threads {
		burning.Go(func() {
			for time.Now().Before(end) {
			}
		})
	}
	burning.Wait()
	// Three of four threads wait at any time.
	if waited := q.Delay() - before; waited < 100*time.Millisecond {
		t.Errorf("%d threads on %d cores waited %v in 300 ms", threads, runtime.NumCPU(), waited)
	}
}

func TestStolenTimeIsToldOfEachCore(t *testing.T) {
	f := newFakeProc(t)
	f.write("stat", "cpu  0 0 0 0 0 0 0 32 0 0\ncpu0 0 0 0 0 0 0 0 12 0 0\ncpu2 0 0 0 0 0 0 0 20 0 0\n") // core 1 is offline
	if got := stolenFromCores(f.dir); len(got) != 2 || got[0] != 120*time.Millisecond || got[2] != 200*time.Millisecond {
		t.Errorf("%v", got)
	}
	if got := stolenFromCores(t.TempDir()); len(got) != 0 {
		t.Errorf("%v without the kernel's word", got)
	}
}
