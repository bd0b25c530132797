//go:build !linux || portable

package crash

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// diesWithCaller asks for nothing: the process notices that nobody can send it signals any more.
func diesWithCaller() *syscall.SysProcAttr { return nil }
