package livetest

import (
	"os"
	"testing"
)

// Long skips what takes long (clusters of JVMs, older versions) unless BROKERMARK_LONG is set, as make proof does.
func Long(t *testing.T) {
	t.Helper()
	if os.Getenv("BROKERMARK_LONG") == "" {
		t.Skip("takes long: make proof, or BROKERMARK_LONG=1, has it done")
	}
}
