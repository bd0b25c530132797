package provision

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// processStats lists the processes of a mount of /proc. It lets other goroutines run in between: it takes some milliseconds, by
// which a producer would be late.
func processStats(mount string) []procfs.ProcStat {
	fs, err := procfs.NewFS(mount)
	if err != nil {
		return nil
	}
	var list []procfs.ProcStat
	procs, _ := fs.AllProcs()
	for _, p := range procs {
		if s, err := p.Stat(); err == nil {
			list = append(list, s)
		}
		runtime.Gosched()
	}
	return list
}

// descendants lists every process below root, parents before their children, zombies included, root excluded.
func descendants(root int) []procfs.ProcStat {
	children := map[int][]procfs.ProcStat{}
	for _, s := range everyProcess() {
		children[s.PPID] = append(children[s.PPID], s)
	}
	var tree []procfs.ProcStat
	for next := []int{root}; len(next) > 0; {
		kids := children[next[0]]
		next = next[1:]
		for _, k := range kids {
			tree = append(tree, k)
			next = append(next, k.PID)
		}
	}
	return tree
}

// identity identifies a process beyond the reuse of its number.
type identity struct {
	PID   int
	Start uint64 // clock ticks since boot; on a Mac microseconds since 1970
}

func identify(pid int) identity {
	if s, err := statOf(pid); err == nil {
		return identity{PID: pid, Start: s.Starttime}
	}
	return identity{PID: pid}
}

func (i identity) alive() bool {
	s, err := statOf(i.PID)
	return err == nil && s.Starttime == i.Start && s.State != "Z" && s.State != "X"
}

// Disk is the number of bytes that processes read from and wrote to disks; -1 if the kernel does not report them.
type Disk struct{ DiskReadBytes, DiskWriteBytes int64 }

var untold = Disk{-1, -1}

// diskOf returns the disk traffic of a process and its reaped children.
func diskOf(p procfs.Proc, err error) Disk {
	if err != nil {
		return untold
	}
	io, err := p.IO()
	if err != nil {
		return untold
	}
	return Disk{int64(io.ReadBytes), int64(io.WriteBytes)}
}

func (d *Disk) add(e Disk) {
	sum := func(a, b int64) int64 {
		if a < 0 || b < 0 {
			return -1
		}
		return a + b
	}
	*d = Disk{sum(d.DiskReadBytes, e.DiskReadBytes), sum(d.DiskWriteBytes, e.DiskWriteBytes)}
}

// freeze and thaw act on the whole tree below root until every process obeys: one may fork during the listing. A process that
// waits for its disk (D) obeys as soon as the disk answers; they don't wait for it.
func freeze(root int) bool {
	told := map[identity]bool{}
	for range 500 {
		settled := true
		for _, p := range descendants(root) {
			id := identity{p.PID, p.Starttime}
			if slices.Contains([]string{"T", "t", "Z", "X"}, p.State) || p.State == "D" && told[id] {
				continue
			}
			settled = false
			told[id] = true
			_ = syscall.Kill(p.PID, syscall.SIGSTOP)
		}
		if settled {
			return true
		}
		time.Sleep(2 * time.Millisecond)
	}
	return false
}

func thaw(root int) {
	for range 100 {
		settled := true
		for _, p := range descendants(root) {
			if p.State == "T" {
				settled = false
				_ = syscall.Kill(p.PID, syscall.SIGCONT)
			}
		}
		if settled {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// killBelow kills the leftovers of a killed supervisor: processes whose home is dir or below it.
func killBelow(dir string) {
	for range 100 { // a process may fork between the listing and the signal
		pids := below(dir)
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// below lists processes whose home is dir or below it. An ended process has none, even if it was not reaped yet.
func below(dir string) []int {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	home := "HOME=" + dir
	var pids []int
	for _, p := range procs {
		env, err := p.Environ()
		if err != nil || p.PID == os.Getpid() {
			continue
		}
		if slices.ContainsFunc(env, func(kv string) bool { return kv == home || strings.HasPrefix(kv, home+"/") }) {
			pids = append(pids, p.PID)
		}
	}
	return pids
}
