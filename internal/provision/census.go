package provision

import (
	"time"

	"github.com/prometheus/procfs"
)

// Census holds the processor time that every visible process, and the machine as a whole, had used at one time.
type Census struct {
	at      uint64 // clock ticks since boot
	procs   map[int]counted
	machine time.Duration // processor time in user and kernel mode, without interrupts
	irq     time.Duration
	stolen  time.Duration
}

// counted is one process in a census.
type counted struct {
	start       uint64
	parent      int
	name        string
	own, reaped time.Duration // of the process itself; of its reaped children
	kernel      bool          // a kernel thread
}

// TakeCensus reads /proc. It takes about 20 µs for each process and lets other goroutines run in between.
func TakeCensus() Census {
	at := sinceBoot()
	c := census(procfs.DefaultMountPoint)
	c.at = uint64(at / ticks)
	return c
}

func census(mount string) Census {
	c := Census{procs: map[int]counted{}}
	t := machineStat(mount).CPUTotal
	c.machine, c.irq, c.stolen = seconds(t.User+t.Nice+t.System), seconds(t.IRQ+t.SoftIRQ), seconds(t.Steal)
	for _, s := range processStats(mount) {
		c.procs[s.PID] = count(s)
	}
	return c
}

// StolenFromCores returns how long the hypervisor has run other machines on each core since the machine started, in steps of 10
// ms. Cores have the kernel's numbers. It is empty if the kernel does not report it.
func StolenFromCores() map[int]time.Duration { return stolenFromCores(procfs.DefaultMountPoint) }

func stolenFromCores(mount string) map[int]time.Duration {
	stolen := map[int]time.Duration{}
	for core, used := range machineStat(mount).CPU {
		stolen[int(core)] = seconds(used.Steal)
	}
	return stolen
}

// machineStat is empty if the kernel does not report it.
func machineStat(mount string) procfs.Stat {
	fs, err := procfs.NewFS(mount)
	if err != nil {
		return procfs.Stat{}
	}
	s, _ := fs.Stat()
	return s
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func count(s procfs.ProcStat) counted {
	const kthread, kthreadd = 0x00200000, 2 // PF_KTHREAD
	return counted{
		start: s.Starttime, parent: s.PPID, name: s.Comm,
		own: time.Duration(s.UTime+s.STime) * ticks, reaped: time.Duration(s.CUTime+s.CSTime) * ticks,
		kernel: s.Flags&kthread != 0 || s.PID == kthreadd || s.PPID == kthreadd,
	}
}

// Neighbours holds the processor time of other processes and machines between two censuses.
type Neighbours struct {
	Used        time.Duration // by processes that are neither ours nor the kernel's
	Biggest     string        // name of the processes that used most
	BiggestUsed time.Duration
	Stolen      time.Duration // by the hypervisor, for other machines
	Unseen      time.Duration // by processes that no census shows: invisible, or ended without a trace
}

// Since compares c with an earlier census. It leaves out the process self, without its children, and the process trees of
// roots. It also leaves out kernel threads and interrupts, since the load itself makes the kernel work.
func (c Census) Since(before Census, self int, roots []int) Neighbours {
	mine := before.below(roots)
	for pid := range c.below(roots) {
		mine[pid] = true
	}
	var t tally
	t.used = map[int]time.Duration{}
	for pid, p := range c.procs {
		own, reaped := c.grown(before, pid)
		switch {
		case p.kernel:
			t.known += own
		case pid == self:
			t.known += own // it may have reaped a supervisor with its broker's use of hours
		case mine[pid]:
			t.known += own + reaped
		default:
			t.own, t.reaped = t.own+own, t.reaped+reaped
			t.used[pid] = own + reaped
		}
	}
	// The time of an ended process was added to its parent's, including its use before this span: subtract that.
	for pid, p := range before.procs {
		if p.kernel || c.has(pid, p.start) {
			continue
		}
		switch heir := c.heir(before, p.parent); {
		case mine[heir]:
			t.known -= p.own + p.reaped
		case heir != self:
			t.reaped -= p.own + p.reaped
			t.used[heir] -= p.own + p.reaped
		}
	}
	return t.neighbours(before, c)
}

// tally is a comparison under way.
type tally struct {
	known       time.Duration // our processes and the kernel's threads
	own, reaped time.Duration // all others
	used        map[int]time.Duration
}

func (t tally) neighbours(before, c Census) Neighbours {
	// The parent may be in no census (the process was reparented, or SIGCHLD ignored): this bounds the error to the span itself.
	most := c.machine + c.irq - before.machine - before.irq - t.known - t.own
	t.reaped = max(0, min(t.reaped, most))
	n := Neighbours{Used: t.own + t.reaped, Stolen: max(0, c.stolen-before.stolen)}
	n.Unseen = max(0, c.machine-before.machine-t.known-n.Used)
	byName := map[string]time.Duration{}
	for pid, used := range t.used {
		byName[c.procs[pid].name] += max(0, used)
	}
	for name, used := range byName {
		if used = min(used, n.Used); used > n.BiggestUsed {
			n.Biggest, n.BiggestUsed = name, used
		}
	}
	return n
}

// grown returns the processor time of a process since the earlier census. It returns 0 for a process that existed then but was
// not seen: its use until then is unknown.
func (c Census) grown(before Census, pid int) (own, reaped time.Duration) {
	p := c.procs[pid]
	switch was, ok := before.procs[pid]; {
	case ok && was.start == p.start:
		return max(0, p.own-was.own), max(0, p.reaped-was.reaped)
	case p.start < before.at:
		return 0, 0
	}
	return p.own, p.reaped
}

func (c Census) has(pid int, start uint64) bool {
	p, ok := c.procs[pid]
	return ok && p.start == start
}

// heir returns the process that has most likely reaped an ended one: its nearest living ancestor.
func (c Census) heir(before Census, parent int) int {
	for range len(before.procs) {
		p, ok := before.procs[parent]
		if !ok || c.has(parent, p.start) {
			break
		}
		parent = p.parent
	}
	return parent
}

// below returns roots and all processes below them.
func (c Census) below(roots []int) map[int]bool {
	mine := map[int]bool{}
	for _, pid := range roots {
		mine[pid] = true
	}
	for grew := len(mine) > 0; grew; {
		grew = false
		for pid, p := range c.procs {
			if mine[p.parent] && !mine[pid] {
				mine[pid], grew = true, true
			}
		}
	}
	return mine
}
