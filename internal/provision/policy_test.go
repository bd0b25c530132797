package provision

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

func somePolicy(t *testing.T) policy {
	t.Helper()
	if _, err := exec.LookPath("flock"); err != nil {
		testkit.Lacks(t, "no flock here")
	}
	dir := t.TempDir()
	return policy{file: filepath.Join(dir, "policy-rc.d"), lock: filepath.Join(dir, "lock")}
}

// allowed asks as dpkg's scripts do.
func (p policy) allowed(t *testing.T) bool {
	t.Helper()
	if _, err := os.Stat(p.file); err != nil {
		return true
	}
	switch err := exec.Command(p.file, "rabbitmq-server", "start").Run(); {
	case err == nil:
		return true
	case strings.Contains(err.Error(), "exit status 101"):
		return false
	default:
		t.Fatal(err)
		return false
	}
}

func (p policy) left(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(filepath.Dir(p.file), "[.p]*"))
	ok(t, err)
	return all
}

func TestServicesAreForbiddenWhileAnyToolInstalls(t *testing.T) {
	p := somePolicy(t)
	first := p.forbid()
	second := p.forbid()
	if p.allowed(t) {
		t.Error("a service may start")
	}
	first.allow()
	if p.allowed(t) {
		t.Error("a service may start although another tool installs")
	}
	p.restore() // as a third tool does when it starts
	if p.allowed(t) {
		t.Error("a tool that starts takes the others' policy away")
	}
	second.allow()
	if left := p.left(t); !p.allowed(t) || len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A killed tool takes nothing away; what it leaves forbids nothing once its apt-get has ended, too.
func TestAToolKilledWhileItInstallsForbidsNothing(t *testing.T) {
	p := somePolicy(t)
	ready := filepath.Join(t.TempDir(), "pid")
	tool := exec.Command(self, programArg, "0", strconv.Itoa(os.Getpid()), "testinstaller", p.file, p.lock, ready)
	ok(t, tool.Start())
	apt := readPID(t, ready)
	if p.allowed(t) {
		t.Error("a service may start while packages are installed")
	}
	_ = tool.Process.Signal(syscall.SIGKILL)
	_ = tool.Wait()
	if p.allowed(t) || !alive(apt) {
		t.Error("a service may start while the killed tool's apt-get still works")
	}
	_ = syscall.Kill(apt, syscall.SIGKILL)
	eventually(t, "services may start", func() bool { return p.allowed(t) })
	p.restore()
	if left := p.left(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// testInstaller is a tool that is killed while its apt-get works.
func testInstaller(args []string) int {
	g := policy{file: args[0], lock: args[1]}.forbid()
	apt := exec.Command("sh", "-c", "echo $$ >"+args[2]+"; exec sleep 1000")
	apt.ExtraFiles = g.locks()
	_ = apt.Run()
	return 0
}

func TestCleaningTakesAwayThePolicyOfAKilledTool(t *testing.T) {
	p, real := somePolicy(t), machinePolicy
	machinePolicy = p
	t.Cleanup(func() { machinePolicy = real })
	killed := p.forbid()
	killed.lock.Close()
	dir := t.TempDir()
	other := p.forbid()
	ok(t, Clear(dir, nil))
	if left := p.left(t); len(left) != 1 {
		t.Errorf("the policy of a tool that installs is gone: %v", left)
	}
	other.lock.Close()
	ok(t, Clear(dir, nil))
	if left := p.left(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestTheMachinesOwnPolicyIsLeftAlone(t *testing.T) {
	p := somePolicy(t)
	own := []byte("#!/bin/sh\nexit 104\n")
	ok(t, os.WriteFile(p.file, own, 0o755))
	g := p.forbid()
	g.allow()
	p.restore()
	if text, err := os.ReadFile(p.file); err != nil || string(text) != string(own) {
		t.Errorf("it is %q now: %v", text, err)
	}
}
