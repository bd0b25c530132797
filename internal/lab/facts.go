package lab

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/store"
)

// HostFacts describes the machine.
func HostFacts() store.Host {
	h := store.Host{OS: osName(), Cores: runtime.NumCPU()}
	h.Name, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
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
	return h
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

func goVersion() string { return runtime.Version() }

// moduleVersion is module@version of a client library as it is linked into this program.
func moduleVersion(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok || module == "" {
		return module
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return module + "@" + d.Version
		}
	}
	return module
}
