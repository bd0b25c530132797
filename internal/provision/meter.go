package provision

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Usage is the resource use of processes so far. CPU and disk traffic only grow; memory is the present value.
type Usage struct {
	User, System time.Duration
	RSSBytes     int64 // without mapped files of processes that run this executable (mappedOfUs)
	Disk
	Processes int
}

// Meter reads the usage of one instance: every process of every node, restarted and ended ones included, without
// the supervisors. Safe for use by several goroutines; one reading takes tens of microseconds per process, and about
// a millisecond more once a second, when new processes are looked for.
type Meter struct {
	in *Instance

	mu      sync.Mutex
	trees   map[int][]identity // below each supervisor, parents first
	scanned time.Time
	high    Usage // the largest sums so far
}

const (
	rescan = time.Second
	ticks  = time.Second / 100 // the kernel's USER_HZ
)

// Sample takes a reading.
//
// Nothing is counted twice and nothing is lost when a process ends, because the kernel adds its figures to those of
// the process that reaps it, in the end the supervisor. Parents are read before their children, so a process that ends
// between two reads is missed for one reading (hidden by the high-water mark) instead of being counted for ever.
func (m *Meter) Sample() Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.look()
	var sum Usage
	for _, member := range m.in.members {
		sum.add(member.usage(m.trees))
	}
	return sum.rise(&m.high)
}

// look refreshes values that are too costly for every reading: once a second, and when a node was started since the last look.
func (m *Meter) look() {
	fresh := time.Since(m.scanned) < rescan
	var supervisors []int
	for _, member := range m.in.members {
		if p := member.current(); p != nil && !p.dead() {
			supervisors = append(supervisors, p.Supervisor.PID)
			_, known := m.trees[p.Supervisor.PID]
			fresh = fresh && known
		}
	}
	if fresh {
		return
	}
	m.trees, m.scanned = map[int][]identity{}, time.Now()
	for _, supervisor := range supervisors {
		var tree []identity
		for _, d := range descendants(supervisor) {
			tree = append(tree, identity{d.PID, d.Starttime})
		}
		m.trees[supervisor] = tree
	}
}

// DataBytes returns the disk space of the data directories. It is too costly for every reading: a broker with a thousand
// topics has thousands of files.
func (m *Meter) DataBytes() (sum int64) {
	for _, member := range m.in.members {
		sum += taken(member.node.Data)
	}
	return sum
}

// Roots returns the supervisors, whose trees this meter reads.
func (m *Meter) Roots() []int {
	var pids []int
	for _, member := range m.in.members {
		if p := member.current(); p != nil {
			pids = append(pids, p.Supervisor.PID)
		}
	}
	return pids
}

// PIDs returns the broker's processes as of the last reading.
func (m *Meter) PIDs() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	var pids []int
	for _, tree := range m.trees {
		for _, id := range tree {
			pids = append(pids, id.PID)
		}
	}
	return pids
}

func (m *member) usage(trees map[int][]identity) Usage {
	p := m.current()
	if p == nil {
		return Usage{}
	}
	live := read(p.Supervisor, trees[p.Supervisor.PID])
	m.mu.Lock()
	defer m.mu.Unlock()
	sum := m.spent
	if m.proc == p && !m.counted {
		sum.add(live)
		m.seen = live
	}
	return sum
}

// book moves an ended process tree to the member's past; m.mu is held.
func (m *member) book(end fate) {
	past := Usage{User: time.Duration(end.User), System: time.Duration(end.System), Disk: Disk{end.ReadBytes, end.WriteBytes}}
	// A killed supervisor reports nothing; the last reading is the best value there is.
	past.User, past.System = max(past.User, m.seen.User), max(past.System, m.seen.System)
	past.Disk = Disk{max(past.DiskReadBytes, m.seen.DiskReadBytes), max(past.DiskWriteBytes, m.seen.DiskWriteBytes)}
	m.spent.add(past)
	m.counted = true
}

func read(supervisor identity, tree []identity) Usage {
	var u Usage
	s, err := statOf(supervisor.PID)
	if err != nil || s.Starttime != supervisor.Start {
		return u
	}
	// The supervisor counts only with its reaped children.
	u.User, u.System = time.Duration(s.CUTime)*ticks, time.Duration(s.CSTime)*ticks
	u.Disk = diskOf(procfs.NewProc(supervisor.PID))
	for _, id := range tree {
		s, err := statOf(id.PID)
		if err != nil || s.Starttime != id.Start {
			continue
		}
		one := used(s)
		if one.Processes > 0 {
			one.Disk = diskOf(procfs.NewProc(id.PID))
			one.RSSBytes = max(0, one.RSSBytes-mappedOfUs(id.PID))
		}
		u.add(one)
	}
	return u
}

// mappedOfUs returns the memory of the mapped files of a process that runs this executable, as a NATS server does
// (Command.Program); else 0. Nearly all of it is the executable, which is five times as large as a standalone NATS server, and
// how much of that the kernel maps depends on the page cache: 50 MB to 80 MB were seen.
func mappedOfUs(pid int) int64 {
	its, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return 0
	}
	if ours, err := os.Stat(self); err != nil || !os.SameFile(its, ours) {
		return 0
	}
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	m, err := p.Statm()
	if err != nil {
		return 0
	}
	return int64(m.Shared) * int64(os.Getpagesize())
}

// used returns the use of a process and its reaped children, without disk traffic. A zombie counts as no process.
func used(s procfs.ProcStat) Usage {
	u := Usage{
		User:     time.Duration(int(s.UTime)+s.CUTime) * ticks,
		System:   time.Duration(int(s.STime)+s.CSTime) * ticks,
		RSSBytes: int64(s.ResidentMemory()), Processes: 1,
	}
	if s.State == "Z" {
		u.RSSBytes, u.Processes = 0, 0
	}
	return u
}

// Plus returns the sum of both.
func (u Usage) Plus(v Usage) Usage {
	u.add(v)
	return u
}

func (u *Usage) add(v Usage) {
	u.User += v.User
	u.System += v.System
	u.RSSBytes += v.RSSBytes
	u.Processes += v.Processes
	u.Disk.add(v.Disk)
}

// rise raises high to larger figures of u, and returns u with the figures of high for values that never fall: processor time and,
// if known, disk traffic.
func (u Usage) rise(high *Usage) Usage {
	high.User, high.System = max(high.User, u.User), max(high.System, u.System)
	high.DiskReadBytes = max(high.DiskReadBytes, u.DiskReadBytes)
	high.DiskWriteBytes = max(high.DiskWriteBytes, u.DiskWriteBytes)
	u.User, u.System = high.User, high.System
	if u.DiskReadBytes >= 0 {
		u.DiskReadBytes = high.DiskReadBytes
	}
	if u.DiskWriteBytes >= 0 {
		u.DiskWriteBytes = high.DiskWriteBytes
	}
	return u
}

// turnEvery is the number of files after which taken yields: a walk of 10,000 files takes a tenth of a second, by which a
// producer without another thread would be late.
const turnEvery = 16

// taken returns the disk space of the files below dir: blocks rather than lengths, because brokers preallocate sparse files.
func taken(dir string) int64 {
	var sum int64
	files := 0
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if files++; files%turnEvery == 0 {
			runtime.Gosched()
		}
		if err != nil {
			return nil // for example a segment that was just deleted
		}
		if fi, err := d.Info(); err == nil {
			if st, ok := fi.Sys().(*syscall.Stat_t); ok {
				sum += st.Blocks * 512
			}
		}
		return nil
	})
	return sum
}

// SelfUsage returns the use of this process itself.
func SelfUsage() Usage {
	u := Usage{Processes: 1, Disk: diskOf(procfs.NewProc(os.Getpid()))}
	var ru syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &ru) == nil {
		u.User, u.System = time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano())
	}
	u.RSSBytes = selfMemory(ru)
	return u
}
