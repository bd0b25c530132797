package driver

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Dialect is how a client library is told its settings.
type Dialect struct {
	Library string
	Words   int    // which of the words and values of a Phrase are its
	Line    string // with a name and a value: "%s=%s"
	Comment string // what begins a comment
	Python  bool   // values are Python's: True, and texts are quoted
}

// ConnectionSide is that of a Phrase about a connection, before those of producers and consumers.
const ConnectionSide Side = "connection"

// Phrase is one setting in the words of several client libraries.
type Phrase struct {
	Setting string // the driver's own, or one that follows from the guarantee
	Sides   []Side
	// Words are what each library calls it, or with a %s for the value the whole line. NoLine: it needs not be told; empty: it has no
	// counterpart.
	Words []string
	// Values are, by value, what each library calls that, where any of them has another word for it; NoLine and empty likewise.
	Values map[string][]string
	Else   string // what to do where there is no counterpart, as a clause
}

// NoLine stands for a setting, or a value of it, that a library has without being told.
const NoLine = "-"

// Pasted are client settings as they are pasted into a client of another library.
type Pasted struct {
	Library string
	Text    string
	Without []string // settings that the library has no counterpart for, with their values and what to do instead
}

// plain values do nothing but stand there, whatever they are pasted into.
var plain = regexp.MustCompile(`^[A-Za-z0-9 ._:/%+()-]*$`)

// Paste writes values in force in the words of each dialect. Settings without a value are left out; those that may be more than a value are
// named without it.
func Paste(dialects []Dialect, phrases []Phrase, inForce map[string]any) []Pasted {
	all := make([]Pasted, len(dialects))
	for i, d := range dialects {
		p := Pasted{Library: d.Library}
		var text strings.Builder
		for _, side := range []Side{ConnectionSide, ProducerSide, ConsumerSide} {
			heading := fmt.Sprintf("%s %s\n", d.Comment, side)
			for _, phrase := range phrases {
				value, given := inForce[phrase.Setting]
				if !given || !slices.Contains(phrase.Sides, side) {
					continue
				}
				line, has := d.line(phrase, fmt.Sprint(value))
				if line != "" {
					text.WriteString(heading + line)
					heading = ""
				}
				without := fmt.Sprintf("%s %v: %s", phrase.Setting, value, cmp.Or(phrase.Else, "such a value may be code there"))
				if !has && !slices.Contains(p.Without, without) {
					p.Without = append(p.Without, without)
				}
			}
		}
		p.Text = text.String()
		all[i] = p
	}
	return all
}

// line is a phrase with its value; empty if none is needed. has is false if the library has no counterpart.
func (d Dialect) line(p Phrase, value string) (line string, has bool) {
	word := p.Words[d.Words]
	if others, ok := p.Values[value]; ok {
		value = others[d.Words]
	} else if !plain.MatchString(value) {
		return "", false
	}
	switch {
	case word == NoLine, value == NoLine:
		return "", true
	case word == "" || value == "":
		return "", false
	case strings.Contains(word, "%s"):
		return fmt.Sprintf(word, value) + "\n", true
	case d.Python:
		value = python(value)
	}
	return fmt.Sprintf(d.Line, word, value) + "\n", true
}

// python is a value as Python writes it.
func python(value string) string {
	if _, err := strconv.ParseInt(value, 10, 64); err == nil {
		return value
	}
	switch value {
	case "true":
		return "True"
	case "false":
		return "False"
	}
	return strconv.Quote(value)
}
