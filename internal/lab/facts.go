package lab

import (
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/store"
)

// HostFacts describes the machine.
func HostFacts() store.Host {
	h := store.Host{OS: runtime.GOOS, Cores: runtime.NumCPU()}
	h.Name, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	hardware(&h)
	return h
}

// unmetered doubts every figure from a machine whose kernel doesn't say what other processes use.
func (b *bench) unmetered(metered bool) {
	if !metered {
		b.doubt("unmetered", "%s doesn't say what other processes use: what the broker cost isn't known, and that something else kept the machine busy would not be noticed", runtime.GOOS)
	}
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
