package provision

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

// Whatever stands in the table of sockets, it is read; and where another reader understands all of it, the same sockets listen.
func FuzzSocketTable(f *testing.F) {
	const rest = " 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 71 1 0000000000000000 100 0 0 10 0\n"
	for _, text := range []string{
		"  0: 0100007F:1628" + rest, "  0: 00000000:1628" + rest, "  0: 00000000000000000000000001000000:1628" + rest,
		"  0: 0000000000000000FFFF00000100007F:1628" + rest, "  0: 0200007F:1628" + rest, "  0: 0100007F:11628" + rest,
		"  0: 0100007F" + rest, "0A\n", "", "\n", strings.Repeat("x ", 9),
	} {
		f.Add(text, uint16(0x1628))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "net", "tcp")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, port uint16) {
		at := endpoint{[]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, uint64(port)}
		lines := slices.Collect(strings.Lines(text))
		var listen []bool
		for _, line := range lines {
			_, _, ok := at.listens(strings.Fields(line))
			listen = append(listen, ok)
		}
		if err := os.WriteFile(path, []byte("the columns\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		fs, err := procfs.NewFS(dir)
		if err != nil {
			t.Fatal(err)
		}
		//lint:ignore SA1019 what replaces it asks the kernel, and this table is a file of ours
		table, err := fs.NetTCP()
		if err != nil {
			return
		}
		for i, s := range table {
			kernels := strings.Fields(lines[i])[3] == "0A" // as the kernel writes the state of what listens
			want := kernels && s.LocalPort == at.port && (s.LocalAddr.IsUnspecified() || slices.ContainsFunc(at.ips, s.LocalAddr.Equal))
			if listen[i] != want {
				t.Errorf("%q listens: %t, want %t", lines[i], listen[i], want)
			}
		}
	})
}
