package testkit

import (
	"flag"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Seed returns the seed of a test's random choices and logs it: the same in every make test, so that a failure is no matter of luck,
// and another one in each make proof. BROKERMARK_SEED sets it, to repeat a failure.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(1)
	text, given := os.LookupEnv("BROKERMARK_SEED")
	switch {
	case given:
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("BROKERMARK_SEED: %v", err)
		}
		seed = n
	case Thorough():
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("seed %d", seed)
	return seed
}

var seedRapid sync.Once

// Check checks a property with values that rapid draws, from the same seed as Seed.
func Check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	seedRapid.Do(func() {
		if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue { // not given on the command line
			_ = f.Value.Set(strconv.FormatUint(Seed(t), 10))
		}
	})
	rapid.Check(t, property)
}
