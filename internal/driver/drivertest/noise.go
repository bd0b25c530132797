package drivertest

import (
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
)

// overhear diverts what the process writes to its standard error, whoever does it, until the test ends; then anything
// that was written is a broken promise. A crash still shows on the real one.
func overhear(t *testing.T) {
	t.Helper()
	const stderr = 2
	kept, err := syscall.Dup(stderr)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(kept)
	into, err := os.CreateTemp(t.TempDir(), "stderr")
	if err != nil {
		t.Fatal(err)
	}
	terminal := os.NewFile(uintptr(kept), "stderr")
	if err := debug.SetCrashOutput(terminal, debug.CrashOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Dup3(int(into.Fd()), stderr, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Dup3(kept, stderr, 0); err != nil {
			t.Fatal(err)
		}
		_ = debug.SetCrashOutput(nil, debug.CrashOptions{})
		_ = terminal.Close()
		defer into.Close()
		if _, err := into.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(into)
		if err != nil {
			t.Fatal(err)
		}
		if noise := strings.TrimSpace(string(text)); noise != "" {
			t.Errorf("written to the terminal instead of Config.Log:\n%s", noise[:min(len(noise), 4000)])
		}
	})
}
