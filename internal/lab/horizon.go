package lab

import (
	"time"

	"github.com/prometheus/procfs"
)

// ownLogs is the share of the payload up to which what a broker writes to disk may be its own logs, without the messages.
const ownLogs = 0.1

// doubtHorizon doubts a rate if the trial that confirmed it, its horizon, was too short for the disk to matter: if the page cache could
// hold everything that the broker wrote meanwhile. Such a rate says how fast the memory is: only when the cache is full does the kernel
// make writers wait for the disk. For example, 300 MB written in 5 s fit into the cache of a machine with 8 GB available and dirty_ratio
// 20, which holds back 1.6 GB. The cache of another machine is not known, so a broker elsewhere gets no such doubt.
func (b *bench) doubtHorizon(t trial) {
	if b.spec.Persistence == "fsync" || !t.Cost.BrokerKnown || !b.meters.brokerIsHere() {
		return
	}
	written := t.Cost.BrokerDiskWriteBytes // -1 if not known
	if written <= 0 || float64(written) <= ownLogs*float64(t.Cost.Bytes) {
		return // it wrote no messages
	}
	if room := pageCacheRoom(); written < room {
		confirmed := time.Duration(t.Cost.Seconds * 1e9).Round(time.Millisecond)
		b.doubt("short-horizon", "the broker wrote %d MB in the %s that confirmed the rate, and the kernel holds back up to %d MB in memory before it lets writers wait for the disk: a rate that the disk can't keep up with would pass as well; --soak confirms for longer",
			written/1e6, confirmed, room/1e6)
	}
}

// pageCacheRoom returns how many bytes may wait in the page cache before the kernel makes writers wait for the disk; 0 if that is
// not known. It is vm.dirty_bytes, or if that is 0, vm.dirty_ratio percent of the available memory
// (Documentation/admin-guide/sysctl/vm.rst).
func pageCacheRoom() int64 {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	if bytes := kernelSetting(proc, "vm.dirty_bytes"); bytes > 0 {
		return bytes
	}
	memory, err := proc.Meminfo()
	if err != nil || memory.MemAvailableBytes == nil {
		return 0
	}
	return int64(*memory.MemAvailableBytes) / 100 * kernelSetting(proc, "vm.dirty_ratio")
}

// kernelSetting returns a kernel parameter that is one number; 0 if it can't be read.
func kernelSetting(proc procfs.FS, name string) int64 {
	values, err := proc.SysctlInts(name)
	if err != nil || len(values) != 1 {
		return 0
	}
	return int64(values[0])
}
