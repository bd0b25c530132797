package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// The latencies of sim are planted: 30 ms is the best, and the work makes no difference to the median.
const specOfSim = `{broker: sim, measure: rate, load: {rate: 500}, messageSize: 100, duration: 500ms, warmup: 0s,
axes: {client.latency: [60ms, 30ms, 90ms], client.work: [0s, 1us]}}
`

func TestATuningIsMeasuredStoredAndResumed(t *testing.T) {
	testkit.Long(t) // a minute and a half
	dir := t.TempDir()
	db, spec := filepath.Join(dir, "s.db"), filepath.Join(dir, "spec.yaml")
	write(t, spec, specOfSim)
	args := []string{"tune", spec, "--goal", "e2e_p50", "--store", db, "--budget", "2m"}
	r := brokermark(t, args...).want(t, 0)
	out := strings.Join(strings.Fields(r.out), " ")
	for _, says := range []string{
		"Asked for: a lower e2e p50 of sim, messages of 100", "client.latency=30ms", "is better than the default: e2e p50 30", "instead of 60", "0.50",
		"client.latency 60ms 30ms", "latency: 30ms",
	} {
		if !strings.Contains(out, says) {
			t.Errorf("the answer doesn't say %q:\n%s", says, r.out)
		}
	}
	if !strings.Contains(r.err, "start: block 1,") || !strings.Contains(r.err, "confirmation 6 of") || !strings.Contains(r.err, "leaves: e2e p50 is") {
		t.Errorf("the progress says\n%s", r.err)
	}
	again := brokermark(t, append(args, "-o", filepath.Join(dir, "tuning.md"))...).want(t, 0)
	if strings.Join(strings.Fields(again.out), " ") != out || strings.Contains(again.err, "block") {
		t.Errorf("again it says\n%s%s", again.out, again.err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "tuning.md"))
	if err != nil || !strings.Contains(string(page), "Confirmations") || !strings.Contains(string(page), "Stage 1") {
		t.Errorf("%v: the record says\n%s", err, page)
	}
	if out := brokermark(t, "report", "recommend", "--store", db).want(t, 0).out; !strings.Contains(out, "is better than the default") {
		t.Errorf("recommend says\n%s", out)
	}
}

func TestTuningsThatCannotBeDoneAreBadInput(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sim": "{broker: sim, measure: rate, load: {rate: 500}, duration: 1s}", "two": "{base: {broker: sim, measure: peak}, axes: {messageSize: [100, 200]}}",
		"kafka": "{broker: kafka, measure: sustainable, client: {linger.ms: 5}}", "curve": "{broker: kafka, measure: curve, curve: {rates: [1k, 2k]}}",
		"axis": "{base: {broker: sim, measure: peak}, axes: {client.latency: [1ms, 2ms]}}", "aims": "{broker: kafka, measure: rate, load: {rate: 1k}, objectives: {e2e_p99: < 5ms}}",
	} {
		write(t, filepath.Join(dir, name+".yaml"), text+"\n")
	}
	for _, c := range []struct{ args, want string }{
		{"sim.yaml", "sim comes with no values to try, or SPEC gives all those settings; allowed: --try path=value,value"},
		{"two.yaml", "{tmp}/two.yaml: 2 points; allowed: one, of which client, topicConfig and server settings may be axes"},
		{"kafka.yaml --goal sustained", `--goal sustained: unknown metric "sustained"`},
		{"kafka.yaml --goal total", "--goal total: measure: sustainable doesn't find it; measure: count does"},
		{"kafka.yaml --goal lost", "--goal lost: a count of messages has no interval; --subject-to can bound it"},
		{"curve.yaml", "measure: curve measures several rates"},
		{"kafka.yaml --budget 1m", "--budget 1m: too little for a race of two candidates and 6 confirmations of each, 18 repetitions of about"},
		{"kafka.yaml --try client.linger.ms=0", "--try 'client.linger.ms=0': client.linger.ms is given twice: also by {tmp}/kafka.yaml:1; allowed: one of them"},
		{"axis.yaml --try client.latency=3ms", "--try 'client.latency=3ms': client.latency is given twice: also by {tmp}/axis.yaml: axes; allowed: one of them"},
		{"kafka.yaml --try client.batch.size=big", `--try 'client.batch.size=big': kafka: client setting "batch.size": "big" is not a whole number`},
		{"kafka.yaml --try client.bach.size=1", `--try 'client.bach.size=1': client setting "bach.size" is unknown; did you mean "batch.size"?`},
		{"kafka.yaml --try client.batch.size=1000012", "--try 'client.batch.size=1000012': that is the default; allowed: at least one other value"},
		{"kafka.yaml --try client.batch.size=1,1", "--try 'client.batch.size=1,1': a value is given twice; allowed: each once"},
		{"kafka.yaml --try client.batch.size", "--try 'client.batch.size': no values to try; allowed: path=value,value, such as client.linger.ms=0,5,20"},
		{"kafka.yaml --try acks=leader,quorum", "--try 'acks=leader,quorum': acks is no setting of broker or client; allowed: client.NAME, topicConfig.NAME and server.NAME"},
		{"kafka.yaml --subject-to e2e_p99", "--subject-to 'e2e_p99': no bound; allowed: METRIC < VALUE"},
		{"kafka.yaml --subject-to e2e_p99<20", `--subject-to 'e2e_p99<20': "20" is no value here; allowed: a time with its unit`},
		{"aims.yaml --subject-to e2e_p99<4ms", "--subject-to 'e2e_p99<4ms': SPEC has an objective of e2e_p99, too: < 5ms; allowed: one of them"},
		{"none.yaml", "study file {tmp}/none.yaml can't be read: no such file or directory"},
	} {
		args := strings.Fields("tune " + filepath.Join(dir, c.args))
		r := brokermark(t, append(args, "--store", filepath.Join(dir, "never.db"))...).want(t, 2)
		if want := strings.ReplaceAll(c.want, "{tmp}", dir); !strings.Contains(r.err, want) {
			t.Errorf("tune %s says %q, want %q", c.args, r.err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "never.db")); err == nil {
		t.Error("bad input left a store behind")
	}
}

// tune lays the values of an axis again, one by one, and must not take them for the user's own.
func TestATunedAxisIsTrustedNoMoreThanItsDocument(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PW", "secret")
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const measured = "measure: rate\nload: {rate: 100}\nduration: 1s\n"
	for name, c := range map[string]struct {
		text, says string
		flags      []string
	}{
		"file":     {"broker: nats\naxes: {server.log_file: [a, b]}\n", "server.log_file: it may have the broker load code", nil},
		"path":     {"broker: kafka\naxes: {server.num.io.threads: [4, /etc/passwd]}\n", "may be a path, an address or an expression", nil},
		"address":  {"broker: pulsar\naxes: {client.webServiceUrl: ['http://127.0.0.1:1', 'http://127.0.0.1:2']}\n", "which your login would be shown to", []string{"--attach", "127.0.0.1:9", "--set", "user=u", "--set", "passwordEnv=PW"}},
		"values":   {"broker: kafka\naxes: {client.linger.ms: {from: 1, to: 1001, step: 1}}\n", "values to try; allowed: up to 1000", nil},
		"two axes": {"broker: nats\naxes: {client.PingInterval: [1m, 2m], server.log_file: [a, b]}\n", "server.log_file: it may have the broker load code", nil},
	} {
		args := append([]string{"tune", write(strings.ReplaceAll(name, " ", "-")+".yaml", c.text+measured), "--goal", "e2e_p99", "--budget", "1s", "--store", filepath.Join(dir, "never.db")}, c.flags...)
		if r := brokermark(t, args...).want(t, 2); !strings.Contains(r.err, c.says) {
			t.Errorf("%s: %q, want %q", name, r.err, c.says)
		}
	}
}
