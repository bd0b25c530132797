package provision

import (
	"runtime"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Metered tells that the kernel says what other processes use.
const Metered = true

func everyProcess() []procfs.ProcStat {
	procs, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	list := make([]procfs.ProcStat, 0, len(procs))
	for _, p := range procs {
		if s, err := p.Stat(); err == nil {
			list = append(list, s)
		}
		runtime.Gosched() // some milliseconds in all, in which a producer would be late
	}
	return list
}

// usersOfProcesses are the users that have a process.
func usersOfProcesses() map[int]bool {
	seen := map[int]bool{}
	procs, _ := procfs.AllProcs()
	for _, p := range procs {
		if s, err := p.NewStatus(); err == nil {
			for _, id := range s.UIDs {
				seen[int(id)] = true
			}
		}
	}
	return seen
}

func statOf(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// sinceBoot is the clock that processes' starts are told on.
func sinceBoot() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano())
}

// selfMemory is what this process has in memory.
func selfMemory(syscall.Rusage) int64 {
	p, err := procfs.Self()
	if err != nil {
		return 0
	}
	s, err := p.Stat()
	if err != nil {
		return 0
	}
	return int64(s.ResidentMemory())
}
