package testkit

import (
	"fmt"
	"os"
	"testing"
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
