package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lines of go test -json about one test each.
const (
	passed = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA"}
`
	again = `{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: 12 ms late\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"pass","Package":"p","Test":"TestB"}
`
	cut = `{"Action":"run","Package":"p","Test":"TestC"}
`
	failed = cut + `{"Action":"fail","Package":"p","Test":"TestC"}
`
)

func skipped(why string) string {
	return `{"Action":"run","Package":"p","Test":"TestD"}
{"Action":"output","Package":"p","Test":"TestD","Output":"    d_test.go:3: ` + why + `\n"}
{"Action":"skip","Package":"p","Test":"TestD"}
`
}

func TestReport(t *testing.T) {
	for title, c := range map[string]struct {
		events string
		ci     bool
		counts bool   // whether the run counts
		says   string // among other lines
	}{
		"nothing ran":                    {"", false, false, "0 passed, 0 failed, 0 skipped"},
		"a test failed":                  {passed + failed, false, false, "1 passed, 1 failed, 0 skipped"},
		"a test never ended":             {passed + cut, false, false, "1 passed, 1 failed, 0 skipped"},
		"only skips":                     {skipped("takes long: make proof"), false, false, "0 passed, 0 failed, 1 skipped"},
		"a skip of an unknown kind":      {passed + skipped("kafka can't be installed here"), false, false, "d_test.go:3: kafka can't be installed here"},
		"a kind inside of a reason":      {passed + skipped("today this takes long: no"), false, false, "d_test.go:3: today this takes long: no"},
		"a machine that lacks something": {passed + skipped("lacking: no namespaces"), false, true, "p TestD: no namespaces"},
		"CI's machine lacks something":   {passed + skipped("lacking: no namespaces"), true, false, "must lack nothing"},
		"a machine that was too busy":    {passed + skipped("too busy to judge: 1.1 of 1 cores"), true, true, "p TestD: 1.1 of 1 cores"},
		"all passed":                     {passed, true, true, "1 passed, 0 failed, 0 skipped"},
		"a test that takes long":         {passed + skipped("takes long: make proof"), true, true, "skipped, takes long: 1"},
		"a test that passed at last":     {passed + again, true, true, "p TestB: pass; first:\n    b_test.go:7: 12 ms late"},
	} {
		t.Run(title, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "tests.json")
			if err := os.WriteFile(path, []byte(c.events), 0o600); err != nil {
				t.Fatal(err)
			}
			tests := map[name]*outcome{}
			if err := read(path, tests); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if counts := report(&out, tests, c.ci); counts != c.counts || !strings.Contains(out.String(), c.says) {
				t.Errorf("counts %v, want %v:\n%s", counts, c.counts, out.String())
			}
		})
	}
}

func TestReadRefusesWhatIsNoEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tests.json")
	if err := os.WriteFile(path, []byte(passed+"DONE 12 tests\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := read(path, map[name]*outcome{}); err == nil {
		t.Error("no error")
	}
}
