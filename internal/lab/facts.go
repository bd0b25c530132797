package lab

import (
	"os"
	"runtime"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"github.com/brokermark/brokermark/internal/doubt"
	"github.com/brokermark/brokermark/internal/store"
)

// HostFacts describes this machine, such as 8 cores and kernel 6.8.0. Facts that the system doesn't tell are left empty.
func HostFacts() store.Host {
	h := store.Host{OS: runtime.GOOS, Cores: runtime.NumCPU()}
	h.Name, _ = os.Hostname()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		h.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	setHardware(&h)
	return h
}

// doubtUnmetered adds a doubt if metered is false: on this system the kernel doesn't tell what other processes use.
func (b *bench) doubtUnmetered(metered bool) {
	if !metered {
		b.doubt(doubt.Unmetered, "%s doesn't say what other processes use: what the broker cost isn't known, and that something else kept the machine busy would not be noticed", runtime.GOOS)
	}
}

// moduleVersion returns module@version of a client library that is linked into this program; only the module if the version is
// not known.
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
