//go:build !linux || portable

package store

import "golang.org/x/sys/unix"

// nameOfRemote takes every file system for a local one.
func nameOfRemote(*unix.Statfs_t) string { return "" }
