package provision

import (
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Metered reports whether the kernel reports the resource use of other processes.
const Metered = true

func everyProcess() []procfs.ProcStat { return processStats(procfs.DefaultMountPoint) }

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

// sinceBoot returns the time on the clock of processes' start times.
func sinceBoot() time.Duration {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano())
}

// selfMemory returns this process's resident memory.
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
