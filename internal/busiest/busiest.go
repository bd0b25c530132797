// Package busiest finds the goroutine of this process that used most of a core for a while. It knows nothing of what the goroutines do.
//
// Work that has to be done one piece after the other, such as reading a connection, can't use more than one core, however many there are.
// The processor time of threads doesn't show it: the runtime moves a goroutine that never waits to another thread about every 10 ms, so
// that a read loop with a core of its own was seen to spread over several threads, the busiest at 0.55 of a core. The runtime's CPU
// profile, a hundred samples per second of processor time, knows the goroutines' stacks and labels.
package busiest

import (
	"bytes"
	"context"
	"path"
	"runtime/pprof"
	"strings"
	"time"
)

// owner is the label of goroutines that Do runs.
const owner = "owner"

// Do calls f with a name for the goroutine, and for all that it starts meanwhile: "consumer 3". By the names, goroutines that do the same
// for several owners are told apart.
func Do(ctx context.Context, name string, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels(owner, name), f)
}

// Goroutine is a goroutine, or several that began in the same function for the same owner: these can't be told apart.
type Goroutine struct {
	Name  string  // "nats.go.(*Conn).readLoop of consumer 0"; empty: not known
	Share float64 // of one core, from 0 to 1 for a single goroutine
}

// Watch watches this process from Start on.
type Watch struct {
	began   time.Time
	profile bytes.Buffer
	seconds float64
	stopped chan struct{}
}

// Start begins to watch. It returns nil if this process is being watched already, or profiled by something else.
func Start() *Watch {
	w := &Watch{stopped: make(chan struct{})}
	if pprof.StartCPUProfile(&w.profile) != nil {
		return nil
	}
	w.began = time.Now()
	return w
}

// Stop ends watching. It returns at once, though the runtime takes up to 200 ms to end it. It must be called once.
func (w *Watch) Stop() {
	w.seconds = time.Since(w.began).Seconds()
	go func() {
		pprof.StopCPUProfile()
		close(w.stopped)
	}()
}

// Busiest returns the goroutine that used most processor time from Start to Stop, and blocks until that is known. The runtime's own
// goroutines are left out.
func (w *Watch) Busiest() Goroutine {
	<-w.stopped
	samples, err := unpacked(&w.profile)
	if err != nil || w.seconds <= 0 {
		return Goroutine{}
	}
	name, used := most(samples)
	return Goroutine{Name: name, Share: used.Seconds() / w.seconds}
}

// sample is processor time of goroutines with the same stack and owner.
type sample struct {
	Stack
	root  string // the function in which they began (rootOf), with the path of its package
	owner string
}

// rootOf returns the function in which a goroutine began, by its stack from the outermost frame inwards. What only starts goroutines is left
// out: sync.WaitGroup and errgroup.
func rootOf(frames []string) string {
	for _, f := range frames {
		if strings.HasPrefix(f, "sync.") || strings.Contains(f, "/errgroup.") {
			continue
		}
		name, _, _ := strings.Cut(f, ".func") // a closure is named after the function around it
		return name
	}
	return ""
}

// most returns the goroutine with the most processor time; no name if only the runtime used any.
func most(samples []sample) (name string, used time.Duration) {
	type key struct{ root, owner string }
	sums := map[key]time.Duration{}
	for _, s := range samples {
		if s.root == "" || strings.HasPrefix(s.root, "runtime.") {
			continue
		}
		k := key{s.root, s.owner}
		sums[k] += s.Used
		if sums[k] <= used {
			continue
		}
		name, used = path.Base(k.root), sums[k]
		if k.owner != "" {
			name += " of " + k.owner
		}
	}
	return name, used
}
