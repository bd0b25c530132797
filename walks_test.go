package brokermark_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named is a name of a package in ARCHITECTURE.md, such as `results.Of`.
var named = regexp.MustCompile("`([a-z]+)\\.([A-Za-z]+)`")

// The walks of a record, a setting and a gate have ten steps at most, and every function, type and field that they name is there.
func TestTheWalksOfTheArchitectureNameWhatThereIs(t *testing.T) {
	text := read(t, "ARCHITECTURE.md")
	for _, title := range []string{"## The way of a record", "## The way of a setting", "## The way of a gate"} {
		_, walk, ok := strings.Cut(text, title+"\n")
		if !ok {
			t.Fatalf("no %q", title)
		}
		walk, _, _ = strings.Cut(walk, "\n## ")
		if steps := regexp.MustCompile(`(?m)^\d+\. `).FindAllString(walk, -1); len(steps) < 4 || len(steps) > 10 {
			t.Errorf("%s: %d steps", title, len(steps))
		}
		checked := 0
		for _, m := range named.FindAllStringSubmatch(walk, -1) {
			folder := filepath.Join("internal", m[1])
			if m[1] == "reports" {
				folder = m[1]
			}
			if _, err := os.Stat(folder); err != nil { // a file, or a setting such as client.linger.ms
				continue
			}
			checked++
			if !declares(t, folder, m[2]) {
				t.Errorf("%s: %s is not in %s", title, m[0], folder)
			}
		}
		if checked < 2 {
			t.Errorf("%s names %d functions", title, checked)
		}
	}
}

// declares tells whether a package has something of that name: a function, a method, a type or a field.
func declares(t *testing.T, folder, name string) (found bool) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				found = found || n.Name.Name == name
			case *ast.TypeSpec:
				found = found || n.Name.Name == name
			case *ast.Field:
				for _, field := range n.Names {
					found = found || field.Name == name
				}
			}
			return !found
		})
	}
	return found
}
