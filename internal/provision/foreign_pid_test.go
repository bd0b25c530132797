package provision

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Any process of the brokers' user may write a broker's pid file.
func TestStopSignalsNoProcessThatIsNotTheNodes(t *testing.T) {
	victim := exec.Command("sleep", "1000")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	in := start(t, newHost(t), Options{})
	stubborn := *in.cluster.Recipe
	asked := false
	stubborn.Stop = func(*Node) (int, syscall.Signal, error) {
		asked = true
		return victim.Process.Pid, syscall.SIGKILL, nil
	}
	in.cluster.Recipe = &stubborn
	main := in.members[0].current().Main
	if err := in.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if !asked || !alive(victim.Process.Pid) || alive(main) {
		t.Errorf("asked: %v; the other process lives: %v; the node lives: %v", asked, alive(victim.Process.Pid), alive(main))
	}
}

func TestASupervisorHasNoneOfTheCallersSecrets(t *testing.T) {
	t.Setenv("PGPASSWORD", "s3cret-of-the-caller")
	in := start(t, newHost(t), Options{})
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(in.members[0].current().Supervisor.PID), "environ"))
	if err != nil || strings.Contains(string(env), "s3cret") {
		t.Errorf("its environment: %q, %v", env, err)
	}
}
