package livetest

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Listening returns the addresses at which processes listen for TCP connections, sorted.
func Listening(t *testing.T, pids []int) (at []netip.AddrPort) {
	t.Helper()
	const listens = "0A"
	held := map[string]bool{}
	for _, pid := range pids {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if target, err := os.Readlink(fd); err == nil {
				held[target] = true
			}
		}
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, _ := os.ReadFile(table) // no IPv6: nothing listens there
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line)
			if len(f) < 10 || f[3] != listens || !held["socket:["+f[9]+"]"] {
				continue
			}
			host, number, _ := strings.Cut(f[1], ":")
			port, err := strconv.ParseUint(number, 16, 16)
			Must(t, err)
			at = append(at, netip.AddrPortFrom(kernelAddress(t, host), uint16(port)))
		}
	}
	slices.SortFunc(at, netip.AddrPort.Compare)
	return slices.Compact(at)
}

// kernelAddress reads an address as /proc/net/tcp writes it on a little-endian machine: words of four bytes, each backwards.
func kernelAddress(t *testing.T, text string) netip.Addr {
	t.Helper()
	b, err := hex.DecodeString(text)
	Must(t, err)
	for word := range slices.Chunk(b, 4) {
		slices.Reverse(word)
	}
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		t.Fatalf("%s is no address", text)
	}
	return a.Unmap()
}
