package livetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/testkit"
)

// startBound is for a cluster of JVMs on a busy machine.
const startBound = 3 * time.Minute

// Main runs the tests of a package that starts brokers: they are children of the test binary.
func Main(m *testing.M) {
	provision.Main()
	m.Run()
}

// host is this machine, for tests that may start brokers on it.
func host(t *testing.T) *provision.Host {
	t.Helper()
	testkit.Live(t)
	host, err := provision.NewHost(provision.DefaultDir(), t.Logf)
	Must(t, err)
	return host
}

// Start brings a broker up that ends with the test. A broker that can't be installed or started fails the test.
func Start(t *testing.T, o provision.Options) (*provision.Instance, driver.Target) {
	t.Helper()
	host := host(t)
	o.Deadline = startBound
	o.Server = compiledOnce(t, o)
	in, err := host.Start(t.Context(), o)
	Must(t, err)
	private(t, filepath.Dir(in.LogPath(1)))
	t.Cleanup(func() {
		if t.Failed() {
			for node := range in.Nodes() {
				t.Logf("the last lines of node %d:\n%s", node+1, strings.Join(in.LogTail(node+1, 30), "\n"))
			}
		}
		temporaryFilesAreItsOwn(t, filepath.Dir(in.LogPath(1)))
		if err := in.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return in, TargetOf(in)
}

// compiledOnce returns the server's settings with java's first compiler alone, unless they choose: on a machine whose
// cores the tests share, a JVM that lives for seconds spends more on its optimizing compiler than on messages.
func compiledOnce(t *testing.T, o provision.Options) map[string]any {
	r, err := provision.Lookup(o.Broker)
	Must(t, err)
	v, err := r.Version(o.Version)
	Must(t, err)
	const level = "jvm.XX:TieredStopAtLevel"
	server := map[string]any{}
	if slices.ContainsFunc(v.Needs, func(n provision.Need) bool { return n.Command == "java" }) {
		server[level] = 1
	}
	return driver.Completed(o.Server, server)
}

// private fails if another user of this machine can read the broker's settings, which may hold a password, or its data.
func private(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		info, errI := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) || errors.Is(errI, fs.ErrNotExist): // the broker has removed it by now
			return nil
		case err != nil || errI != nil:
			return errors.Join(err, errI)
		case d.Type().IsRegular():
			files++
		}
		forbidden := fs.FileMode(0o077)
		if strings.Contains(path, "/data/") { // some brokers say which modes their own files have
			forbidden = 0o007
		}
		if strings.Contains(path+"/", "/tls/") { // root's, and read by the group, which is this broker's alone
			forbidden = 0o027
		}
		open := info.Mode().Perm()&forbidden != 0 && d.Type()&(fs.ModeSymlink|fs.ModeSocket) == 0
		if open && path != dir { // which holds private files and directories alone
			t.Errorf("others may use %s: its mode is %v", strings.TrimPrefix(path, dir), info.Mode())
		}
		return nil
	})
	Must(t, err)
	if files == 0 {
		t.Errorf("nothing was written below %s", dir)
	}
}

// temporaryFilesAreItsOwn fails where a process of the broker whose directory is given has mapped a file of the machine's
// temporary directory, such as a library that java unpacked there: a killed process leaves it behind. java's own statistics
// are allowed: it removes them, or the next java does.
func temporaryFilesAreItsOwn(t *testing.T, dir string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	Must(t, err)
	for _, process := range processes {
		environment, err := os.ReadFile(filepath.Join(process, "environ"))
		if err != nil || !strings.Contains(string(environment), "HOME="+dir) {
			continue // it has ended, or is another's
		}
		program, _ := os.Readlink(filepath.Join(process, "exe")) // of a broker inside this program: the test itself
		maps, _ := os.ReadFile(filepath.Join(process, "maps"))
		for line := range strings.Lines(string(maps)) {
			at := strings.IndexByte(line, '/')
			if at < 0 {
				continue
			}
			path := strings.TrimSpace(line[at:])
			if strings.HasPrefix(path, os.TempDir()) && path != program && !strings.HasPrefix(path, dir) && !strings.Contains(path, "/hsperfdata_") {
				t.Errorf("%s has %s in its memory, which is outside of its directory %s", process, path, dir)
				break
			}
		}
	}
}

// Restart ends a node without warning and starts it again.
func Restart(ctx context.Context, in *provision.Instance, node int) error {
	if err := in.Kill(ctx, node); err != nil {
		return err
	}
	return in.Restart(ctx, node)
}
