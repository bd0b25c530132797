package drivertest

import (
	"fmt"
	"sync"
	"testing"
)

// faults collects broken promises from any goroutine until a test reports them: t.Errorf must not be called from a
// driver's goroutine that may outlive the test.
type faults struct {
	mu    sync.Mutex
	seen  []string
	count int
}

const faultsShown = 8

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if len(f.seen) < faultsShown {
		f.seen = append(f.seen, fmt.Sprintf(format, args...))
	}
}

func (f *faults) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count > 0
}

func (f *faults) report(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.seen {
		t.Error(s)
	}
	if f.count > len(f.seen) {
		t.Errorf("… and %d more", f.count-len(f.seen))
	}
}
