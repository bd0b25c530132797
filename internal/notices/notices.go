// Package notices holds the licences of all software inside the program: Go modules, fonts and the web front end. It
// knows nothing of what they do.
package notices

import (
	_ "embed"
	"slices"
	"strings"
)

//go:generate go run ./generate -o THIRD-PARTY-NOTICES.txt

//go:embed THIRD-PARTY-NOTICES.txt
var text string

// Text is the document as it is shipped: after a list of components the text of each licence, once.
func Text() string { return text }

// Component is a part of the program that others wrote.
type Component struct{ Name, Version string }

// Rule separates a licence's text from the next one's, List ends the components that it covers.
const (
	Rule = "================================================================================"
	List = "--------------------------------------------------------------------------------"
)

// Licences maps each component to the texts that cover it.
func Licences() map[Component][]string { return parse(text) }

// FrontEnd lists the npm packages inside the program: their names have neither a host nor are they Go's.
func FrontEnd() []Component {
	var list []Component
	for c := range Licences() {
		if c.Name != "Go" && !strings.Contains(strings.Split(c.Name, "/")[0], ".") {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Component) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func parse(document string) map[Component][]string {
	found := map[Component][]string{}
	for _, section := range strings.Split(document, Rule+"\n")[1:] {
		covered, licence, _ := strings.Cut(section, List+"\n")
		for line := range strings.Lines(covered) {
			name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
			c := Component{name, version}
			found[c] = append(found[c], strings.TrimSpace(licence))
		}
	}
	return found
}
