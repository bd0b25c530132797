// Package hist is the hot-path histogram: fixed buckets, lock-free recording, exact merging. It knows nothing of what
// its values mean.
package hist

// Snapshot is a frozen histogram.
type Snapshot struct{}
