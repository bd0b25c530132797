package cli_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// suggested is what a shell is offered for the last word.
func suggested(t *testing.T, words ...string) []string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(brokermark(t, append([]string{"__complete"}, words...)...).want(t, 0).out), "\n")
	return lines[:len(lines)-1] // the last is how to go on
}

func TestCompletionKnowsValues(t *testing.T) {
	db := filepath.Join(t.TempDir(), "s.db")
	brokermark(t, short("--store", db, "--axis", "client.latency=1ms,2ms")...).want(t, 0)
	for _, c := range []struct {
		words string // the last one is being typed; _ is an empty one
		want  string
		never string
	}{
		{"run --measure pe", "peak", "rate"},
		{"run --measure rate,pe", "rate,peak", "rate,rate"},
		{"run --broker ka", "kafka", "nats"},
		{"run --broker nats,ka", "nats,kafka", "kafka"},
		{"run --delivery _", "at-least-once", ""},
		{"run --format _", "jsonl", "html"},
		{"report --format _", "html", ""},
		{"report --fail-if e2e_p9", "e2e_p99", "lost"},
		{"figure heatmap --metric publish_", "publish_rate", "lost"},
		{"export --latency _", "e2e_service", ""},
		{"run --set client.lin", "client.linger.ms=", "client.latency="},
		{"run --broker sim --set client.", "client.latency=", "client.linger.ms="},
		{"run --set ordering=o", "ordering=ordered", ""},
		{"report --store " + db + " --where _", "client.latency=", "delivery="},
		{"report --store " + db + " --where client.latency=", "client.latency=2ms", ""},
		{"report --store " + db + " --where broker=sim,client.latency=", "broker=sim,client.latency=1ms", ""},
		{"compare --store " + db + " s", "sim", ""},
		{"compare --store " + db + " client.latency=1ms client.latency=", "client.latency=2ms", "client.latency=1ms"},
		{"broker down _", "", "sim"},
	} {
		words := strings.Fields(c.words)
		words[len(words)-1] = strings.TrimSuffix(words[len(words)-1], "_")
		got := suggested(t, words...)
		if c.want != "" && !slices.Contains(got, c.want) || c.never != "" && slices.Contains(got, c.never) {
			t.Errorf("%s: suggested %q, want %q and not %q", c.words, got, c.want, c.never)
		}
	}
}
