package cli_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

// asRemover makes this binary a process that waits until the tests have ended, however they do, and clears up after the one that
// the variable holds the process ID of: a test that is killed, or runs into its time limit, calls nothing that was deferred.
const asRemover = "BROKERMARK_CLI_TEST_AS_REMOVER"

// ownDir makes a directory that the remover knows for one of these tests'.
func ownDir(name string) (string, error) {
	dir, err := os.MkdirTemp("", fmt.Sprintf("brokermark-%s-%d-", name, os.Getpid()))
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o755) // the user that brokers run as can enter
}

// watchOver starts the remover. The tests' end closes its standard input.
func watchOver() (end func(), err error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%d", asRemover, os.Getpid()))
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a Ctrl-C isn't for it
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() {
		_ = in.Close()
		_ = c.Wait()
	}, nil
}

// remove ends what runs in directories of the tests with that process ID, and removes them.
func remove(pid string) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	var dirs []string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if dirs, _ = filepath.Glob(filepath.Join(os.TempDir(), "brokermark-*-"+pid+"-*")); len(dirs) == 0 {
			return
		}
		for _, dir := range dirs {
			for _, p := range (place{dir: dir}).processes() {
				number, _, _ := strings.Cut(p, " ")
				if id, _ := strconv.Atoi(number); id != os.Getpid() {
					_ = syscall.Kill(id, syscall.SIGKILL)
				}
			}
			_ = syscall.Unmount(dir, syscall.MNT_DETACH)
			_ = os.RemoveAll(dir)
		}
	}
}

// TestKilled is run by the next one, in a process of its own, and killed.
func TestKilled(t *testing.T) {
	if os.Getenv("BROKERMARK_CLI_TEST_KILLED") == "" {
		testkit.Without(t, "is to be killed")
	}
	h := newPlace(t)
	h.begin(t, []string{"sim"})
	h.untilStored(t)
	fmt.Printf("in %s\n", h.dir)
	select {}
}

func TestTestsThatAreKilledLeaveNoProcessAndNoDirectory(t *testing.T) {
	c := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
	c.Env = append(os.Environ(), "BROKERMARK_CLI_TEST_KILLED=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	dir := ""
	for lines := bufio.NewScanner(out); dir == "" && lines.Scan(); {
		if after, ok := strings.CutPrefix(lines.Text(), "in "); ok {
			dir = after
		}
	}
	h := place{dir: dir}
	if dir == "" || len(h.processes()) == 0 {
		t.Errorf("nothing runs in %q", dir)
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	until(t, "nothing is left", func() bool {
		dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("brokermark-*-%d-*", c.Process.Pid)))
		return len(dirs)+len(h.processes()) == 0
	})
}
