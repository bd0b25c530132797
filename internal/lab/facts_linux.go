package lab

import (
	"os"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/brokermark/brokermark/internal/store"
)

// setHardware adds the facts that only this kernel reports.
func setHardware(h *store.Host) {
	h.OS = osName()
	if fs, err := procfs.NewDefaultFS(); err == nil {
		if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 {
			h.CPU = cpus[0].ModelName
		}
		if m, err := fs.Meminfo(); err == nil && m.MemTotalBytes != nil {
			h.MemoryBytes = int64(*m.MemTotalBytes)
		}
	}
	source, _ := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	h.Clock = strings.TrimSpace(string(source))
}

func osName() string {
	release, _ := os.ReadFile("/etc/os-release")
	for line := range strings.Lines(string(release)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"`)
		}
	}
	return runtime.GOOS
}
