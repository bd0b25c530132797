package livetest

import (
	"testing"
	"time"
)

// Patience is the time limit of a test for something that a healthy broker does within a moment, even on a busy machine.
const Patience = time.Minute

// Within reports whether ok comes true before bound is over.
func Within(bound time.Duration, ok func() bool) bool {
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

// Eventually ends the test where ok does not come true within Patience.
func Eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !Within(Patience, ok) {
		t.Fatalf("never happened: %s", what)
	}
}

// Must ends the test on an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
