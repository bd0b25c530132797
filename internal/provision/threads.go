package provision

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// Thread is the use of a thread so far.
type Thread struct {
	Ran, Waited time.Duration // on a core; ready to run and without one
	pid         int           // of its process
}

// Threads are the threads of some processes, by thread ID, at one reading. They are empty if the kernel does not account for threads.
type Threads map[int]Thread

// ThreadsOf takes a reading of all threads of some processes. It takes about ten microseconds for each thread, and lets other goroutines
// run in between.
func ThreadsOf(pids []int) Threads { return threadsOf(procfs.DefaultMountPoint, pids) }

func threadsOf(mount string, pids []int) Threads {
	all := Threads{}
	fs, err := procfs.NewFS(mount)
	if err != nil {
		return all
	}
	for _, pid := range pids {
		threads, _ := fs.AllThreads(pid)
		for _, t := range threads {
			if s, err := t.Schedstat(); err == nil {
				all[t.PID] = Thread{Ran: time.Duration(s.RunningNanoseconds), Waited: time.Duration(s.WaitingNanoseconds), pid: pid}
			}
			runtime.Gosched()
		}
	}
	return all
}

// compiler begins the names of a JVM's compiler threads, as the kernel shortens them: no message waits for those.
const compiler = "CompilerThre"

// Hottest returns the name of the thread that ran longest since an earlier reading, and its use since then. The name is empty if
// the thread has ended; the zero Thread means none. Threads that ended before t was read are not known.
func (t Threads) Hottest(earlier Threads) (name string, used Thread) {
	type candidate struct {
		id int
		Thread
	}
	var all []candidate
	for id, now := range t {
		before := earlier[id]
		if before.pid != now.pid || before.Ran > now.Ran { // the number belonged to a thread that has ended
			before = Thread{}
		}
		all = append(all, candidate{id, Thread{Ran: now.Ran - before.Ran, Waited: max(0, now.Waited-before.Waited), pid: now.pid}})
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Compare(b.Ran, a.Ran) })
	for _, c := range all {
		if name := threadName(c.pid, c.id); !strings.Contains(name, compiler) {
			return name, c.Thread
		}
	}
	return "", Thread{}
}

// loader begins the name of the dynamic loader of programs whose packages were unpacked without root.
const loader = "ld-linux"

// threadName returns the name that a process has given one of its threads: its first 15 bytes.
func threadName(pid, id int) string {
	fs, err := procfs.NewFS(procfs.DefaultMountPoint)
	if err != nil {
		return ""
	}
	t, err := fs.Thread(pid, id)
	if err != nil {
		return ""
	}
	name, err := t.Comm()
	if err != nil {
		return ""
	}
	if strings.HasPrefix(name, loader) { // the kernel names a program that a loader has started, and its threads, after the loader
		words, _ := t.CmdLine()
		if i := slices.Index(words, "--argv0"); i >= 0 && i+1 < len(words) {
			return words[i+1]
		}
	}
	return name
}

// Waits holds how long threads of this machine have waited so far, and how long its disks have been busy. All values only grow.
// Values that the kernel does not report are 0.
type Waits struct {
	CPU, IO, Memory time.Duration            // time in which at least one thread waited for it (/proc/pressure)
	Disks           map[string]time.Duration // by name: time in which a disk was busy (/proc/diskstats)
}

// ReadWaits takes a reading. It takes less than a millisecond.
func ReadWaits() Waits {
	w := Waits{Disks: map[string]time.Duration{}}
	if fs, err := procfs.NewFS(procfs.DefaultMountPoint); err == nil {
		for resource, waited := range map[string]*time.Duration{"cpu": &w.CPU, "io": &w.IO, "memory": &w.Memory} {
			if p, err := fs.PSIStatsForResource(resource); err == nil && p.Some != nil {
				*waited = time.Duration(p.Some.Total) * time.Microsecond
			}
		}
	}
	if fs, err := blockdevice.NewDefaultFS(); err == nil {
		disks, _ := fs.ProcDiskstats()
		for _, d := range disks {
			w.Disks[d.DeviceName] = time.Duration(d.IOsTotalTicks) * time.Millisecond
		}
	}
	return w
}

// Busiest returns the disk that was busy for the longest time since an earlier reading, and that time.
func (w Waits) Busiest(earlier Waits) (disk string, worked time.Duration) {
	for name, now := range w.Disks {
		if before, known := earlier.Disks[name]; known && now-before > worked {
			disk, worked = name, now-before
		}
	}
	return disk, worked
}
