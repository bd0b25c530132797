package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

func TestCleanListsAndRemovesOnlyWhenTold(t *testing.T) {
	home := t.TempDir()
	t.Setenv("BROKERMARK_HOME", home)
	t.Setenv("TMPDIR", t.TempDir())
	if out := brokermark(t, "clean").want(t, 0).out; !strings.Contains(out, "nothing was installed") {
		t.Errorf("of an empty directory it says %q", out)
	}
	install := filepath.Join(home, "install", "kafka-4.3.1")
	for _, dir := range []string{install, filepath.Join(home, "fleet")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{install + ".lock", filepath.Join(install, "kafka.jar"), filepath.Join(home, "system-packages.txt")} {
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{install, "brokermark clean --yes removes it", "system packages that were installed for brokers stay: x\n"} {
		if out := brokermark(t, "clean").want(t, 0).out; !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	lines := strings.Split(brokermark(t, "clean").out, "\n")
	if a, b := strings.Index(lines[0], home), strings.Index(lines[1], home); a < 0 || a != b {
		t.Errorf("its paths are not one below the other: %q", lines)
	}
	if _, err := os.Stat(install); err != nil {
		t.Fatalf("listing has removed it: %v", err)
	}
	if out := brokermark(t, "clean", "--yes").want(t, 0).out; !strings.Contains(out, "were removed\nsystem packages that were installed for brokers stay: x\n") {
		t.Errorf("got %q", out)
	}
	if left, err := os.ReadDir(home); err == nil {
		t.Errorf("left behind: %v", left)
	}
}

// Somebody else may have made the directory first, and put links there to files of whoever cleans.
func TestCleanRemovesNothingFromADirectoryThatOthersMayChange(t *testing.T) {
	home, precious := t.TempDir(), t.TempDir()
	t.Setenv("BROKERMARK_HOME", home)
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(precious, "file")
	for _, err := range []error{os.WriteFile(file, nil, 0o600), os.Symlink(precious, filepath.Join(home, "agents")), os.Chmod(home, 0o777)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if out := brokermark(t, "clean", "--yes").want(t, 3); !strings.Contains(out.err, "everybody may write to "+home) {
		t.Errorf("got %q", out.err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

// The link of another user may lead to any directory of root's in which something is called agents.
func TestCleanRemovesNothingThroughALinkOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		testkit.Lacks(t, "only root can make links of another user")
	}
	home, precious := filepath.Join(t.TempDir(), "home"), t.TempDir()
	t.Setenv("BROKERMARK_HOME", home)
	t.Setenv("TMPDIR", t.TempDir())
	file := filepath.Join(precious, "agents", "file")
	for _, err := range []error{
		os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o600), os.Symlink(precious, home), os.Lchown(home, 4711, 4711),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if out := brokermark(t, "clean", "--yes").want(t, 3); !strings.Contains(out.err, home+" is a link that another user made") {
		t.Errorf("got %q", out.err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
