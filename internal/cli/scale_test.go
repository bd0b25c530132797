package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sizedStudy is a study of two experiments in a folder with its payload. It counts, for a fixed rate would be void on a busy
// machine.
func sizedStudy(t *testing.T) (folder string) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "sized")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"study.yaml": `
base: {broker: sim, measure: count, count.messages: 600, drain: 5s, payloadFile: letters.txt}
sweeps:
- {name: first, axes: {topics: {from: 1, to: 9, step: 1}}}
- {name: second, axes: {producersPerTopic: [2, 3]}}
scales: {quick: {axes: {topics: [1, 9]}, set: {count.messages: 200}}}
`,
		"letters.txt": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestAStudyWithScalesIsRunAtItsSmallOneAndSaysSo(t *testing.T) {
	folder := sizedStudy(t)
	for want, args := range map[string][]string{
		"sized at scale quick (--scale: full, quick).": {},
		"sized at scale full (--scale: full, quick).":  {"--scale", "full"},
		"4 points, 4 repetitions":                      {},
		"11 points, 11 repetitions":                    {"--scale", "full"},
		"2 points, 2 repetitions":                      {"--only", "second"},
		"9 points, 9 repetitions":                      {"--scale", "full", "--only", "first"},
		"topics: 1, 9":                                 {"--only", "first"},
	} {
		args = append([]string{"check", folder, "--store", filepath.Join(t.TempDir(), "s.db")}, args...)
		if out := brokermark(t, args...).want(t, 0).out; !strings.Contains(out, want) {
			t.Errorf("%v: no %q in:\n%s", args, want, out)
		}
	}
}

func TestScalesAndExperimentsThatAreNotThereAreRefused(t *testing.T) {
	folder := sizedStudy(t)
	for want, args := range map[string][]string{
		"--scale ful: sized has no such scale; allowed: full, quick; did you mean \"full\"?":   {folder, "--scale", "ful"},
		"--only third: sized has no experiment \"third\"; allowed: first, second":              {folder, "--only", "third"},
		"--scale quick: head-to-head has no such scale; allowed: full":                         {"head-to-head", "--scale", "quick"},
		"--only first,third: sized has no experiment \"third\"; allowed: first, second":        {folder, "head-to-head", "--only", "first,third"},
		"--only first: head-to-head has no experiment":                                         {folder, "head-to-head", "--only", "first"},
		"--only first: command-line has no experiments with names: its document has no sweeps": {"--broker", "sim", "--only", "first"},
	} {
		for _, command := range []string{"check", "run"} {
			r := brokermark(t, append([]string{command, "--store", filepath.Join(t.TempDir(), "s.db")}, args...)...).want(t, 2)
			if !strings.Contains(r.err, want) {
				t.Errorf("%s %v: %s\nwant %s", command, args, r.err, want)
			}
		}
	}
}

func TestAFullRunOfOneExperimentGoesOnWhereItWasInterrupted(t *testing.T) {
	folder, path := sizedStudy(t), filepath.Join(t.TempDir(), "s.db")
	run := func(more ...string) string {
		return brokermark(t, append([]string{"run", folder, "--store", path, "--format", "jsonl"}, more...)...).want(t, 0).out
	}
	run("--only", "second")                                                    // other points: shorter ones
	run("--scale", "full", "--only", "first", "--set", "topics=1")             // all that was measured before the interruption
	run("--scale", "full", "--only", "second", "--set", "producersPerTopic=2") // of the other experiment
	out := brokermark(t, "check", folder, "--store", path, "--scale", "full").want(t, 0).out
	if want := "11 points, 11 repetitions, 2 of them stored already"; !strings.Contains(out, want) {
		t.Errorf("no %q in:\n%s", want, out)
	}
	run("--scale", "full", "--only", "second")
	out = brokermark(t, "check", folder, "--store", path, "--scale", "full", "--only", "second").want(t, 0).out
	if want := "2 points, 2 repetitions, 2 of them stored already"; !strings.Contains(out, want) {
		t.Errorf("no %q in:\n%s", want, out)
	}
}
