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

// Thorough tells that tests may take long.
func Thorough() bool { return os.Getenv("BROKERMARK_LONG") != "" }
