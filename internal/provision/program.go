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

// Main must be called first in main, and in TestMain of tests that start brokers. If this process was started to supervise a
// broker or to be one, Main does that and exits; otherwise it returns at once. Processes that are started from then on don't
// inherit files that were open when this one started.
func Main() {
	mainCalled = true
	keepInherited()
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

// keepInherited prevents processes started by this one from inheriting its starter's open files: brokers may run as another user.
func keepInherited() {
	open, _ := os.ReadDir("/dev/fd")
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// runProgram is called with USER PARENT NAME ARGS…; 0 keeps the user. An in-binary program drops its privileges itself because
// the user that it runs as may not be able to execute our file (below /root, for example).
func runProgram(args []string) int {
	runtime.LockOSThread()
	if len(args) < 3 {
		fmt.Fprintln(os.Stderr, "too few arguments to", programArg)
		return 2
	}
	user, errU := strconv.Atoi(args[0])
	parent, errP := strconv.Atoi(args[1])
	name, args := args[2], args[3:]
	run, ok := programs[name]
	if !ok || errU != nil || errP != nil {
		fmt.Fprintf(os.Stderr, "no program %q in this executable\n", name)
		return 2
	}
	// Otherwise the kernel calls it exe, after /proc/self/exe. As another user it could no longer set its name.
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0o644)
	if user != 0 {
		if err := dropTo(user); err != nil {
			fmt.Fprintln(os.Stderr, "give up root:", err)
			return 2
		}
	}
	// Changing the user clears the setting of dieWith.
	if err := dieWith(parent); err != nil {
		return 2
	}
	os.Args = append([]string{name}, args...)
	return run(args)
}

func dropTo(user int) error {
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setgid(user); err != nil {
		return err
	}
	return syscall.Setuid(user)
}

// errOrphaned means that the parent had ended before dieWith.
var errOrphaned = errors.New("the supervisor has ended")

// programCommand returns the command by which the supervisor calls itself to run j's in-binary program.
func programCommand(j job) (path string, argv []string) {
	head := []string{"brokermark", programArg, strconv.Itoa(j.User), strconv.Itoa(os.Getpid()), j.Program}
	return self, append(head, j.Args...)
}
