package testkit

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A skip says of which kind it is, and make test lists those of kind Lacking at its end and fails for any other text: see
// the program ladder.
const (
	TakesLong     = "takes long"
	NeedsBrokers  = "needs brokers"
	NotApplicable = "not applicable"
	Lacking       = "lacking"
	Busy          = "too busy to judge"
)

// live is the environment variable that lets tests install and start brokers, browsers and databases.
const live = "BROKERMARK_LIVE"

// Long skips a test that takes long unless BROKERMARK_LONG is set, as make proof does.
func Long(t testing.TB) {
	t.Helper()
	if !Thorough() {
		skip(t, TakesLong, "make proof, or BROKERMARK_LONG=1, runs it")
	}
}

// NotShort skips a test that takes long where -short is asked for: in make quick, and under the race detector, where other tests run
// the same code.
func NotShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		skip(t, TakesLong, "not with -short")
	}
}

// Live skips a test that may install something, or start a broker, a browser or a database of this machine, unless make test runs it.
func Live(t testing.TB) {
	t.Helper()
	if !everything() {
		skip(t, NeedsBrokers, "make test, or "+live+"=1, installs and starts them")
	}
}

// Without skips a test of something that its subject doesn't have.
func Without(t testing.TB, format string, args ...any) {
	t.Helper()
	skip(t, NotApplicable, fmt.Sprintf(format, args...))
}

// Lacks skips a test that this machine can't run, such as one that only another system or a user without rights can run. CI fails
// where a machine lacks more than CI's own machines do.
func Lacks(t testing.TB, format string, args ...any) {
	t.Helper()
	skip(t, Lacking, fmt.Sprintf(format, args...))
}

// Undecided ends a test that could not judge because this machine was busy with something else: make test fails, and runs it again
// where its package judges time. Under the race detector and in make quick, which judge no figures, it skips the test.
func Undecided(t testing.TB, format string, args ...any) {
	t.Helper()
	if everything() {
		t.Fatalf("could not be tested: "+format, args...)
	}
	skip(t, Busy, fmt.Sprintf(format, args...))
}

func skip(t testing.TB, kind, why string) {
	t.Helper()
	t.Skipf("%s: %s", kind, why)
}

func everything() bool { return os.Getenv(live) != "" }

// Thorough reports whether tests may take long.
func Thorough() bool { return os.Getenv("BROKERMARK_LONG") != "" }

// Within returns the longest that something may take: d, or far longer under the race detector, where no figure is judged.
func Within(d time.Duration) time.Duration {
	if Racing {
		return 100 * d
	}
	return d
}

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
