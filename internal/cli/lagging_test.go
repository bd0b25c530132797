package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestASubscriptionThatLagsIsReportedApart(t *testing.T) {
	db := filepath.Join(t.TempDir(), "s.db")
	args := []string{
		"--broker", "sim", "--measure", "backlog", "--subscriptions", "2", "--rate", "10k", "--duration", "300ms", "--set", "backlog.messages=2000",
		"--set", "backlog.subscriptions=1", "--set", "backlog.rate=2k", "--set", "backlog.drainRatio=0", "--set", "client.latency=3ms", "--store", db,
	}
	measured(t, append([]string{"run"}, args...)...).want(t, 0)
	out := strings.Join(strings.Fields(brokermark(t, "report", "summary", "--store", db).want(t, 0).out), " ")
	for _, says := range []string{"the latencies are those of the others while it drains", "lagging, p99", "filling, p99"} {
		if !strings.Contains(out, says) {
			t.Errorf("no %q in\n%s", says, out)
		}
	}
	brokermark(t, "report", "--store", db, "--fail-if", "e2e_lagging_p99 < 100ms", "--fail-if", "e2e_p50 < 3ms", "--fail-if", "e2e_filling_p50 < 3ms").want(t, 0)
	brokermark(t, "check", "--broker", "sim", "--rate", "5", "--fail-if", "e2e_lagging_p99 > 1s").want(t, 2)
}
