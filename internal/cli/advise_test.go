package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/testkit"
)

// The capacities and latencies of sim are planted: quick carries the peak in time, and small carries the rate and not the peak.
const wishOfSims = `rate: 1k
peak: 3k
size: 100
persistence: memory
p99: 200ms
hold: 1s
time: 3m
brokers:
- {name: quick, set: {broker: sim, client: {latency: 2ms, capacity: 5000}}}
- {name: small, set: {broker: sim, client: {latency: 2ms, capacity: 1200}}}
- nats
`

func TestAdviceIsMeasuredStoredAndResumed(t *testing.T) {
	testkit.Long(t) // it judges time, and the tests of this package run beside others
	dir := t.TempDir()
	db, file, page := filepath.Join(dir, "s.db"), filepath.Join(dir, "wish.yaml"), filepath.Join(dir, "decision.md")
	write(t, file, wishOfSims)
	r := brokermark(t, "advise", file, "--store", db, "--delivery", "at-least-once")
	if r.code == 7 && strings.Contains(r.err, "the generator itself was") {
		testkit.Undecided(t, "the machine was too busy to send in time:\n%s", r.err)
	}
	r.want(t, 0)
	out := strings.Join(strings.Fields(r.out), " ")
	for _, says := range []string{
		"Asked for: 1k/s, peaks of 3k/s, messages of 100", "Answer. Take quick. It carries 1k/s with an e2e p99 of", "It has room: it sustained",
		"small misses the bound: p99 at 3k/s is", "nats is ruled out:", "latency: 2ms",
	} {
		if !strings.Contains(out, says) {
			t.Errorf("the answer doesn't say %q:\n%s", says, r.out)
		}
	}
	if says := "small leaves: p99 at 3k/s is"; !strings.Contains(r.err, says) {
		t.Errorf("the progress doesn't say %q:\n%s", says, r.err)
	}
	again := brokermark(t, "advise", file, "--store", db, "--delivery", "at-least-once", "-o", page).want(t, 0)
	if strings.Count(again.err, "stored before") < 4 || strings.Contains(again.out, "n 0") {
		t.Errorf("it was measured again:\n%s", again.err)
	}
	decision, err := os.ReadFile(page)
	for _, says := range []string{"Take quick.", "How it was decided", "brokermark advise --rate 1000 --peak 3000 --size 100", "messageSize: 100"} {
		if err != nil || !strings.Contains(string(decision), says) {
			t.Errorf("%v; the decision lacks %q:\n%s", err, says, decision)
		}
	}
	out = brokermark(t, "report", "recommend", "--store", db).want(t, 0).out
	if !strings.Contains(out, "Take quick.") {
		t.Errorf("recommend says:\n%s", out)
	}
	none := brokermark(t, "advise", file, "--store", db, "--p99", "1ms").want(t, 7)
	if !strings.Contains(none.out, "None of the contenders fits. The nearest is quick") {
		t.Errorf("with a bound that none keeps:\n%s", none.out)
	}
}

func TestWishesThatCannotBeGrantedAreBadInput(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"key": "rate: 5k\npeek: 3x\n", "list": "- 5k\n", "twice": "rate: 1k\nrate: 2k\n", "rate": "rate: fast\n", "own": "rate: 1k\nbrokers:\n- {set: {}}\n"} {
		write(t, filepath.Join(dir, name+".yaml"), text)
	}
	write(t, filepath.Join(dir, "inf.yaml"), "rate: 1k\nbrokers:\n- {name: mine, set: {broker: kafka, client: {linger.ms: .inf}}}\n")
	write(t, filepath.Join(dir, "log.yaml"), "rate: 1k\nbrokers:\n- mosquitto\n- {name: mine, set: {broker: jetstream, persistence: log}}\n")
	write(t, filepath.Join(dir, "few.yaml"), "brokers:\n- {name: a, set: &s {broker: kafka, client: {"+strings.Repeat("a: 1, ", 900)+"z: 1}}}\n"+strings.Repeat("- {name: b, set: *s}\n", 300))
	write(t, filepath.Join(dir, "many.yaml"), "rate: 1k\nbrokers:\n"+strings.Repeat("- {name: b, set: {broker: kafka}}\n", 201))
	write(t, filepath.Join(dir, "names.yaml"), "rate: 1k\nbrokers: nats"+strings.Repeat(",nats", 299)+"\n")
	write(t, filepath.Join(dir, "login.yaml"), "rate: 1k\nattach: 'nats=h:1'\nbrokers:\n- {name: mine, set: {broker: nats}}\n")
	write(t, filepath.Join(dir, "text.yaml"), "rate: 1k\nbrokers: [{name: a, set: {broker: nats, client: {x: &x "+strings.Repeat("x", 1<<20)+", y: ["+strings.Repeat("*x, ", 9_000)+"]}}}]\n")
	for _, c := range []struct{ args, want string }{
		{"{tmp}/inf.yaml", "{tmp}/inf.yaml:3: brokers: mine holds a value that no setting has, such as .inf"},
		{"{tmp}/log.yaml", "{tmp}/log.yaml:4: brokers: mine: persistence is the same for all contenders; allowed: persistence at the top of the file, or --persistence"},
		{"{tmp}/few.yaml", "values where each alias stands for its anchor"},
		{"{tmp}/many.yaml", "many.yaml:2: brokers: 201 contenders; allowed: up to 200"},
		{"{tmp}/names.yaml", "names.yaml:2: brokers: 300 contenders; allowed: up to 200"},
		{"{tmp}/login.yaml --user me --password-env P", "{tmp}/login.yaml:4: brokers: mine has settings of its own, which can't be combined with a login (--user); allowed: a broker's name, or no login"},
		{"{tmp}/text.yaml", "more than 200000 values where each alias stands for its anchor"},
		{"", "--rate is missing: the messages per second that have to be carried"},
		{"--rate fast", `--rate fast: "fast" is not a rate; allowed: messages per second, such as 20000, 20k or 20k/s`},
		{"--rate 5k --peak often", `--peak often: "often" is no multiple and no rate; allowed: such as 3x or 15k`},
		{"--rate 5k --peak 1k", "--peak 1k: 1k/s is below the rate, 5k/s; allowed: a multiple such as 3x, or a rate that is no lower"},
		{"--rate 5k --p99 20", `--p99 20: "20" has no unit`},
		{"--rate 5k --p99 8s", "--p99 8s: 8s can't be judged while a rate is held for 10s"},
		{"--rate 5k --subscriptions 0", "--subscriptions 0: without a subscription nothing is received"},
		{"--rate 5k --size 7", "--size 7: messageSize: 7 bytes is too small"},
		{"--rate 5k --delivery twice", `--delivery twice: delivery: "twice" is not one of at-most-once, at-least-once, exactly-once`},
		{"--rate 5k --brokers kafak", `--brokers kafak: unknown broker "kafak"`},
		{"--rate 5k --brokers nats,nats", "--brokers nats,nats: nats is given twice"},
		{"--rate 5k --brokers nats", "no contender can keep what is asked for:\n"},
		{"--rate 5k --delivery at-most-once --persistence fsync --brokers nats", "no contender can keep what is asked for:\n"},
		{"--rate 5k --brokers jetstream --time 10s", "--time 10s: too little for 3 repetitions of 1 contender and a search, which take about"},
		{"--rate 5k --attach kafka", "--attach kafka: no contender; allowed: NAME=ADDRESS, such as kafka=host:9092"},
		{"{tmp}/key.yaml", `{tmp}/key.yaml:2: peek: unknown key; allowed: attach, rate, peak, size, subscriptions, delivery, persistence, p99, brokers, hold, time; did you mean "peak"?`},
		{"{tmp}/list.yaml", "{tmp}/list.yaml: no wishes; allowed: a mapping such as rate: 5k"},
		{"{tmp}/twice.yaml", "{tmp}/twice.yaml:2: rate: given twice, first on line 1"},
		{"{tmp}/rate.yaml", `{tmp}/rate.yaml:1: rate: "fast" is not a rate`},
		{"{tmp}/own.yaml", "{tmp}/own.yaml:3: brokers: no contender; allowed: a broker's name, or {name: mine"},
		{"{tmp}/none.yaml", "file of wishes {tmp}/none.yaml can't be read: no such file or directory"},
	} {
		args := strings.Fields("advise " + strings.ReplaceAll(c.args, "{tmp}", dir))
		r := brokermark(t, append(args, "--store", filepath.Join(dir, "never.db"))...).want(t, 2)
		if want := strings.ReplaceAll(c.want, "{tmp}", dir); !strings.Contains(r.err, strings.Split(want, "\n")[0]) {
			t.Errorf("advise %s says %q, want %q", c.args, r.err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "never.db")); err == nil {
		t.Error("bad input left a store behind")
	}
}

func TestAdviceOfRealBrokers(t *testing.T) {
	testkit.Live(t)
	testkit.Long(t)
	r := brokermark(t, "advise", "--rate", "1k", "--p99", "500ms", "--brokers", "jetstream,redis", "--hold", "2s", "--time", "75s",
		"--store", filepath.Join(t.TempDir(), "s.db"))
	if r.code != 0 && r.code != 7 || !strings.Contains(r.out, "Answer.") {
		t.Errorf("exit code %d:\n%s\n%s", r.code, r.out, r.err)
	}
	t.Log(r.out)
}
