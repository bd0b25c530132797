package provision

import (
	"cmp"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// Queue reads how long the threads of this process were ready to run and waited for a core. The zero value is ready to use; it is
// safe for use by several goroutines.
type Queue struct {
	mount string // of /proc; empty: /proc

	mu    sync.Mutex
	ended time.Duration // of threads that have ended
	seen  Threads
}

// Delay returns the sum over all threads so far. The kernel forgets an ended thread's delay, so its last reading counts.
// Without the kernel's accounting Delay is 0.
func (q *Queue) Delay() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, mount := Threads{}, cmp.Or(q.mount, procfs.DefaultMountPoint)
	if fs, err := procfs.NewFS(mount); err == nil {
		if self, err := fs.Self(); err == nil {
			now = threadsOf(mount, []int{self.PID})
		}
	}
	if len(now) == 0 { // it can't be read just now
		now = q.seen
	}
	sum := time.Duration(0)
	for id, last := range q.seen {
		if t, ok := now[id]; !ok || t.Waited < last.Waited { // it has ended; its number may belong to another thread now
			q.ended += last.Waited
		}
	}
	for _, t := range now {
		sum += t.Waited
	}
	q.seen = now
	return q.ended + sum
}
