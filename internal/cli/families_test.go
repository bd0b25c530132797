package cli_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/cli"
	"github.com/brokermark/brokermark/internal/study"
)

var update = flag.Bool("update", false, "write the golden files; read what changed")

// bad is a command that is bad input; document is on its standard input.
type bad struct {
	args     []string
	document string
}

// families make the entries of testdata/bad-input.golden. What a setting or a command adds is in them by itself.
var families = []struct {
	name string
	list func() []bad
}{
	{"a value of another type", func() (list []bad) {
		for _, f := range study.Fields() {
			for _, v := range illTyped(f) {
				list = append(list, set(f.Path, v))
			}
		}
		return list
	}},
	{"a value beyond the bounds", func() (list []bad) {
		for _, f := range study.Fields() {
			for _, v := range beyond[f.Type] {
				if !slices.Contains(unbounded, f.Path+"="+v) {
					list = append(list, fitting(set(f.Path, v), f))
				}
			}
		}
		return list
	}},
	{"a mistyped name", func() (list []bad) {
		for _, f := range study.Fields() {
			name := f.Path[strings.LastIndexByte(f.Path, '.')+1:]
			list = append(list, set(strings.TrimSuffix(f.Path, name)+mistyped(name), "1"))
		}
		return list
	}},
	{"a setting that the measure does not use", func() (list []bad) {
		for _, f := range study.Fields() {
			for _, m := range []string{study.MeasureRate, study.MeasureSustainable} {
				if f.Measures != nil && !slices.Contains(f.Measures, m) {
					list = append(list, fitting(bad{args: []string{"check", "--measure", m, "--set", f.Path + "=" + valid(f)}}, f))
					break
				}
			}
		}
		return list
	}},
	{"a flag that there is not", func() (list []bad) {
		for _, c := range cli.Commands() {
			path := strings.Fields(c.Path)[1:]
			list = append(list, bad{args: append(slices.Clone(path), "--colour")})
		}
		return list
	}},
	{"a flag without its value", func() (list []bad) {
		for _, c := range []string{"run", "check", "report", "compare", "export", "figure", "bundle", "import", "serve"} {
			list = append(list, bad{args: []string{c, "--store"}})
		}
		return list
	}},
	{"a file without a name", func() (list []bad) {
		for _, c := range []string{"report", "compare a b", "export", "figure cost", "bundle head-to-head"} {
			list = append(list, bad{args: append(strings.Fields(c), "-o", "")}, bad{args: append(strings.Fields(c), "--output=")})
		}
		for _, c := range []string{"run --broker sim", "report", "compare a b"} {
			list = append(list, bad{args: append(strings.Fields(c), "--junit", "")})
		}
		return list
	}},
	{"a format that there is not", func() (list []bad) {
		for _, c := range []string{"run", "check", "report", "compare a b", "export", "list brokers", "pipeline load http://127.0.0.1:1"} {
			list = append(list, bad{args: append(strings.Fields(c), "--format", "tabel")})
		}
		return list
	}},
	{"a command that there is not", func() (list []bad) {
		for _, c := range []string{"benchmark", "broker start", "list studys", "pipeline client", "report latencies", "figure percentile", "list settings rabitmq", "list guarantees nats,kafka"} {
			list = append(list, bad{args: strings.Fields(c)})
		}
		return list
	}},
	{"a threshold that is none", func() (list []bad) {
		for _, c := range []string{"", "e2e_p99", "e2e_p99 >", "> 50ms", "e2e_p99 > soon", "e2e_p98.5x > 1ms", "speed > 5", "lost > 5ms", "publish_rate < 5%%", "e2e_p99 > 50ms > 60ms", "lost > -1%"} {
			list = append(list, bad{args: []string{"run", "--broker", "sim", "--rate", "none", "--fail-if", c}}) // which comes to nothing in any case
		}
		for _, c := range []string{"publish_rate", "publish_rate < 5", "publish_rate < -5 %%", "speed < -5%", "e2e_p99 > -500%"} {
			list = append(list, bad{args: []string{"compare", "a", "b", "--fail-if", c}})
		}
		return list
	}},
	{"a list with a hole", func() (list []bad) {
		for _, f := range []string{"size", "rate", "broker", "measure", "delivery", "persistence", "partitions", "replicas"} {
			list = append(list, bad{args: []string{"check", "--" + f + "=,"}}, bad{args: []string{"check", "--" + f + "="}})
		}
		return list
	}},
	{"a document", func() (list []bad) {
		for _, d := range badDocuments {
			list = append(list, bad{args: []string{"check", "-"}, document: d})
		}
		return list
	}},
}

func set(path, value string) bad { return bad{args: []string{"check", "--set", path + "=" + value}} }

// fitting adds what a setting needs to mean anything, so that the complaint is about its value.
func fitting(b bad, f study.Field) bad {
	switch {
	case strings.HasPrefix(f.Path, "pipeline."):
		b.args = append(b.args, "--broker", "rabbitmq")
	case f.Measures != nil && !slices.Contains(b.args, "--measure"):
		b.args = append(b.args, "--measure", f.Measures[0])
	}
	return b
}

// illTyped are values that are none of a setting's.
func illTyped(f study.Field) []string {
	if len(f.Allowed) > 0 {
		return []string{f.Allowed[0][:len(f.Allowed[0])-1], "5"}
	}
	return map[string][]string{
		"whole number": {"many", "1.5"}, "number": {"much"}, "time": {"soon", "5"}, "size": {"wide"}, "true or false": {"perhaps"},
		"size, or list of {size, weight}": {"wide", "100:x"}, "list of {rate, for}": {"5"}, "list of {latency, quantile}": {"5"},
		"list of {at, do, node, for}": {"5"}, "list of numbers": {"5"}, "mapping of metrics to bounds": {"5"}, "native settings": {"5"},
	}[f.Type]
}

// beyond are values of the right type that no setting of it takes.
var beyond = map[string][]string{
	"whole number": {"-7", "9223372036854775808"}, "number": {"-7", ".nan"}, "time": {"-5s", "9999999h"}, "size": {"-5", "9EiB"},
}

// unbounded are settings that take such a value all the same.
var unbounded = []string{"seed=-7"}

// mistyped is a name with one letter twice, as fast fingers have it.
func mistyped(name string) string { return name[:2] + name[1:] }

func valid(f study.Field) string {
	if len(f.Allowed) > 0 {
		return f.Allowed[0]
	}
	return map[string]string{
		"whole number": "2", "number": "0.5", "time": "2s", "size": "1KiB", "true or false": "true", "list of {rate, for}": "[{rate: 5, for: 2s}]",
		"list of {latency, quantile}": "[{latency: 5ms, quantile: 0.9}]", "list of {at, do, node, for}": "[{at: 1s, do: kill}]", "list of numbers": "[0.5]",
	}[f.Type]
}

var badDocuments = []string{
	"measure: peak\n---\nmeasure: peak\n",
	"broker: sim\nbroker: nats\n",
	"a: &a [*a]\n",
	"question: [a]\n",
	"repeats: many\n",
	"axes: {broker: []}\n",
	"axes: {topics: {from: 1, to: 0, step: 1}}\n",
	"axes: {topics: {from: 1, to: 10, step: 0}}\n",
	"axes: {topics: {from: 1, to: 10, factor: 1}}\n",
	"axes: {topics: {from: 1, to: 1000000, step: 1}}\n",
	"sweeps: [{set: {broker: sim}}, {set: {broker: nats}}]\n",
	"points: []\n",
	"points: [{broker: sim, brokr: nats}]\n",
	"scales: {quick: 5}\n",
	"scales: {quick: {set: {durration: 3s}}}\n",
	"scales: {full: {repeats: 1}}\n",
	"exhibits: [{title: A}]\n",
	"published: [{file: none.csv}]\n",
	"measure: rate\n",
	"measure: count\nload: {rate: 0}\n",
	"measure: rate\nload: {shape: ramp, rate: 5}\n",
	"measure: rate\nload: {shape: steps}\n",
	"measure: rate\nload: {shape: bursts, rate: 5}\n",
	"measure: rate\nload: {rate: 5, burst: {rate: 50, every: 1s, for: 2s}}\n",
	"measure: rate\nload: {rate: 5}\nfaults: [{at: 1h, do: kill}]\n",
	"broker: nats\nmeasure: rate\nload: {rate: 5}\nfaults: [{at: 1s, do: explode}]\n",
	"broker: nats\nmeasure: rate\nload: {rate: 5}\nfaults: [{at: 1s, do: kill, node: 9}]\n",
	"broker: nats\nmeasure: rate\nload: {rate: 5}\nfaults: [{at: 1s, do: pause}]\n",
	"broker: sim\nmeasure: rate\nload: {rate: 5}\nobjectives: {speed: 5}\n",
	"broker: sim\nmeasure: rate\nload: {rate: 5}\nobjectives: {e2e_p99: soon}\n",
	"broker: sim\nmeasure: rate\nload: {rate: 5}\nobjectives: {e2e_p99: '< 5 MB'}\n",
	"broker: sim\nmessageSize: []\n",
	"broker: sim\nmessageSize: [{size: 100}, {size: 100, weight: -1}]\n",
	"broker: sim\nmessageSize: [{size: 100, weigt: 1}]\n",
	"broker: kafka\ndelivery: exactly-once\nacks: none\n",
	"broker: kafka\nkeyDistributor: ZIPF\nzipfExponent: 1\n",
	"broker: kafka\nnodes: 2\nreplicas: 3\n",
	"broker: kafka\nattach: [h]\n",
	"broker: kafka\nattach: ['h:port']\n",
	"broker: kafka\nattach: ['h:99999']\n",
	"broker: kafka\nattach: ['h:1']\nversion: 4.3.1\nnodes: 3\n",
	"broker: kafka\nattach: ['h:1']\nserver: {num.io.threads: 4}\n",
	"broker: kafka\nserver: {num.io.threads: [1, 2]}\n",
	"broker: kafka\ntls: 'on'\ncaFile: none.pem\n",
	"broker: kafka\ncertFile: a.pem\n",
	"broker: sim\nconsumersApart: true\n",
	"broker: sim\nrelays: 1\n",
	"broker: nats\nrelays: 2\n",
	"broker: sim\npipeline: {servers: 1}\n",
	"broker: rabbitmq\npipeline: {servers: 0}\n",
	"broker: rabbitmq\npipeline: {servers: 2, balancer: none}\n",
	"broker: rabbitmq\npipeline: {serverss: 2}\n",
	"broker: rabbitmq\npipeline: {answer: later}\n",
	"warmup: {auto: true, for: 5s, max: 1s}\n",
	"inFlight: {messages: 0}\n",
	"sustainable: {width: 2}\n",
	"sustainable: {goals: [{latency: 5ms, quantile: 2}]}\n",
	"consumerDelay: 20ms\nsubscriptionsPerTopic: 0\n",
	"topics: 1000000\npartitionsPerTopic: 1000000\n",
	"passwordEnv: HOME\n",
	"!!python/object x: 1\n",
	"\xff\xfe\n",
	"measure: peak\n\tbroker: sim\n",
	"{\"measure\": \"peak\", \"brokr\": 1}\n",
	"name: x\ntopics: 1\npartitionsPerTopic: 1\nmessageSize: 1024\nproducerRate: fast\n",
}

// scratch stands for directories of the test in the golden file.
var scratch = regexp.MustCompile(`/tmp/[A-Za-z0-9_/-]+`)

// gibberish are words of libraries, which say nothing to a user.
var gibberish = regexp.MustCompile(`strconv|json:|yaml: (line|un)|%!|<nil>|invalid syntax|parsing "|unmarshal|interface \{|reflect|runtime error|goroutine|panic|0x[0-9a-f]{6}`)

// Every entry is a sentence that says which thing, what was seen and what is allowed. A setting or a command that is added
// adds entries: -update writes them, and whoever adds it reads them.
func TestBadInputOfEveryFamilyIsASentence(t *testing.T) {
	t.Setenv("HOME", "/root") // passwordEnv: HOME
	golden, err := filepath.Abs("testdata/bad-input.golden")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var b strings.Builder
	entries := 0
	for _, family := range families {
		b.WriteString("# " + family.name + "\n")
		for _, entry := range family.list() {
			r := with(t, t.Context(), entry.document, entry.args...)
			entries++
			for i, arg := range entry.args {
				if strings.ContainsAny(arg, " ") || arg == "" {
					entry.args[i] = "'" + arg + "'"
				}
			}
			name := strings.Join(entry.args, " ")
			if entry.document != "" {
				name += " <<< " + strings.TrimSpace(strings.ReplaceAll(entry.document, "\n", "; "))
			}
			if r.code != 2 {
				t.Errorf("%s: exit code %d, want 2\n%s", name, r.code, r.err)
			}
			if gibberish.MatchString(r.err) || !strings.HasPrefix(r.err, "brokermark: ") {
				t.Errorf("%s: this is no sentence for users:\n%s", name, r.err)
			}
			b.WriteString(name + "\n")
			for line := range strings.Lines(r.err) {
				b.WriteString("    " + scratch.ReplaceAllString(strings.TrimPrefix(line, "brokermark: "), "/tmp/…"))
			}
		}
	}
	if entries < 300 {
		t.Errorf("%d entries", entries)
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.SplitAfter(b.String(), "\n"), strings.SplitAfter(string(want), "\n"); !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("line %d of testdata/bad-input.golden (-update writes it):\ngot  %swant %s", i+1, got[i], want[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
}
