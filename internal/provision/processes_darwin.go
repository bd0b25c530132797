package provision

import (
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Metered reports whether the kernel reports the resource use of other processes. macOS reports it only to programs that a C
// compiler links with its system library, unlike this one.
const Metered = false

// everyProcess lists names, parents, starts and states, but no resource use.
func everyProcess() []procfs.ProcStat {
	infos, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	list := make([]procfs.ProcStat, 0, len(infos))
	for i := range infos {
		list = append(list, statFrom(&infos[i]))
	}
	return list
}

func usersOfProcesses() map[int]bool {
	seen := map[int]bool{}
	infos, _ := unix.SysctlKinfoProcSlice("kern.proc.all")
	for i := range infos {
		seen[int(infos[i].Eproc.Ucred.Uid)] = true
	}
	return seen
}

func statOf(pid int) (procfs.ProcStat, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return statFrom(info), nil
}

// statFrom converts macOS's data of a process to Linux's terms.
func statFrom(info *unix.KinfoProc) procfs.ProcStat {
	const stopped, zombie = 4, 5 // SSTOP, SZOMB
	state := "S"
	switch info.Proc.P_stat {
	case stopped:
		state = "T"
	case zombie:
		state = "Z"
	}
	return procfs.ProcStat{
		PID: int(info.Proc.P_pid), PPID: int(info.Eproc.Ppid), State: state,
		Comm:      unix.ByteSliceToString(info.Proc.P_comm[:]),
		Starttime: uint64(info.Proc.P_starttime.Sec)*1e6 + uint64(info.Proc.P_starttime.Usec),
	}
}

// sinceBoot returns 0: nothing needs it if a census has no processes.
func sinceBoot() time.Duration { return 0 }

// selfMemory returns the largest memory of this process so far.
func selfMemory(used syscall.Rusage) int64 { return used.Maxrss }
