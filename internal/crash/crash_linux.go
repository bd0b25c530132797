//go:build !portable

package crash

import "syscall"

// executable stays right when the file is replaced or removed while it runs.
func executable() (string, error) { return "/proc/self/exe", nil }

func diesWithCaller() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
