package results

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"
)

// A key without a metric would panic in the report that asks for it; a metric without a key can't be asked for.
func TestEveryKeyNamesAMetricAndEveryMetricHasAKey(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok {
			key, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		return true
	})
	for _, key := range keys {
		if _, err := MetricByKey(key); err != nil {
			t.Error(err)
		}
	}
	for _, m := range slices.Concat(Metrics, reportMetrics) {
		if !slices.Contains(keys, m.Key) {
			t.Errorf("%s has no constant", m.Key)
		}
	}
}
