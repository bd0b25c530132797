package jvm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf16"
)

// Properties returns a .properties file with these values by name, whatever characters they hold: each is one setting.
func Properties(values map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		escape(&b, name, " =:#!")
		b.WriteByte('=')
		value := strings.TrimLeft(values[name], " ")
		for range len(values[name]) - len(value) { // spaces before a value belong to no one
			b.WriteString(`\ `)
		}
		escape(&b, value, "")
		b.WriteByte('\n')
	}
	return b.String()
}

// escape escapes text so that java reads it back unchanged: characters that java would change, and all of special.
func escape(b *strings.Builder, text, special string) {
	for _, r := range text {
		switch {
		case r == '\\' || strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r > '~':
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(b, `\u%04x`, unit)
			}
		default:
			b.WriteRune(r)
		}
	}
}
