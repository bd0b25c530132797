package provision

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

const (
	superviseArg = "__supervise"
	programArg   = "__program"
)

var (
	programs   = map[string]func(args []string) int{}
	mainCalled bool
)

// RegisterProgram makes run startable as a broker process of its own (Command.Program). Call it from init, or in
// TestMain before Main. It panics on a duplicate.
func RegisterProgram(name string, run func(args []string) int) {
	if _, dup := programs[name]; dup {
		panic("provision: program registered twice: " + name)
	}
	programs[name] = run
}

// Main must be called first in main, and in TestMain of tests that start brokers: where this process was started to
// supervise a broker or to be one, Main does that and exits; otherwise it returns at once.
func Main() {
	mainCalled = true
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case superviseArg:
		os.Exit(supervise())
	case programArg:
		os.Exit(runProgram(os.Args[2:]))
	}
}

// runProgram is called as UID GID PARENT NAME ARGS…; UID -1 keeps the user. An in-binary program gives its
// privileges up itself because the user that brokers run as may not be able to execute our file (below /root, say).
func runProgram(args []string) int {
	runtime.LockOSThread()
	if len(args) < 4 {
		fmt.Fprintln(os.Stderr, "too few arguments to", programArg)
		return 2
	}
	uid, _ := strconv.Atoi(args[0])
	gid, _ := strconv.Atoi(args[1])
	parent, _ := strconv.Atoi(args[2])
	run, ok := programs[args[3]]
	if !ok {
		fmt.Fprintf(os.Stderr, "no program %q in this executable\n", args[3])
		return 2
	}
	// The kernel calls it exe, after /proc/self/exe. With another user it may not name itself any more.
	_ = os.WriteFile("/proc/self/comm", []byte(args[3]), 0o644)
	if uid >= 0 {
		if err := dropTo(uid, gid); err != nil {
			fmt.Fprintln(os.Stderr, "give up root:", err)
			return 2
		}
	}
	// The kernel forgets the wish to die with the parent when the user changes.
	if err := dieWith(parent); err != nil {
		return 2
	}
	os.Args = append([]string{args[3]}, args[4:]...)
	return run(args[4:])
}

func dropTo(uid, gid int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(gid); err != nil {
		return err
	}
	return syscall.Setuid(uid)
}

// errOrphaned is a parent that was gone before we could wish to die with it.
var errOrphaned = errors.New("the supervisor has ended")

// programCommand is how the supervisor calls itself to run j's in-binary program.
func programCommand(j job) (path string, argv []string) {
	head := []string{"brokermark", programArg, strconv.Itoa(j.UID), strconv.Itoa(j.GID), strconv.Itoa(os.Getpid()), j.Program}
	return self, append(head, j.Args...)
}
