package claim

import (
	"fmt"
	"slices"

	"github.com/brokermark/brokermark/internal/study"
)

// File is the name of the file in a study's folder that holds its claims.
const File = "claims.yaml"

// Parse reads the claims of a file. An error is a *study.Errors with all problems, each with its line and what is
// allowed.
func Parse(name string, data []byte) ([]Claim, error) {
	root, err := study.Tree(name, data)
	if root == nil || err != nil {
		return nil, err
	}
	found := &problems{file: name}
	var claims []Claim
	for _, list := range newNode(found, root, "").entries("claims") {
		for _, item := range list.items() {
			if found.enough() {
				break
			}
			item.found = &problems{file: name} // of this claim
			c := readClaim(item)
			found.list = append(found.list, item.found.list...)
			if c.ID != "" && slices.ContainsFunc(claims, func(other Claim) bool { return other.ID == c.ID }) {
				found.add(item.yaml.Line, list.path, "%q is the id of two claims", c.ID)
			}
			claims = append(claims, c)
		}
	}
	if len(found.list) > 0 {
		return nil, &study.Errors{Problems: found.list}
	}
	return claims, nil
}

// problems collects everything that is wrong with a file or a claim.
type problems struct {
	file string
	list []study.Problem
}

// enough reports whether no more are looked for: some take long to say.
func (p *problems) enough() bool { return len(p.list) >= 50 }

func (p *problems) add(line int, path, format string, args ...any) {
	p.list = append(p.list, study.Problem{File: p.file, Line: line, Path: path, Text: fmt.Sprintf(format, args...)})
}
