package lab

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// doubtHorizon doubts a rate if the page cache could hold everything that the broker wrote while the rate was confirmed. Such a
// rate says how fast the memory is: only when the cache is full does the kernel make writers wait for the disk. For example, 300 MB
// written in 5 s fit into the cache of a machine with 8 GB available and dirty_ratio 20, which holds back 1.6 GB. The cache of another
// machine is not known, so a broker elsewhere gets no such doubt.
func (b *bench) doubtHorizon(t trial) {
	written := t.Cost.BrokerDiskWriteBytes
	if b.spec.Persistence == "fsync" || !t.Cost.BrokerKnown || !b.meters.brokerIsHere() || !writesMessages(written, t.Cost.Bytes) {
		return
	}
	if room := pageCacheRoom(); written < room {
		b.doubt("short-horizon", "the broker wrote %d MB in the %s that confirmed the rate, and the kernel holds back up to %d MB in memory before it lets writers wait for the disk: a rate that the disk can't keep up with would pass as well; --soak confirms for longer",
			written/1e6, (time.Duration(t.Cost.Seconds*1e3) * time.Millisecond), room/1e6)
	}
}

// writesMessages reports whether a broker that wrote so many bytes to disk wrote messages, and not only its own logs. written is
// -1 if it is not known.
func writesMessages(written, payload int64) bool {
	const leastShare = 0.1 // of the payload: brokers compress, and keep part of it in memory
	return written > 0 && float64(written) > leastShare*float64(payload)
}

// pageCacheRoom returns how many bytes may wait in the page cache before the kernel makes writers wait for the disk; 0 if that is
// not known. It is vm.dirty_bytes, or if that is 0, vm.dirty_ratio percent of the available memory
// (Documentation/admin-guide/sysctl/vm.rst).
func pageCacheRoom() int64 {
	if n := vmSetting("dirty_bytes"); n > 0 {
		return n
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	m, err := fs.Meminfo()
	if err != nil || m.MemAvailableBytes == nil {
		return 0
	}
	return int64(*m.MemAvailableBytes) / 100 * vmSetting("dirty_ratio")
}

// vmSetting reads a number below /proc/sys/vm; 0 if it can't be read.
func vmSetting(name string) int64 {
	text, err := os.ReadFile("/proc/sys/vm/" + name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
