package lab

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// horizon doubts a rate that was confirmed with less than the page cache holds back: until the kernel makes writers wait
// for the disk, it is memory that was measured.
func (b *bench) horizon(t trial) {
	written := t.Cost.BrokerDiskWriteBytes
	if b.spec.Persistence == "fsync" || !t.Cost.BrokerKnown || !writesMessages(written, t.Cost.Bytes) {
		return
	}
	if room := dirtyRoom(); written < room {
		b.doubt("short-horizon", "the broker wrote %d MB in the %s that confirmed the rate, and the kernel holds back up to %d MB in memory before it lets writers wait for the disk: a rate that the disk can't keep up with would pass as well; --soak confirms for longer",
			written/1e6, (time.Duration(t.Cost.Seconds*1e3) * time.Millisecond), room/1e6)
	}
}

// writesMessages tells that what a broker wrote to disk is more than its logs.
func writesMessages(written, payload int64) bool { return written > payload/10 && written > 0 }

// dirtyRoom is how many bytes may wait in the page cache to be written before the kernel makes those who write more
// wait: vm.dirty_bytes, or vm.dirty_ratio percent of the memory that is available.
func dirtyRoom() int64 {
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

// vmSetting reads a number below /proc/sys/vm; 0 where it can't be read.
func vmSetting(name string) int64 {
	text, err := os.ReadFile("/proc/sys/vm/" + name)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}
