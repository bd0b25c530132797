//go:build !linux || portable

package store

import "golang.org/x/sys/unix"

// nameOfRemote takes every file system for one of this machine.
func nameOfRemote(*unix.Statfs_t) string { return "" }
