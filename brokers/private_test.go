package all_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// makers are the calls that make files and directories with modes of the caller's choice.
var makers = []string{"os.WriteFile", "os.Create", "os.OpenFile", "os.Mkdir", "os.MkdirAll", "os.Chmod", "os.Chown", "os.Lchown"}

// What a node is told may hold a password: provision.Node writes it, privately. Installations hold none.
func TestRecipesWriteWhatANodeIsToldInOneWay(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "test/") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains(makers, types.ExprString(call.Fun)) {
				return true
			}
			if of := types.ExprString(call); !strings.Contains(of, "i.Dir") {
				t.Errorf("%s: %s: a recipe writes with Node.Write and Node.MakeDir", set.Position(call.Pos()), of)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 50 {
		t.Errorf("%d files were read: %v", files, err)
	}
}
