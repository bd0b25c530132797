//go:build !portable

package provision

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// flushCalls are the system calls that return when written data has reached the disk.
var flushCalls = []string{"fsync", "fdatasync", "msync"}

// Flushes counts how often each process of this machine flushes files to the disk, from its creation until Close. The kernel
// reports each call with its process (a tracepoint, perf_event_open(2)); processes without such calls are not slowed. Safe for
// use by several goroutines.
type Flushes struct {
	mu    sync.Mutex
	fds   []int
	rings []*ring // one per processor
	by    map[int]int64
	gaps  int64
}

// ringPages hold a processor's calls of half a second, up to 30,000 a second.
const ringPages = 64

// WatchFlushes begins to count. It needs root, or CAP_PERFMON and a tracefs that this process may read.
func WatchFlushes() (*Flushes, error) {
	ids, err := tracepoints()
	if err != nil {
		return nil, err
	}
	cpus, err := onlineCPUs()
	if err != nil {
		return nil, err
	}
	f := &Flushes{by: map[int]int64{}}
	for _, cpu := range cpus {
		if err := f.watch(cpu, ids); err != nil {
			f.Close()
			return nil, fmt.Errorf("the kernel does not let flushes be counted: %w", err)
		}
	}
	return f, nil
}

// watch makes the kernel write all calls on a processor into one ring.
func (f *Flushes) watch(cpu int, ids []uint64) error {
	first := -1
	for _, id := range ids {
		attr := unix.PerfEventAttr{
			Type: unix.PERF_TYPE_TRACEPOINT, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: id,
			Sample: 1, Sample_type: unix.PERF_SAMPLE_TID, // each call, with the calling process
		}
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return err
		}
		f.fds = append(f.fds, fd)
		if first >= 0 {
			if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_OUTPUT, first); err != nil {
				return err
			}
			continue
		}
		first = fd
		memory, err := unix.Mmap(fd, 0, (1+ringPages)*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		f.rings = append(f.rings, &ring{memory: memory, data: memory[os.Getpagesize():]})
	}
	return nil
}

// Of returns how many calls the processes have made, and how often the kernel had to drop some: none were dropped between two
// readings with equal gaps. The kernel has room for the calls of half a second.
func (f *Flushes) Of(pids []int) (calls, gaps int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	for _, pid := range pids {
		calls += f.by[pid]
	}
	return calls, f.gaps
}

func (f *Flushes) drain() {
	for _, r := range f.rings {
		if r.drain(f.by) {
			f.gaps++
		}
	}
}

// Close ends the counting; Of still returns the counts until then.
func (f *Flushes) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	for _, r := range f.rings {
		_ = unix.Munmap(r.memory)
	}
	for _, fd := range f.fds {
		_ = unix.Close(fd)
	}
	f.rings, f.fds = nil, nil
}

// ring is the kernel's buffer of one processor, as perf_event_open(2) lays it out.
type ring struct{ memory, data []byte }

// drain counts the calls in the ring by process; lost means that there were more than it holds.
func (r *ring) drain(by map[int]int64) (lost bool) {
	const header, sample = 8, 16
	page := (*unix.PerfEventMmapPage)(unsafe.Pointer(&r.memory[0]))
	head, tail := atomic.LoadUint64(&page.Data_head), page.Data_tail
	mask := uint64(len(r.data) - 1)
	// The kernel reports dropped calls when it has room for the report, which a full ring doesn't have.
	lost = head-tail > uint64(len(r.data))-4*sample
	word := func(at uint64) uint32 { return binary.NativeEndian.Uint32(r.data[at&mask:]) } // records are aligned to 8 bytes
	for tail < head {
		kind, size := word(tail), uint64(word(tail+4)>>16)
		switch {
		case kind == unix.PERF_RECORD_SAMPLE && size == sample:
			by[int(word(tail+header))]++
		case kind == unix.PERF_RECORD_LOST:
			lost = true
		}
		if size < header {
			return true
		}
		tail += size
	}
	atomic.StoreUint64(&page.Data_tail, tail)
	return lost
}

const tracefs = "/sys/kernel/tracing"

// tracepoints returns the kernel's numbers of the calls. If tracefs isn't mounted, it is opened without a mount point that
// others could see.
func tracepoints() ([]uint64, error) {
	if ids, err := readTracepoints(tracefs); err == nil {
		return ids, nil
	}
	opened, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("tracefs is not mounted, and opening it is refused: %w", err)
	}
	defer unix.Close(opened)
	if err := unix.FsconfigCreate(opened); err != nil {
		return nil, fmt.Errorf("opening tracefs: %w", err)
	}
	mount, err := unix.Fsmount(opened, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("opening tracefs: %w", err)
	}
	defer unix.Close(mount)
	return readTracepoints(fmt.Sprintf("/proc/self/fd/%d", mount))
}

func readTracepoints(root string) ([]uint64, error) {
	var ids []uint64
	for _, call := range flushCalls {
		text, err := os.ReadFile(filepath.Join(root, "events/syscalls", "sys_enter_"+call, "id"))
		if err != nil {
			return nil, err
		}
		id, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// onlineCPUs reads a list like 0-3,5.
func onlineCPUs() ([]int, error) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		return nil, err
	}
	var cpus []int
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		low, err := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
		for cpu := low; cpu <= high; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}
