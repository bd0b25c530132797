package all_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/brokermark/brokermark/internal/driver"
)

// folders are where a kind's settings may be read: its own folder, and those under internal/ that several share.
func folders(t *testing.T, name string) []string {
	t.Helper()
	own := map[string]string{"redis-pubsub": "redis", "redis-cluster": "redis"}[name]
	if own == "" {
		own = name
	}
	if _, err := os.Stat(own); err != nil {
		t.Fatal(err)
	}
	return []string{own, "internal/amqp10", "internal/mqtt", "internal/natsio"}
}

// read are the names that code asks a driver.Values for, and whether it goes through all settings of a list.
type read struct {
	names  map[string]bool
	consts map[string]ast.Expr // of the folder, by name
	all    bool
}

var getters = []string{"Int", "Float", "Bool", "String", "Duration"}

// readIn finds what the Go files of a folder ask for: v.Int("name"), millis(v, "name"), or v[s.Name] in a loop over the
// declared settings. A name in a list of names to be looked up counts, too; the declaration itself doesn't.
func readIn(t *testing.T, folder string, into *read) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, into.look)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (r *read) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		called, method := n.Fun.(*ast.SelectorExpr)
		helper, function := n.Fun.(*ast.Ident)
		if method && slices.Contains(getters, called.Sel.Name) || function && helper.Name == "millis" {
			r.note(n.Args)
		}
		if method && called.Sel.Name == "AcksAfter" { // which asks for it itself
			r.names[driver.AckSetting().Name] = true
		}
		if method && called.Sel.Name == "Changed" { // which looks at all of a topic
			r.all = true
		}
		if method && called.Sel.Name == "UsesStock" {
			r.names[driver.ModeSetting("").Name] = true
		}
	case *ast.ValueSpec: // const vhostSetting = "vhost"
		for i, name := range n.Names {
			if i < len(n.Values) {
				r.consts[name.Name] = n.Values[i]
			}
		}
	case *ast.KeyValueExpr: // amqp10 asks for the setting that a product names so
		if field, ok := n.Key.(*ast.Ident); ok && field.Name == "Hostname" {
			r.note([]ast.Expr{n.Value})
		}
	case *ast.IndexExpr: // config.Topic[s.Name]
		if field, ok := n.Index.(*ast.SelectorExpr); ok && field.Sel.Name == "Name" {
			r.all = true
		}
	case *ast.RangeStmt: // for _, name := range []string{…}, and for name, bound := range map[string]…{…}
		list, ok := n.X.(*ast.CompositeLit)
		if !ok {
			if over, ok := n.X.(*ast.SelectorExpr); ok && over.Sel.Name == "Topic" {
				r.all = true // for name := range config.Topic
			}
			break
		}
		r.note(list.Elts)
		for _, e := range list.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				r.note([]ast.Expr{pair.Key})
			}
		}
	}
	return true
}

func (r *read) note(list []ast.Expr) {
	for _, e := range list {
		if named, ok := e.(*ast.Ident); ok {
			e = r.consts[named.Name]
		}
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			name, _ := strconv.Unquote(literal.Value)
			r.names[name] = true
		}
	}
}

// A setting that is declared and never read would be accepted and ignored.
func TestEverySettingThatIsDeclaredIsRead(t *testing.T) {
	for _, name := range driver.Names() {
		t.Run(name, func(t *testing.T) {
			kind, err := driver.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			found := &read{names: map[string]bool{}}
			for _, folder := range folders(t, name) {
				own := &read{names: found.names, consts: map[string]ast.Expr{}}
				readIn(t, folder, own)
				found.all = found.all || own.all && folder == folders(t, name)[0]
			}
			for _, s := range kind.Settings {
				if len(s.Allowed) == 1 { // nothing depends on it
					continue
				}
				if !found.names[s.Name] && !(found.all && s.Scope == driver.TopicScope) {
					t.Errorf("%s setting %q is declared and nothing reads it", s.Scope, s.Name)
				}
			}
			if found.names["no.such.setting"] || len(found.names) == 0 {
				t.Errorf("%d names are read", len(found.names))
			}
		})
	}
}

// outOf are values that no setting of the type and bounds takes.
func outOf(s driver.Setting) []any {
	var list []any
	switch def := s.Default.(type) {
	case int64:
		list = append(list, "many", 1.5, "1e400")
		if s.Least != nil && s.Least.(int64)-1 != def {
			list = append(list, s.Least.(int64)-1)
		}
		if s.Most != nil {
			list = append(list, s.Most.(int64)+1)
		}
	case float64:
		list = append(list, "half", true)
		if s.Least != nil {
			list = append(list, s.Least.(float64)-1, math.NaN())
		}
	case bool:
		list = append(list, "perhaps", 2)
	case time.Duration:
		list = append(list, 5, "-5ms", "soon")
		if s.Least != nil && s.Least.(time.Duration) > 0 {
			list = append(list, (s.Least.(time.Duration) - 1).String())
		}
	case string:
		if s.Allowed != nil {
			list = append(list, "none of them", 0.5)
		}
	}
	return list
}

func TestAValueThatASettingCantHaveIsRefusedByName(t *testing.T) {
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range kind.Settings {
			for _, value := range outOf(s) {
				_, err := driver.Decode(kind.Settings, s.Scope, map[string]any{s.Name: value})
				if err == nil || !strings.Contains(err.Error(), strconv.Quote(s.Name)) {
					t.Errorf("%s: %s setting %q: %v: %v", name, s.Scope, s.Name, value, err)
				}
			}
		}
	}
}

// A value to try that the driver can't read, or that is the default in other words, would be a wasted repetition.
func TestValuesToTryAreReadAndDifferFromTheDefault(t *testing.T) {
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range kind.Settings {
			seen := []any{s.Default}
			for _, value := range s.Tries {
				values, err := driver.Decode(kind.Settings, s.Scope, map[string]any{s.Name: value})
				if err != nil || slices.Contains(seen, values[s.Name]) {
					t.Errorf("%s: %s setting %q tries %s: %v, after %v", name, s.Scope, s.Name, value, err, seen)
				}
				seen = append(seen, values[s.Name])
			}
		}
	}
}

// Every setting that may be without effect is so in at least one mode and has one in another; the refusal says why.
func TestASettingWithoutEffectIsRefusedWithTheReason(t *testing.T) {
	for _, name := range driver.Names() {
		kind, err := driver.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range kind.Settings {
			if s.Idle == nil {
				continue
			}
			idle, active := false, false
			for _, given := range variations(kind, s) {
				for _, g := range supported(kind) {
					client, topic := given[driver.ClientScope], given[driver.TopicScope]
					values := client
					if s.Scope == driver.TopicScope {
						values = topic
					}
					why := s.Idle(g, values)
					idle, active = idle || why != "", active || why == ""
					var refusal *driver.ErrUnsupported
					err := driver.Idle([]driver.Setting{s}, g, client, topic)
					if (why != "") != errors.As(err, &refusal) || why != "" && !strings.Contains(err.Error(), why) {
						t.Errorf("%s: %s setting %q under %+v: %v, reason %q", name, s.Scope, s.Name, g, err, why)
					}
				}
			}
			if !idle || !active {
				t.Errorf("%s: %s setting %q: refused %v, accepted %v; want both to happen", name, s.Scope, s.Name, idle, active)
			}
		}
	}
}

// variations give s a value that is not its default, each with one other setting of its scope changed or none.
func variations(kind driver.Kind, s driver.Setting) []map[driver.Scope]driver.Values {
	var list []map[driver.Scope]driver.Values
	for _, other := range append([]driver.Setting{{}}, kind.Settings...) {
		all := map[driver.Scope]driver.Values{}
		for _, scope := range []driver.Scope{driver.ClientScope, driver.TopicScope} {
			all[scope], _ = driver.Decode(kind.Settings, scope, nil)
		}
		for _, changed := range []driver.Setting{other, s} {
			switch def := changed.Default.(type) {
			case int64:
				all[changed.Scope][changed.Name] = def + 1
			case float64:
				all[changed.Scope][changed.Name] = def + 1
			case bool:
				all[changed.Scope][changed.Name] = !def
			case time.Duration:
				all[changed.Scope][changed.Name] = def + time.Second
				if other.Name == changed.Name && def > 0 {
					all[changed.Scope][changed.Name] = time.Duration(0)
				}
			case string:
				if changed.Allowed == nil {
					all[changed.Scope][changed.Name] = def + "x"
				}
				for _, word := range changed.Allowed {
					if word != def {
						all[changed.Scope][changed.Name] = word // the last one
					}
				}
			}
		}
		list = append(list, all)
	}
	return list
}

// supported are the guarantees that a driver keeps.
func supported(kind driver.Kind) []driver.Guarantee {
	var list []driver.Guarantee
	for _, d := range []driver.Delivery{driver.AtMostOnce, driver.AtLeastOnce, driver.ExactlyOnce} {
		for _, p := range []driver.Persistence{driver.Memory, driver.Log, driver.Fsync} {
			for _, a := range []driver.Acks{driver.AcksNone, driver.AcksLeader, driver.AcksQuorum} {
				for _, o := range []driver.Ordering{driver.Ordered, driver.Unordered} {
					for _, n := range []int{1, 3} {
						g := driver.Guarantee{Delivery: d, Persistence: p, Acks: a, Ordering: o, Replicas: n}
						if kind.Supports(g) == nil {
							list = append(list, g)
						}
					}
				}
			}
		}
	}
	return list
}
