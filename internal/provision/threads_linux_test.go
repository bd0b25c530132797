package provision

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/testkit"
)

// startThread starts a thread with a name that is busy for a time and lives until over is closed.
func startThread(name string, busy time.Duration, over chan struct{}) {
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		text := append([]byte(name), 0)
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&text[0])), 0, 0, 0)
		for end := time.Now().Add(busy); time.Now().Before(end); {
		}
		<-over
	}()
}

func TestTheHottestThreadIsNamedAndCompilersAreLeftOut(t *testing.T) {
	for name, want := range map[string]string{"broker-loop": "broker-loop", "C2 CompilerThre": "background"} {
		over := make(chan struct{})
		before := ThreadsOf([]int{os.Getpid()})
		startThread("background", 100*time.Millisecond, over)
		startThread(name, 400*time.Millisecond, over)
		time.Sleep(500 * time.Millisecond)
		got, used := ThreadsOf([]int{os.Getpid()}).Hottest(before)
		close(over)
		if got != want || used.Ran+used.Waited < 50*time.Millisecond {
			t.Errorf("beside a busy %q the hottest thread is %q, which ran for %v", name, got, used.Ran)
		}
	}
	if name, used := (Threads{}).Hottest(nil); name != "" || used != (Thread{}) {
		t.Errorf("of no threads %q is the hottest, %v", name, used)
	}
}

// Packages that were unpacked without root are started by a loader, whose name the kernel has for them.
func TestAThreadOfAProgramThatALoaderStartedHasTheProgramsName(t *testing.T) {
	loaders, _ := filepath.Glob("/lib*/ld-linux*.so.*")
	if len(loaders) == 0 {
		testkit.Lacks(t, "this system has no ld-linux")
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(loaders[0], "--argv0", "broker", sleep, "60")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	name := ""
	for end := time.Now().Add(testkit.Within(5 * time.Second)); name != "broker" && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		name, _ = ThreadsOf([]int{c.Process.Pid}).Hottest(nil)
	}
	if name != "broker" {
		t.Errorf("its thread is %q", name)
	}
}

func TestAThreadWithTheNumberOfAnotherCountsFromItsStart(t *testing.T) {
	before := Threads{1 << 30: {Ran: 5 * time.Second, pid: 7}}
	for _, now := range []Thread{{Ran: 2 * time.Second, pid: 7}, {Ran: 6 * time.Second, pid: 8}} {
		if _, used := (Threads{1 << 30: now}).Hottest(before); used.Ran != now.Ran {
			t.Errorf("%v of %v", used.Ran, now.Ran)
		}
	}
}

func TestTheBusiestDiskIsTheOneThatWorkedLongest(t *testing.T) {
	before := Waits{Disks: map[string]time.Duration{"vda": 10 * time.Second, "vdb": 0}}
	after := Waits{Disks: map[string]time.Duration{"vda": 11 * time.Second, "vdb": 3 * time.Second, "new": 90 * time.Second}}
	if disk, worked := after.Busiest(before); disk != "vdb" || worked != 3*time.Second {
		t.Errorf("%s, %v", disk, worked)
	}
	if disk, worked := after.Busiest(after); disk != "" || worked != 0 {
		t.Errorf("of disks that did nothing %s is the busiest, %v", disk, worked)
	}
	if w := ReadWaits(); len(w.Disks) == 0 || w.CPU == 0 {
		t.Logf("this kernel tells little: %+v", w)
	}
}

func TestAProcessMayRunOnTheCoresOfItsAffinity(t *testing.T) {
	var all, one unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !all.IsSet(first) {
		first++
	}
	one.Set(first)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
	pinned := AllowedCores([]int{unix.Gettid()})
	if err := unix.SchedSetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	if free := AllowedCores([]int{unix.Gettid()}); pinned != 1 || free != all.Count() || AllowedCores([]int{1 << 30}) != 0 {
		t.Errorf("pinned to one core it may run on %d, free on %d of %d", pinned, free, all.Count())
	}
}

// What a trial's three readings cost: /proc of 100 threads, as a JVM has, and of the machine.
func BenchmarkReadingThreadsAndWaits(b *testing.B) {
	over := make(chan struct{})
	defer close(over)
	for range 100 {
		go func() {
			runtime.LockOSThread()
			<-over
		}()
	}
	time.Sleep(50 * time.Millisecond)
	pids := []int{os.Getpid()}
	earlier := ThreadsOf(pids)
	b.ReportMetric(float64(len(earlier)), "threads")
	for b.Loop() {
		ThreadsOf(pids).Hottest(earlier)
		ReadWaits()
	}
}
