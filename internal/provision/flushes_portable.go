//go:build !linux || portable

package provision

import "errors"

// Flushes counts nothing here.
type Flushes struct{}

// WatchFlushes is refused: only Linux reports which process flushes.
func WatchFlushes() (*Flushes, error) {
	return nil, errors.New("flushes can only be counted on Linux")
}

// Of knows of none.
func (*Flushes) Of([]int) (calls, gaps int64) { return 0, 0 }

// Close has nothing to end.
func (*Flushes) Close() {}
