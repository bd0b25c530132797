//go:build !portable

package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/testkit"
)

func limitable(t *testing.T, l Limits) {
	t.Helper()
	if err := CanLimit(l); err != nil {
		testkit.Without(t, "%v", err)
	}
}

// groupsOf lists the control groups of the system that belong to an instance.
func groupsOf(id string) (found []string) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), id) {
			found = append(found, path)
		}
		return nil
	})
	return found
}

func TestANodeUsesNoMoreOfTheCoresThanItsLimit(t *testing.T) {
	testkit.NotShort(t)
	limits := Limits{CPU: 0.2, Memory: 256 << 20}
	limitable(t, limits)
	in := start(t, newHost(t), Options{Limits: limits})
	groups := groupsOf(in.ID())
	if len(groups) == 0 {
		t.Fatal("no control group")
	}
	var memory []string
	for _, g := range groups {
		for _, name := range []string{"memory.max", "memory.limit_in_bytes"} {
			if text, err := os.ReadFile(filepath.Join(g, name)); err == nil {
				memory = append(memory, strings.TrimSpace(string(text)))
			}
		}
	}
	if !slices.Contains(memory, fmt.Sprint(limits.Memory)) {
		t.Errorf("memory limits %v in %v", memory, groups)
	}
	before, began := in.Meter().Sample(), time.Now()
	for time.Since(began) < 3*time.Second {
		_ = ask(t, in, 1, "burn")
	}
	took := time.Since(began)
	after := in.Meter().Sample()
	used := (after.User + after.System - before.User - before.System).Seconds() / took.Seconds()
	if used > 0.22 || used < 0.1 {
		t.Errorf("it used %.3f cores over %v, 0.2 is the limit", used, took)
	}
	if err := in.Restart(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if again := groupsOf(in.ID()); len(again) != len(groups) {
		t.Errorf("%v after a restart, %v before", again, groups)
	}
	ok(t, in.Stop(t.Context()))
	if left := groupsOf(in.ID()); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestANodeThatNeedsMoreMemoryThanItsLimitEndsAndSaysWhy(t *testing.T) {
	limits := Limits{Memory: 96 << 20}
	limitable(t, limits)
	in := start(t, newHost(t), Options{Limits: limits})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, _ = askTLS(ctx, in.Addresses()[0], nil, "eat")
	select {
	case d := <-in.Deaths():
		if d.Reason != "was ended by the kernel: it reached its memory limit" {
			t.Error(d.Reason)
		}
	case <-ctx.Done():
		t.Error("it lives")
	}
}

func TestANodeWritesNoFasterThanItsLimit(t *testing.T) {
	testkit.NotShort(t)
	took := func(l Limits) time.Duration {
		limitable(t, l)
		in := start(t, newHost(t), Options{Limits: l})
		began := time.Now()
		if said := ask(t, in, 1, "flush"); said != "<nil>" {
			t.Fatal(said)
		}
		return time.Since(began)
	}
	limited := took(Limits{IO: 2 << 20}) // twice as many bytes are written
	if free := took(Limits{}); limited < 1500*time.Millisecond || limited < 3*free {
		t.Errorf("4 MiB at 2 MiB/s were written within %v, without a limit within %v", limited, free)
	}
}

func TestADirectoryOnNoDiskHasNoLimitOfWhatItReadsAndWrites(t *testing.T) {
	_, err := groupsFor(Limits{IO: 1 << 20}, "/proc", "bm-x-1")
	if err == nil || !strings.Contains(err.Error(), "/proc lies on no disk that the kernel could bound (device 0:") {
		t.Error(err)
	}
}

func TestNoControlGroupIsLeftWhateverIsKilled(t *testing.T) {
	limits := Limits{CPU: 1.5}
	limitable(t, limits)
	for name, c := range map[string]struct{ tool, supervisor bool }{"the supervisor": {false, true}, "the tool": {true, false}, "both": {true, true}} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			tool, id := runTool(t, h, "limited")
			s, err := readState(filepath.Join(h.runs(), id))
			if err != nil || len(groupsOf(id)) == 0 {
				t.Fatalf("groups %v, %v", groupsOf(id), err)
			}
			if c.tool {
				_ = tool.Process.Signal(syscall.SIGKILL)
			}
			for _, n := range s.Nodes {
				if c.supervisor {
					_ = syscall.Kill(n.Supervisor.PID, syscall.SIGKILL)
				}
			}
			eventually(t, "its control groups gone", func() bool {
				if c.tool && c.supervisor {
					h.sweepRuns() // as the next command does
				}
				return len(groupsOf(id)) == 0
			})
		})
	}
}

// A machine whose control groups are all of version 2 is a tree of files here.
func TestGroupsOfVersion2AreMadeWhereTheControllersAreHandedOn(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		ok(t, os.MkdirAll(filepath.Dir(path), 0o755))
		ok(t, os.WriteFile(path, []byte(text), 0o644))
	}
	pid := fmt.Sprint(os.Getpid())
	ok(t, os.MkdirAll(filepath.Join(root, "proc", pid), 0o755))
	ok(t, os.Symlink(pid, filepath.Join(root, "proc/self")))
	write("proc/"+pid+"/cgroup", "0::/user.slice/app.scope\n")
	write("proc/"+pid+"/mountinfo", "30 23 0:26 / "+root+"/cg rw,nosuid shared:4 - cgroup2 cgroup2 rw\n")
	write("cg/cgroup.subtree_control", "cpu io memory pids\n")
	write("cg/user.slice/cgroup.subtree_control", "memory pids\n")
	write("cg/user.slice/app.scope/cgroup.subtree_control", "\n")
	here := tree{mount: filepath.Join(root, "proc")}
	for _, c := range []struct {
		limits Limits
		want   group
	}{
		{Limits{Memory: 1 << 30}, group{filepath.Join(root, "cg/user.slice/bm-x-1"), true, []string{"memory.max", "1073741824", "memory.swap.max", "0"}}},
		{Limits{CPU: 0.2, Memory: 1 << 30}, group{filepath.Join(root, "cg/bm-x-1"), true, []string{"cpu.max", "20000 100000", "memory.max", "1073741824", "memory.swap.max", "0"}}},
	} {
		got, err := here.groupsFor(c.limits, "bm-x-1")
		if err != nil || len(got) != 1 || fmt.Sprint(got[0]) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, %v; want %v", c.limits, got, err, c.want)
		}
	}
	if got, err := here.groupsFor(Limits{IO: 10e6, device: "254:0"}, "bm-x-1"); err != nil || fmt.Sprint(got) != fmt.Sprint([]group{{filepath.Join(root, "cg/bm-x-1"), true, []string{"io.max", "254:0 rbps=10000000 wbps=10000000"}}}) {
		t.Errorf("%v, %v", got, err)
	}
	write("cg/cgroup.subtree_control", "pids\n")
	if _, err := here.groupsFor(Limits{CPU: 1}, "bm-x-1"); err == nil || !strings.Contains(err.Error(), "hands on what limits cpu") {
		t.Errorf("without the controller: %v", err)
	}
	ok(t, os.Remove(filepath.Join(root, "proc", pid, "mountinfo")))
	write("proc/"+pid+"/mountinfo", "")
	if _, err := here.groupsFor(Limits{CPU: 1}, "bm-x-1"); err == nil || !strings.Contains(err.Error(), "no control groups for cpu") {
		t.Errorf("without a hierarchy: %v", err)
	}
}
