package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

// startOnly makes the test binary start a server, as a test does that needs one, instead of running tests.
const startOnly = "BROKERMARK_TEST_PGTEST_START"

func TestMain(m *testing.M) {
	if os.Getenv(startOnly) != "" {
		fmt.Fprintln(os.Stderr, start())
		return
	}
	os.Exit(m.Run())
}

func TestAKilledTestProcessLeavesNoFiles(t *testing.T) {
	if _, err := find("initdb"); err != nil {
		testkit.Lacks(t, "no PostgreSQL server on this machine (apt-get install postgresql): %v", err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// What the directory holds when the process is killed, from its making until the server has started.
	for _, stage := range []string{"", "data", "data/global/pg_control", "data/postmaster.pid"} {
		t.Run("with "+stage, func(t *testing.T) {
			child := exec.Command(exe)
			child.Env = append(os.Environ(), startOnly+"=1")
			child.Stderr = os.Stderr
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			pattern := fmt.Sprintf("/tmp/brokermark-pg-%d-*", child.Process.Pid)
			seen := until(60*time.Second, func() bool { return exists(filepath.Join(pattern, stage)) })
			if err := child.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = child.Wait() // reports that it was killed
			if !seen {
				t.Fatalf("the process made no %s", filepath.Join(pattern, stage))
			}
			if !until(60*time.Second, func() bool { return !exists(pattern) }) {
				t.Errorf("%s is left", pattern)
			}
		})
	}
}

func exists(pattern string) bool {
	found, _ := filepath.Glob(pattern)
	return len(found) > 0
}

// until waits for a condition and reports whether it came true in time.
func until(limit time.Duration, condition func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if condition() {
			return true
		}
	}
	return condition()
}
