package study

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// many joins n of what each makes of its index.
func many(n int, each func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(each(i))
		b.WriteByte(',')
	}
	return strings.TrimSuffix(b.String(), ",")
}

// Any untrusted document takes seconds at most, and is refused before the parser takes much memory.
func TestALongDocumentIsReadOrRefusedSoon(t *testing.T) {
	number := func(i int) string { return fmt.Sprint(i + 1000) }
	for name, c := range map[string]struct {
		doc, says string
	}{
		"equal values":  {"measure: curve\ncurve.rates: [" + many(1_500_000, func(int) string { return "1" }) + "]", "f.yaml: 1500000 values or lines; allowed: 200000"},
		"other lines":   {"measure: curve\rcurve.rates:\r" + strings.Repeat("- 1\r", 400_000) + strings.Repeat("- 1\u0085", 300_000), "f.yaml: 700002 values or lines; allowed: 200000"},
		"wide letters":  {"\xff\xfea\x00:\x00 \x001\x00", "f.yaml: UTF-16; allowed: UTF-8"},
		"lines of two":  {strings.Repeat("\r\n", 190_000) + "topics: 1", ""},
		"tags":          {strings.ReplaceAll(many(190_000, func(i int) string { return fmt.Sprintf("%%TAG !a%06d! x", i) }), ",", "\n") + "\n---\ntopics: 1", "f.yaml: 190000 lines begin with %; allowed: 100"},
		"lines":         {"topics: 1\n" + strings.Repeat("\n", 300_000), "f.yaml: 300001 values or lines; allowed: 200000"},
		"rates":         {"measure: curve\ncurve.rates: [" + many(150_000, number) + "]", "f.yaml:2: curve.rates: 150000 elements; allowed: 10000"},
		"as many rates": {"measure: curve\ncurve.rates: [" + many(10_000, number) + "]", ""},
		"an axis":       {"axes: {load.rate: [" + many(10_001, number) + "]}", "f.yaml:1: load.rate: 10001 elements; allowed: 10000"},
		"axes":          {"axes: {" + many(201, func(i int) string { return fmt.Sprintf("server.a%d: [1]", i) }) + "}", "f.yaml:1: axes: 201 elements; allowed: 200"},
		"settings":      {"server: {" + many(10_001, func(i int) string { return fmt.Sprintf("a%d: 1", i) }) + "}", "f.yaml:1: server: 10001 elements; allowed: 10000"},
		"sweeps":        {"sweeps: [" + many(201, func(i int) string { return fmt.Sprintf("{name: s%d}", i) }) + "]", "f.yaml:1: sweeps: 201 elements; allowed: 200"},
		"rules":         {"exclude: [" + many(201, func(int) string { return "{topics: 1}" }) + "]", "f.yaml:1: exclude: 201 elements; allowed: 200"},
		"points of many rules": {"axes: {topics: {from: 1, to: 100, step: 1}, size: {from: 100, to: 199, step: 1}}\nexclude: [" + many(199, func(i int) string {
			return fmt.Sprintf("{partitions: 1, producers: 1, subscriptions: 1, nodes: 1, replicas: 1, consumers: 1, tls: off, topics: 1, size: %d}", 100+i/2)
		}) + "]", ""},
		"values of a rule":    {"axes: {load.rate: [" + many(10_000, number) + "]}\nexclude: [{load.rate: [" + many(9_999, number) + "]}]", ""},
		"no values of a rule": {"axes: {load.rate: [" + many(10_000, number) + "]}\nexclude: [{load.rate: [" + many(10_000, func(i int) string { return fmt.Sprint(i + 100_000) }) + "]}]", "100000 is not one of 1000, 1001"},
		"no names of a rule": {"axes: {x: [" + many(10_000, func(i int) string { return fmt.Sprintf("{name: a%d, set: {load.rate: %d}}", i, i+5) }) + "]}\nexclude: [{x: [" +
			many(10_000, func(i int) string { return fmt.Sprintf("b%d", i) }) + "]}]", `"b0" is not one of a0`},
		"conditions": {"exclude: [" + many(100, func(int) string {
			return "{" + many(400, func(i int) string { return fmt.Sprintf("server.a%d: 1", i) }) + "}"
		}) + "]", "with this the rules are too many for so many sweeps, values and rules"},
		"names that a scale has": {"axes: {x: [" + many(5_000, func(i int) string { return fmt.Sprintf("{name: a%d%0200d, set: {load.rate: %d}}", i, 0, i+5) }) + "]}\n" +
			"scales: {small: {axes: {x: [" + many(5_000, func(i int) string { return fmt.Sprintf("b%d%020d", i, 0) }) + "]}}}", "is not one of a0"},
		"axes of a scale": {"axes: {" + many(200, func(i int) string { return fmt.Sprintf("a%d%0200d: [{name: x, set: {server.a%d: 1}}]", i, 0, i) }) + "}\n" +
			"sweeps: [" + many(200, func(i int) string { return fmt.Sprintf("{name: s%d}", i) }) + "]\nscales: {small: {sweeps: {" + many(200, func(i int) string {
			return fmt.Sprintf("s%d: {axes: {%s}}", i, many(200, func(i int) string { return fmt.Sprintf("b%d: [1]", i) }))
		}) + "}}}", "no such axis; it has a0"},
		"axes of exhibits": {"sweeps: [{name: s, axes: {" + many(200, func(i int) string { return fmt.Sprintf("a%d%0200d: [{name: x, set: {server.a%d: 1}}]", i, 0, i) }) + "}}]\n" +
			"exhibits: [" + many(15, func(int) string {
			return "{title: t, experiment: s, rows: r, columns: [lost], where: {" + many(9_000, func(i int) string { return fmt.Sprintf("b%d: 1", i) }) + "}}"
		}) + "]", "has no axis"},
		"goals":               {"sustainable.goals: [" + many(201, func(i int) string { return fmt.Sprintf("{latency: %dms}", i+1) }) + "]", "f.yaml:1: sustainable.goals: 201 goals; allowed: 200"},
		"lists of points":     {"measure: curve\ncurve.rates: {from: 1000, to: 10999, step: 1}\naxes: {topics: {from: 1, to: 1000, step: 1}}", "f.yaml: axes: 1000 points of 10003 settings each; allowed: 5000000 settings in all"},
		"faults":              {"duration: 1h\nload.rate: 100\nfaults: [" + many(201, func(i int) string { return fmt.Sprintf("{at: %ds, do: kill, node: 1, for: 1s}", i*2) }) + "]", "f.yaml:3: faults: 201; allowed: 200"},
		"aliases":             {"points:\n- &p {" + many(9_000, func(i int) string { return fmt.Sprintf("client.a%d: 1", i) }) + "}\n" + strings.Repeat("- *p\n", 90_000), "f.yaml: more than 200000 values where each alias stands for its anchor; allowed: 200000"},
		"an anchor in itself": {"base: &b {client: *b}", "f.yaml: more than 200000 values where each alias stands for its anchor"},
		"wide points":         {"client: {" + many(5_000, func(i int) string { return fmt.Sprintf("a%d: 1", i) }) + "}\naxes: {load.rate: {from: 1, to: 10000, step: 1}}", "f.yaml: axes: 10000 points of 5001 settings each; allowed: 5000000 settings in all"},
		"a long text":         {"client: {a: " + strings.Repeat("x", 1<<20) + "}\naxes: {load.rate: {from: 1, to: 5000, step: 1}}", "f.yaml: axes: 5000 points of 4098 settings each; allowed: 5000000 settings in all"},
		"aliases of a text":   {"question: &x " + strings.Repeat("x", 1<<20) + "\nclient: {a: [" + strings.Repeat("*x, ", 9_000) + "]}", "f.yaml: more than 200000 values where each alias stands for its anchor"},
		"aliases of a name":   {"question: &x " + strings.Repeat("x", 1<<20) + "\nclient: {b: [" + strings.Repeat("{*x : 1}, ", 9_000) + "]}", "f.yaml: more than 200000 values where each alias stands for its anchor"},
		"points":              {"points: [" + many(15_000, func(i int) string { return fmt.Sprintf("{load.rate: %d}", i+5) }) + "]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			s, err := Parse("f.yaml", []byte(c.doc))
			if err == nil {
				_, err = s.Points()
			}
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%.300v; want %q", err, c.says)
			}
			if took := time.Since(began); took > 20*time.Second { // some 2 s alone; minutes where it is quadratic
				t.Errorf("it took %s", took)
			}
		})
	}
}

// Files of other tools are read with little more than this before them.
func TestAFileThatStandsForTooMuchDoesNotFit(t *testing.T) {
	long := "- &x " + strings.Repeat("x", 1<<20) + "\n"
	if _, err := Tree("f.yaml", []byte(long+"- {params: ["+strings.Repeat("*x, ", 1_000)+"]}\n")); err == nil || !strings.Contains(err.Error(), "where each alias stands for its anchor") {
		t.Error(err)
	}
	if _, err := Tree("f.yaml", []byte(long+"- {params: [*x]}\n")); err != nil {
		t.Error(err)
	}
}

// A line of one byte takes a hundred once it is a payload.
func TestOfTooManyPayloadsNoMoreAreTakenThanThatSays(t *testing.T) {
	text := bytes.Repeat([]byte("x\n"), maxPayloads+1000)
	for _, name := range []string{"f.jsonl", "f.csv"} {
		column := ""
		if name == "f.csv" {
			column = "x"
		}
		if held, err := payloadsIn(name, text, column); err != nil || len(held) != maxPayloads+1 {
			t.Errorf("%s: %d payloads, %v", name, len(held), err)
		}
	}
}
