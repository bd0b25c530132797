// Package suggest finds the known word that a mistyped one most likely meant.
package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// longest is how much of a word is compared, in bytes: to compare takes as long as both are, multiplied, and no known word is longer.
const longest = 100

func start(word string) string { return word[:min(len(word), longest)] }

// Nearest is the known word that differs from word in few letters, whatever their case, or else the one that Containing finds; "" when
// there is neither.
func Nearest(word string, known []string) string {
	word = start(word)
	best, least := "", max(2, len(word)/3)+1
	for _, k := range known {
		if strings.EqualFold(k, word) {
			return k
		}
		if d := levenshtein.Distance(strings.ToLower(word), strings.ToLower(k), nil); d < least && d < len(k) {
			best, least = k, d
		}
	}
	if best == "" {
		return Containing(word, known)
	}
	return best
}

// Containing is the shortest known word that has word among its parts: of compression compression.type, of p99 e2e_p99. It is "" when none
// does.
func Containing(word string, known []string) string {
	parts := func(text string) string {
		return "." + strings.ToLower(strings.NewReplacer("-", ".", "_", ".").Replace(text)) + "."
	}
	found := ""
	for _, k := range slices.Sorted(slices.Values(known)) {
		if word != "" && strings.Contains(parts(k), parts(word)) && (found == "" || len(k) < len(found)) {
			found = k
		}
	}
	return found
}

// DidYouMean is the clause that ends a complaint about word; empty when no known word is near.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// UnknownKey complains about a key with all that are allowed, and the one of them that was most likely meant.
func UnknownKey(key string, allowed []string) string {
	return fmt.Sprintf("unknown key %q; allowed: %s%s", key, strings.Join(allowed, ", "), DidYouMean(key, allowed))
}

// Closest is the known word that is most like word, however little; of equally close ones the first by name. It is ""
// only where nothing is known.
func Closest(word string, known []string) string {
	return strings.Join(ClosestFew(word, known, 1), "")
}

// ClosestFew lists the n known words that are most like word, the closest first; all of them if they are fewer.
func ClosestFew(word string, known []string, n int) []string {
	byName, word := slices.Sorted(slices.Values(known)), start(word)
	like := map[string]float64{}
	for _, k := range byName {
		like[k] = levenshtein.Similarity(k, word, nil)
	}
	slices.SortStableFunc(byName, func(a, b string) int { return cmp.Compare(like[b], like[a]) })
	return byName[:min(n, len(byName))]
}
