package cli_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/driver"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/testkit"
)

// Valid specs of all brokers, measures and settings are changed at random: check must neither panic nor hang, and its exit
// code must be right: that of before where the change means nothing, 2 with a sentence where it can't be right.
func TestNoSpecMakesCheckPanicOrHangOrEndWithAWrongCode(t *testing.T) {
	mutants := 2_000
	if testkit.Thorough() {
		mutants = 100_000
	}
	seed := testkit.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	t.Chdir(t.TempDir()) // which has no store, and keeps whatever a document may have written
	specs := validSpecs(t, r, mutants/20)
	count := map[string]int{}
	for range mutants {
		spec := specs[r.IntN(len(specs))]
		m := mutations[r.IntN(len(mutations))]
		promise, text := m.promise, m.change(r, spec.text)
		for range r.IntN(3) { // more of those that promise nothing
			if promise != anything || text == nil {
				break
			}
			if next := mutations[r.IntN(len(mutations))]; next.promise == anything && len(text) > 0 {
				if more := next.change(r, string(text)); more != nil {
					text = more
				}
			}
		}
		if text == nil {
			continue
		}
		got := checked(t, text)
		if why := wrong(text, promise, spec.plan, got); why != "" {
			t.Fatalf("seed %d, %s: %s\nexit code %d\nstderr: %.2000s\nstdout: %.2000s\nof\n%.4000s\nwhich was\n%.4000s", seed, m.name, why, got.code, got.err, got.out, text, spec.text)
		}
		count[fmt.Sprintf("%s: exit code %d", m.name, got.code)]++
	}
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%5d × %s", count[kind], kind)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("check wrote %v, %v", left, err)
	}
}

// longest is how long a check of one document may take, on a machine that does other things as well.
const longest = 20 * time.Second

// checked runs check on a document. A check that hangs ends the test program, with the document.
func checked(t *testing.T, document []byte) result {
	late := time.AfterFunc(longest, func() { panic(fmt.Sprintf("check hangs for %s on\n%.8000s", longest, document)) })
	defer late.Stop()
	return with(t, t.Context(), string(document), "check", "-", "--store", "none.db")
}

var sentence = regexp.MustCompile(`(?m)^brokermark: .{12,}`)

// lines are those of the document, which may have moved.
var lines = regexp.MustCompile(`stdin:\d+|\s+`)

// wrong says what is wrong with how check ended; "" where nothing is.
func wrong(text []byte, promise outcome, plan string, got result) string {
	var problems *study.Errors
	parsed, err := study.Parse("stdin", text)
	valid := err == nil
	if err != nil && !errors.As(err, &problems) {
		return fmt.Sprintf("Parse returned %v, which is no *study.Errors", err)
	}
	if valid {
		parsed.Distrusted = true
		if err = parsed.Scale(parsed.UsualScale()); err == nil {
			_, err = parsed.Points()
		}
		valid = err == nil
	}
	complains := sentence.MatchString(got.err)
	switch {
	case got.code != 0 && got.code != 2:
		return "neither fine nor bad input"
	case (got.code == 0) == complains:
		return "the exit code and what it says don't go together"
	case strings.Contains(got.err, "goroutine ") || strings.Contains(got.err, "runtime error"):
		return "it shows a trace"
	case got.code == 0 && !valid:
		return fmt.Sprintf("it is accepted, and invalid: %v", err)
	case promise == refused && got.code != 2:
		return "it is accepted"
	case promise == same && (got.code != 0 || lines.ReplaceAllString(got.out, "") != lines.ReplaceAllString(plan, "")):
		return "it means something else than before:\n" + plan
	}
	return ""
}

// spec is a valid document and what check says of it.
type spec struct{ text, plan string }

// validSpecs makes n.
func validSpecs(t *testing.T, r *rand.Rand, n int) []spec {
	t.Helper()
	var list []spec
	for try := 0; len(list) < n; try++ {
		if try > 200*n {
			t.Fatalf("of %d specs only %d are valid", try, len(list))
		}
		text := randomSpec(r)
		if got := checked(t, text); got.code == 0 {
			list = append(list, spec{string(text), got.out})
		} else if why := wrong(text, anything, "", got); why != "" {
			t.Fatalf("%s: exit code %d, stderr %s, of\n%s", why, got.code, got.err, text)
		}
	}
	return list
}

// randomSpec is likely to be valid: a broker and a few settings of it, alone or as a study's base with axes.
func randomSpec(r *rand.Rand) []byte {
	names := driver.Names()
	kind, err := driver.Lookup(names[r.IntN(len(names))])
	if err != nil {
		panic(err)
	}
	base := map[string]any{"broker": kind.Name}
	fields := study.Fields()
	for range 1 + r.IntN(4) {
		f := fields[r.IntN(len(fields))]
		if f.Path != "broker" && f.Path != "version" {
			put(base, f.Path, fieldValue(r, f))
		}
	}
	for range r.IntN(3) {
		if s := kind.Settings; len(s) > 0 {
			one := s[r.IntN(len(s))]
			put(base, one.Path(), settingValue(r, one))
		}
	}
	doc := base
	if r.IntN(2) == 0 {
		doc = map[string]any{"question": "Does it pay?", "repeats": 1 + r.IntN(5), "base": base}
		axes := map[string]any{"messageSize": []any{100, "1KiB"}}
		if r.IntN(2) == 0 {
			axes["guarantee"] = []any{map[string]any{"name": "loose", "set": map[string]any{"delivery": "at-most-once"}}, map[string]any{"name": "usual", "set": map[string]any{}}}
		}
		switch r.IntN(3) {
		case 0:
			doc["axes"] = axes
		case 1:
			doc["sweeps"] = []any{map[string]any{"name": "a", "axes": axes}, map[string]any{"name": "b", "set": map[string]any{"messageSize": 64}}}
		case 2:
			doc["points"] = []any{map[string]any{"messageSize": 8}, map[string]any{"messageSize": 64}}
		}
		if r.IntN(3) == 0 {
			doc["scales"] = map[string]any{"quick": map[string]any{"repeats": 1, "set": map[string]any{"duration": "3s"}}}
		}
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return text
}

// put puts a value at a path; native settings, whose names have dots, are one level deep.
func put(into map[string]any, path string, value any) {
	head, rest, deep := strings.Cut(path, ".")
	if !deep {
		into[head] = value
		return
	}
	inner, ok := into[head].(map[string]any)
	if !ok {
		inner = map[string]any{}
		into[head] = inner
	}
	if head == "client" || head == "topicConfig" {
		inner[rest] = value
		return
	}
	put(inner, rest, value)
}

func fieldValue(r *rand.Rand, f study.Field) any {
	if len(f.Allowed) > 0 {
		return f.Allowed[r.IntN(len(f.Allowed))]
	}
	switch f.Type {
	case "whole number":
		return 1 + r.IntN(4)
	case "number":
		return []any{0.5, 1, 1000, 0.99}[r.IntN(4)]
	case "time":
		return []any{"1s", "500ms", "2m"}[r.IntN(3)]
	case "size":
		return []any{64, "1KiB", "1MiB"}[r.IntN(3)]
	case "size, or list of {size, weight}":
		return []any{100, []any{map[string]any{"size": 100, "weight": 3}, map[string]any{"size": "1KiB", "weight": 1}}}[r.IntN(2)]
	case "list of {rate, for}":
		return []any{map[string]any{"rate": 1000, "for": "2s"}, map[string]any{"rate": 500, "for": "3s"}}
	case "list of {latency, quantile}":
		return []any{map[string]any{"latency": "10ms", "quantile": 0.99}}
	case "mapping of metrics to bounds":
		return map[string]any{"e2e_p99": "< 50ms"}
	case "list of {at, do, node, for}":
		return []any{map[string]any{"at": "1s", "do": "kill"}}
	case "true or false":
		return r.IntN(2) == 0
	case "list of numbers":
		return []any{0.1, 0.5, 0.9}
	case "native settings":
		return map[string]any{}
	}
	return f.Default
}

func settingValue(r *rand.Rand, s driver.Setting) any {
	if len(s.Allowed) > 0 {
		return s.Allowed[r.IntN(len(s.Allowed))]
	}
	if d, ok := s.Default.(time.Duration); ok {
		return d.String()
	}
	return s.Default
}

// The mutants' own oracle must be able to fail: each of these endings is wrong.
func TestWrongEndingsAreSeen(t *testing.T) {
	valid, invalid := []byte("broker: sim\n"), []byte("brokr: sim\n")
	said := "brokermark: something is wrong with it\n"
	for why, c := range map[string]struct {
		text    []byte
		promise outcome
		got     result
	}{
		"a crash":               {valid, anything, result{code: 1, err: said}},
		"no word":               {invalid, anything, result{code: 2}},
		"a complaint, and 0":    {valid, anything, result{code: 0, err: said}},
		"a trace":               {invalid, anything, result{code: 2, err: said + "goroutine 1 [running]"}},
		"accepted as it is":     {invalid, anything, result{code: 0}},
		"accepted all the same": {valid, refused, result{code: 0}},
		"another plan":          {valid, same, result{code: 0, out: "2"}},
		"refused":               {valid, same, result{code: 2, err: said}},
	} {
		if wrong(c.text, c.promise, "1", c.got) == "" {
			t.Errorf("%s isn't seen", why)
		}
	}
	if why := wrong(valid, same, "1", result{out: "1"}); why != "" {
		t.Error(why)
	}
}
