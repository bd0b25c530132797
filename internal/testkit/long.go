// Package testkit holds what tests of several packages ask of the machine they run on.
package testkit

import (
	"os"
	"testing"
)

// Long skips what takes long unless BROKERMARK_LONG is set, as make proof does.
func Long(t testing.TB) {
	t.Helper()
	if !Thorough() {
		t.Skip("takes long: make proof, or BROKERMARK_LONG=1, has it done")
	}
}

// NotShort skips a test that takes long where -short is asked for: under the race detector, where other tests run the same code.
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long under the race detector, where other tests run the same code")
	}
}

// Thorough tells that tests may take long.
func Thorough() bool { return os.Getenv("BROKERMARK_LONG") != "" }
