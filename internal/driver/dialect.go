package driver

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Dialect describes how settings are written for one client library.
type Dialect struct {
	Library string
	Words   int    // index into Phrase.Words and Phrase.Values
	Line    string // with a name and a value: "%s=%s"
	Comment string // the start of a comment
	Python  bool   // values are written as in Python: True, and quoted strings
}

// ConnectionSide is the side of a Phrase about a connection; it comes before producers and consumers.
const ConnectionSide Side = "connection"

// Sides of most phrases.
var (
	Connecting = []Side{ConnectionSide}
	Producing  = []Side{ProducerSide}
	Consuming  = []Side{ConsumerSide}
)

// Phrase is one setting as several client libraries write it.
type Phrase struct {
	Setting string // the driver's own, or one derived from the guarantee
	Sides   []Side
	// Words are the names of the setting in each library; a word with %s is the whole line, with the value in its place. NoLine:
	// the library needs no line for it. Empty: the library has no such setting.
	Words []string
	// Values translate a value into the word that each library has for it, if any library has a different one. NoLine and empty
	// have the same meaning as in Words.
	Values map[string][]string
	Else   string // what to do if the library has no such setting, as a clause
}

// NoLine marks a setting or value that a library has by default.
const NoLine = "-"

// Pasted are client settings in the form of another library, ready to paste.
type Pasted struct {
	Library string
	Text    string
	Without []string // settings that the library doesn't have, with their values and what to do instead
}

// InForce returns the client settings that have an effect under g.
func InForce(settings []Setting, g Guarantee, client Values) map[string]any {
	values := map[string]any{}
	for _, s := range settings {
		if s.Scope == ClientScope && (s.Idle == nil || s.Idle(g, client) == "") {
			values[s.Name] = client[s.Name]
		}
	}
	return values
}

// plain values have no special meaning in any of the languages.
var plain = regexp.MustCompile(`^[A-Za-z0-9 ._:/%+()-]*$`)

// Paste writes the values in force in each dialect. It leaves out settings without a value, and writes only the names of those
// whose values may be more than plain ones.
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

// line is the line of a phrase with its value; empty if none is needed. has is false if the library has no such setting.
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

// python writes a value as a Python literal.
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
