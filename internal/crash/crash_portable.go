//go:build !linux || portable

package crash

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// diesWithCaller does nothing: the process notices by itself when the pipe for signals is closed.
func diesWithCaller() *syscall.SysProcAttr { return nil }
