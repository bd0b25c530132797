package results

import (
	"fmt"
	"slices"
	"strings"
)

// maxListed is how many items a sentence lists. A sweep has hundreds, which the tables show.
const maxListed = 6

// Shorten keeps the first items and the last if there are too many for a sentence, and counts those
// between: "a, b, c, d, 7 more, z". It is for items in an order, of which the ends matter.
func Shorten(items []string) []string {
	if len(items) <= maxListed {
		return items
	}
	first, last := items[:maxListed-2], items[len(items)-1]
	return append(slices.Clone(first), fmt.Sprintf("%d more", len(items)-len(first)-1), last)
}

// FirstFew names at most n items and counts the others: "a, b, c and 4 more". It is for items in no particular order.
func FirstFew(items []string, n int) string {
	if len(items) > n {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:n], ", "), len(items)-n)
	}
	return strings.Join(items, ", ")
}

// FirstSentences joins at most n of the texts, of which there is at least one: "kafka missed it. nats missed it." further
// counts the others: "The same holds for 3 more." It is empty if there are no others.
func FirstSentences(texts []string, n int) (first, further string) {
	if len(texts) > n {
		further = fmt.Sprintf("The same holds for %d more.", len(texts)-n)
	}
	return strings.Join(texts[:min(n, len(texts))], ". ") + ".", further
}

// enumerate joins items as a sentence does: "a, b and c".
func enumerate(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// capital begins a sentence. A word with a digit, such as e2e, stays as it is.
func capital(text string) string {
	if word, _, _ := strings.Cut(text, " "); strings.ContainsAny(word, digits) || text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
