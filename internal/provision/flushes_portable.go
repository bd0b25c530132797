//go:build !linux || portable

package provision

import "errors"

// Flushes counts nothing on this system.
type Flushes struct{}

// WatchFlushes returns an error: only Linux reports which process flushes.
func WatchFlushes() (*Flushes, error) {
	return nil, errors.New("flushes can only be counted on Linux")
}

// Of returns 0.
func (*Flushes) Of([]int) (calls, gaps int64) { return 0, 0 }

// Close does nothing.
func (*Flushes) Close() {}
