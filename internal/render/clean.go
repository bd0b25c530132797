// Text without characters that could harm a page or a terminal.

package render

import (
	"strings"
	"unicode"
)

// clean makes text safe for any page: no control characters (a label must not drive the terminal), no characters that
// reorder or hide their surroundings, no broken UTF-8, no line breaks.
func clean(text string) string {
	return strings.Join(strings.Fields(cleanLines(strings.NewReplacer("\n", " ", "\t", " ").Replace(text))), " ")
}

// cleanLines is clean for text whose line breaks and spaces matter.
func cleanLines(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
