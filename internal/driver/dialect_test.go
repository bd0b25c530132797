package driver

import (
	"slices"
	"testing"
)

func TestSettingsAreWrittenInTheWordsOfEachLibrary(t *testing.T) {
	dialects := []Dialect{
		{Library: "A", Words: 0, Line: "%s=%s", Comment: "#"},
		{Library: "P", Words: 0, Line: `"%s": %s,`, Comment: "#", Python: true},
		{Library: "G", Words: 1, Line: "%s(%s),", Comment: "//"},
	}
	both := []Side{ProducerSide, ConsumerSide}
	phrases := []Phrase{
		{Setting: "wait", Sides: both[:1], Words: []string{"wait.ms", "Wait(%s * ms),"}},
		{Setting: "order", Sides: both, Words: []string{"order", "%s,"}, Values: map[string][]string{"true": {"true", NoLine}, "false": {"false", "NoOrder()"}}},
		{Setting: "kind", Sides: both[1:], Words: []string{"kind", "Kind"}, Values: map[string][]string{"best": {"finest", ""}}, Else: "ask"},
		{Setting: "much", Sides: both[1:], Words: []string{"", NoLine}, Else: "take less"},
		{Setting: "silent", Sides: both, Words: []string{"silent", "Silent"}},
	}
	for _, c := range []struct {
		values map[string]any
		want   []Pasted
	}{
		{map[string]any{"wait": int64(5), "order": true, "kind": "best", "much": 7}, []Pasted{
			{"A", "# producer\nwait.ms=5\norder=true\n# consumer\norder=true\nkind=finest\n", []string{"much 7: take less"}},
			{"P", "# producer\n\"wait.ms\": 5,\n\"order\": True,\n# consumer\n\"order\": True,\n\"kind\": \"finest\",\n", []string{"much 7: take less"}},
			{"G", "// producer\nWait(5 * ms),\n", []string{"kind best: ask"}},
		}},
		{map[string]any{"order": false, "kind": "plain"}, []Pasted{
			{"A", "# producer\norder=false\n# consumer\norder=false\nkind=plain\n", nil},
			{"P", "# producer\n\"order\": False,\n# consumer\n\"order\": False,\n\"kind\": \"plain\",\n", nil},
			{"G", "// producer\nNoOrder(),\n// consumer\nNoOrder(),\nKind(plain),\n", nil},
		}},
		{map[string]any{"silent": `x"); os.RemoveAll("/`}, []Pasted{
			{"A", "", []string{`silent x"); os.RemoveAll("/: such a value may be code there`}},
			{"P", "", []string{`silent x"); os.RemoveAll("/: such a value may be code there`}},
			{"G", "", []string{`silent x"); os.RemoveAll("/: such a value may be code there`}},
		}},
	} {
		for i, got := range Paste(dialects, phrases, c.values) {
			if want := c.want[i]; got.Library != want.Library || got.Text != want.Text || !slices.Equal(got.Without, want.Without) {
				t.Errorf("%v:\n%+v\nwant\n%+v", c.values, got, want)
			}
		}
	}
}
