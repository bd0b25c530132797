package lists_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/brokermark/brokermark/internal/lists"
)

func TestLists(t *testing.T) {
	words := []string{"b", "", "a"}
	letters := func(word string) []string { return strings.Split(word, "") }
	isWord := func(word string) bool { return word != "" }
	for _, c := range []struct {
		name      string
		got, want []string
	}{
		{"Map", lists.Map(words, strings.ToUpper), []string{"B", "", "A"}},
		{"Map of nothing", lists.Map(nil, strings.ToUpper), nil},
		{"Flat", lists.Flat([]string{"bc", "", "a"}, letters), []string{"b", "c", "a"}},
		{"Filter", lists.Filter(words, isWord), []string{"b", "a"}},
		{"Filter without any", lists.Filter([]string{""}, isWord), nil},
		{"AddNew", lists.AddNew([]string{"b"}, "a", "b", "c", "a"), []string{"b", "a", "c"}},
	} {
		if !slices.Equal(c.got, c.want) || (c.got == nil) != (c.want == nil) {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	if got := lists.Join(", ", words...); got != "b, a" || words[1] != "" {
		t.Errorf("Join: %q, and the list is %q", got, words)
	}
}
