// Text without characters that could harm a page or a terminal. Names and reasons come from users and brokers, and may hold anything.

package render

import (
	"strings"
	"unicode"
)

// clean makes a text one harmless line: "a\r\nb \x1b[31mc" becomes "a b [31mc". Beyond what CleanLines removes it has no line breaks, and no
// two spaces in a row.
func clean(text string) string { return strings.Join(strings.Fields(CleanLines(text)), " ") }

// CleanLines is text whose line breaks and spaces stay. It has no control characters, which could drive a terminal, no characters that
// reorder or hide their surroundings, and no broken UTF-8. Tabs become spaces.
func CleanLines(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029': // the last two are line breaks to some programs
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
