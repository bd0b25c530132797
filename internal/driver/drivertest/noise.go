package drivertest

import (
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is the process's standard error, redirected into a file: any output there is a broken promise. A crash still shows on
// the real one.
type terminal struct{ file *os.File }

const stderr = 2

// overhear redirects standard error until the test ends.
func overhear(t *testing.T) *terminal {
	t.Helper()
	kept, err := syscall.Dup(stderr)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(kept)
	file, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	screen := os.NewFile(uintptr(kept), "stderr")
	if err := debug.SetCrashOutput(screen, debug.CrashOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup2(int(file.Fd()), stderr); err != nil {
		t.Fatal(err)
	}
	o := &terminal{file}
	t.Cleanup(func() {
		if err := unix.Dup2(kept, stderr); err != nil {
			t.Fatal(err)
		}
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = screen.Close()
		o.requireSilence(t)
		_ = file.Close()
	})
	return o
}

// requireSilence fails the test if anything was written, and clears the file.
func (o *terminal) requireSilence(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(o.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	if noise := strings.TrimSpace(string(text)); noise != "" {
		t.Errorf("written to the terminal instead of Config.Log:\n%s", noise[:min(len(noise), 4000)])
	}
	if err := o.file.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if _, err := o.file.Seek(0, io.SeekStart); err != nil { // the redirected standard error shares the position
		t.Fatal(err)
	}
}
