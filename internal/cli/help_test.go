package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/cli"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/studies"
)

// stored makes a store that every example over results finds something in.
func stored(t *testing.T, path string) {
	t.Helper()
	st, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := study.New("example")
	for path, values := range map[string][]string{"broker": {"kafka", "jetstream"}, "messageSize": {"100", "1KiB"}} {
		if err := s.SetAxis("--"+path, path, values); err != nil {
			t.Fatal(err)
		}
	}
	points, err := s.Points()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range points {
		for _, linger := range []int64{0, 5} {
			spec := p.Spec
			spec.Client = map[string]any{"linger.ms": linger}
			r := store.Record{
				PointID: spec.ID(), Study: "head-to-head", Label: p.Label, Axes: p.Axes, Repetition: 1, Status: store.OK,
				Began: time.Now(), Spec: spec, Result: storetest.Demo()[i].Result,
			}
			if _, err := st.Append(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// runnable tells which examples can run as they are; the others would measure for minutes, wait for a server, install or remove something,
// so only their command and flags are checked.
func runnable(args []string) bool {
	if args[0] == "run" || args[0] == "broker" {
		return args[0] == "broker" && slices.Contains(args, "status")
	}
	return args[0] != "advise" && args[0] != "tune" && args[0] != "pipeline" && args[0] != "serve" && args[0] != "agent" && !slices.Contains(args, "--yes")
}

func TestHelpEndsWithThreeExamplesThatRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"brokermark.db", "monday.db", "tuesday.db"} {
		stored(t, filepath.Join(".", name))
	}
	if err := os.WriteFile("result.json", ombResult, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range cli.Commands() {
		t.Run(c.Path, func(t *testing.T) {
			examples := strings.Split(c.Example, "\n")
			if len(examples) != 3 {
				t.Fatalf("%d examples, want 3: %q", len(examples), c.Example)
			}
			for _, example := range examples {
				line, ok := strings.CutPrefix(example, "  brokermark ")
				if !ok {
					t.Fatalf("%q is not an example", example)
				}
				line, _, _ = strings.Cut(line, " >")
				line, _, _ = strings.Cut(line, " |")
				line, _, _ = strings.Cut(line, " &&")
				args := strings.Fields(strings.ReplaceAll(line, "'", ""))
				switch {
				case args[0] == "run": // what check accepts, run runs
					brokermark(t, checking(args)...).want(t, 0)
					brokermark(t, append(args, "--help")...).want(t, 0)
				case runnable(args) && strings.Contains(line, "--fail-if"): // the fixture may well fail a gate: 7
					if r := brokermark(t, args...); r.code != 0 && r.code != 7 {
						r.want(t, 0)
					}
				case runnable(args):
					brokermark(t, args...).want(t, 0)
				default:
					brokermark(t, append(args, "--help")...).want(t, 0)
				}
			}
		})
	}
}

// checking turns the arguments of run into those of check, without the flags that only run has.
func checking(args []string) []string {
	out := []string{"check"}
	for i := 1; i < len(args); i++ {
		switch args[i] {
		case "--available", "--keep":
		case "--format", "--log", "--watch", "--metrics", "--junit":
			i++
		default:
			out = append(out, args[i])
		}
	}
	return out
}

func TestHelpShowsNoTypesOfGoAndNoMarkup(t *testing.T) {
	for _, c := range cli.Commands() {
		help := brokermark(t, append(strings.Fields(c.Path)[1:], "--help")...).want(t, 0).out
		for _, never := range []string{"stringToString", "(default [])", "`"} {
			if strings.Contains(help, never) {
				t.Errorf("%s --help contains %q", c.Path, never)
			}
		}
	}
}

func TestHelpForWhatIsNoCommandIsBadInput(t *testing.T) {
	for args, want := range map[string]string{
		"help rum":              `unknown command "rum" for "brokermark"; did you mean "run"?`,
		"help list broker":      `unknown command "broker" for "brokermark list"; did you mean "brokers"?`,
		"help list brokers x":   `"brokermark list brokers" has no command "x"`,
		"help run head-to-head": `"brokermark run" has no command "head-to-head"`,
	} {
		if r := brokermark(t, strings.Fields(args)...); r.code != 2 || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: exit code %d, %q, %.40q; want %q", args, r.code, r.err, r.out, want)
		}
	}
	for _, args := range []string{"", "run", "list brokers", "help", "completion bash"} {
		asked, flagged := brokermark(t, strings.Fields("help "+args)...).want(t, 0), brokermark(t, strings.Fields(args+" --help")...).want(t, 0)
		if asked.out == "" || asked.out != flagged.out {
			t.Errorf("help %s:\n%s\n%s --help:\n%s", args, asked.out, args, flagged.out)
		}
	}
}

func TestHelpListsTheExitCodes(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"run", "--help"}} {
		out := brokermark(t, args...).want(t, 0).out
		for _, e := range cli.ExitCodes {
			if !strings.Contains(out, e.Meaning) {
				t.Errorf("%v doesn't explain exit code %d", args, e.Code)
			}
		}
	}
}

func TestEverythingListedIsListed(t *testing.T) {
	for what, want := range map[string]string{
		"brokers": "rabbitmq", "studies": "head-to-head", "reports": "summary", "metrics": "throughput", "settings": "load.rate", "settings sim": "client.capacity",
	} {
		for _, format := range []string{"table", "markdown", "csv", "jsonl"} {
			args := append([]string{"list"}, strings.Fields(what)...)
			if out := brokermark(t, append(args, "--format", format)...).want(t, 0).out; !strings.Contains(out, want) {
				t.Errorf("list %s as %s lacks %q:\n%s", what, format, want, out)
			}
		}
	}
}

func TestDoctorSaysWhatEachBrokerNeeds(t *testing.T) {
	out := brokermark(t, "doctor").want(t, 0).out
	for _, want := range []string{"clock source", "cores", "open files", "kafka@", "rabbitmq@", "What will be doubted"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
}

func TestCheckCountsThePlanAndWhatIsStored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	args := short("--store", path, "--axis", "messageSize=50,100", "--repeat", "3")
	brokermark(t, short("--store", path, "--axis", "messageSize=50,100")...).want(t, 0)
	args[0] = "check"
	out := brokermark(t, args...).want(t, 0).out
	if want := "2 points, 6 repetitions, 2 of them stored already"; !strings.Contains(out, want) {
		t.Errorf("no %q in:\n%s", want, out)
	}
}

func TestTheStudiesThatComeAlongAreValid(t *testing.T) {
	for _, name := range studies.Names() {
		brokermark(t, "check", name, "--store", filepath.Join(t.TempDir(), "s.db")).want(t, 0)
	}
}

func TestCompletionIsThere(t *testing.T) {
	if out := brokermark(t, "completion", "bash").want(t, 0).out; !strings.Contains(out, "brokermark") {
		t.Errorf("completion: %s", out)
	}
}

func TestWhatManySettingsSayIsSaidOnceToPeopleAndInEachRowToPrograms(t *testing.T) {
	const sentence = "Kafka's topic configuration of that name"
	for format, many := range map[string]bool{"table": false, "markdown": false, "csv": true, "jsonl": true} {
		r := brokermark(t, "list", "settings", "kafka", "--format", format).want(t, 0)
		said := strings.Count(strings.ReplaceAll(r.out, "\n", " "), sentence)
		if many && said < 20 || !many && said != 1 {
			t.Errorf("as %s it is said %d times", format, said)
		}
		for _, name := range []string{"topicConfig.cleanup.policy", "topicConfig.segment.bytes", "client.linger.ms"} {
			if !strings.Contains(r.out, name) {
				t.Errorf("as %s without %s", format, name)
			}
		}
	}
}

func TestDoctorSaysOnceHowToInstall(t *testing.T) {
	out := brokermark(t, "doctor").want(t, 0).out // in a home where nothing is installed
	if n := strings.Count(out, "brokermark broker install "); n != 1 || strings.Count(out, "not installed yet") < 3 {
		t.Errorf("it says %d times how to install:\n%s", n, out)
	}
}

// Gates sum counts of messages: a median would hide a single loss (decision 015).
func TestHelpSaysHowAGateSumsUpCounts(t *testing.T) {
	text := strings.Join(strings.Fields(brokermark(t, "report", "--help").out), " ")
	if !strings.Contains(text, "by the median of its repetitions, a count of messages by their sum;") {
		t.Error(text)
	}
}
