package main

import "syscall"

// diesWithUs has the kernel kill the process when this program ends.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
