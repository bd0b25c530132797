package claim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"

	"github.com/brokermark/brokermark/internal/study"
)

// File is the name of the file in a study's folder that holds its claims.
const File = "claims.yaml"

// Parse reads the claims of a file. An error is a *study.Errors with all problems, each with its line and what is
// allowed.
func Parse(name string, data []byte) ([]Claim, error) {
	var document, second yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	err := decoder.Decode(&document)
	isEmpty := errors.Is(err, io.EOF) || (err == nil && len(document.Content) == 0)
	if isEmpty {
		return nil, nil
	}
	found := &problems{file: name}
	hasSecond := false
	if err == nil {
		err = decoder.Decode(&second)
		hasSecond = err == nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		found.add(0, "", "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return nil, &study.Errors{Problems: found.list}
	}
	if hasSecond {
		found.add(second.Line, "", "a second document; a file holds all claims of a study in one")
	}
	if err := study.Crowded(name, document.Content[0]); err != nil {
		return nil, err
	}
	var claims []Claim
	for _, list := range newNode(found, document.Content[0], "").entries("claims") {
		for _, item := range list.items() {
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

func (p *problems) add(line int, path, format string, args ...any) {
	p.list = append(p.list, study.Problem{File: p.file, Line: line, Path: path, Text: fmt.Sprintf(format, args...)})
}
