package lab

import (
	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/store"
)

// setHardware adds the facts that only this kernel reports.
func setHardware(h *store.Host) {
	if version, err := unix.Sysctl("kern.osproductversion"); err == nil {
		h.OS = "macOS " + version
	}
	h.CPU, _ = unix.Sysctl("machdep.cpu.brand_string")
	if bytes, err := unix.SysctlUint64("hw.memsize"); err == nil {
		h.MemoryBytes = int64(bytes)
	}
}
