package exchange

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"

	generate "github.com/invopop/jsonschema"
	validate "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/brokermark/brokermark/internal/hist"
	"github.com/brokermark/brokermark/internal/results"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/store/storetest"
	"github.com/brokermark/brokermark/internal/study"
)

var update = flag.Bool("update", false, "write the published schemas anew")

// published are the schemas in docs.
var published = map[string]func(*testing.T) []byte{
	"record.schema.json": func(t *testing.T) []byte {
		return schemaOf(t, "A record of brokermark: one repetition of one point, as brokermark export writes it", store.Record{})
	},
	"flat.schema.json": flatSchema,
}

const docs = "../../docs/schema/"

// schemaOf is generated from the Go type and its comments.
func schemaOf(t *testing.T, title string, v any) []byte {
	t.Helper()
	r := &generate.Reflector{
		Anonymous: true, ExpandedStruct: true,
		Namer:  named,
		Mapper: asWritten,
	}
	for _, folder := range []string{"internal/ledger", "internal/store", "internal/study", "internal/results"} {
		if err := r.AddGoComments("github.com/brokermark/brokermark/"+folder, "../../"+folder, generate.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	for key, text := range r.CommentMap { // the folder is named twice by now
		delete(r.CommentMap, key)
		if i := strings.Index(key, "/../../"); i >= 0 {
			key = key[:i] + key[strings.LastIndex(key, "."+lastName(key)):]
		}
		r.CommentMap[key] = text
	}
	s := r.Reflect(v)
	s.Title = title
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	nullable(tree, reflect.TypeOf(v))
	defs, _ := tree["$defs"].(map[string]any)
	if s, ok := defs["store.Sustainable"].(map[string]any); ok {
		nullable(s, reflect.TypeFor[store.Sustainable]())
	}
	out, err := json.MarshalIndent(tree, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// flatSchema is generated from the fields of flat records.
func flatSchema(t *testing.T) []byte {
	t.Helper()
	var goal map[string]any
	if err := json.Unmarshal(schemaOf(t, "", results.FlatGoal{}), &goal); err != nil {
		t.Fatal(err)
	}
	dialect := goal["$schema"]
	delete(goal, "$schema")
	properties, required := map[string]any{}, []string{}
	for _, f := range results.FlatFields {
		property := map[string]any{"type": f.Type}
		if f.Nullable {
			property["type"] = []string{f.Type, "null"}
		}
		if f.Doc != "" {
			property["description"] = f.Doc
		}
		switch {
		case f.Key == "goals":
			property["items"] = goal
		case f.Type == "array":
			property["items"] = map[string]any{"type": "string"}
		}
		properties[f.Key] = property
		required = append(required, f.Key)
	}
	out, err := json.MarshalIndent(map[string]any{
		"$schema": dialect, "title": "The figures of a record, as brokermark run and export --format flat write them",
		"description": "One load of a record: always all keys, in this order, null where something was not measured or is not known. " +
			"Times are nanoseconds, sizes bytes, rates messages per second, CPU seconds per million messages, unless the key says otherwise.",
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		"patternProperties": map[string]any{`^axis\.`: map[string]any{
			"type": []string{"number", "string"}, "description": results.AxisMeaning,
		}},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// named tells types of equal names in different packages apart.
func named(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Name() == "" {
		return ""
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

func lastName(key string) string { return key[strings.LastIndex(key, ".")+1:] }

// asWritten describes types that write their JSON themselves.
func asWritten(t reflect.Type) *generate.Schema {
	switch t {
	case reflect.TypeFor[hist.Snapshot]():
		s := &generate.Schema{Type: "object", Required: []string{"n"}, Properties: generate.NewProperties()}
		for _, p := range [][3]string{
			{"n", "integer", "how many values"},
			{"min", "integer", "the smallest, in nanoseconds"},
			{"max", "integer", "the largest"},
			{"b", "string", "base64 of unsigned varints: for every bucket that holds something its distance from the previous one (the first from " +
				"bucket -1) and its count. Buckets are one per nanosecond below 512, then 256 in every octave; the last one begins at 2^42"},
			{"c", "string", "likewise, of those values that are lower bounds: of messages that never came, how long they were waited for"},
		} {
			s.Properties.Set(p[0], &generate.Schema{Type: p[1], Description: p[2]})
		}
		return s
	case reflect.TypeFor[study.Duration]():
		return &generate.Schema{Type: "string", Description: "a time with its unit, such as 30s", Pattern: `^-?([0-9.]+(ns|µs|us|ms|s|m|h))+$|^0$`}
	case reflect.TypeFor[study.Consumers]():
		return &generate.Schema{
			Description: "one number for every subscription of a topic, or one for each: 3+2",
			OneOf:       []*generate.Schema{{Type: "integer"}, {Type: "string", Pattern: `^[0-9]+(\+[0-9]+)+$`}},
		}
	case reflect.TypeFor[study.Sizes]():
		weighted := &generate.Schema{Type: "object", Required: []string{"size", "weight"}, Properties: generate.NewProperties()}
		weighted.Properties.Set("size", &generate.Schema{Type: "integer"})
		weighted.Properties.Set("weight", &generate.Schema{Type: "number"})
		return &generate.Schema{
			Description: "bytes: one size, or sizes with weights",
			OneOf:       []*generate.Schema{{Type: "integer"}, {Type: "array", Items: weighted}},
		}
	}
	return nil
}

// nullable lets required fields be null that Go writes so: pointers and lists that may be nil.
func nullable(schema map[string]any, t reflect.Type) {
	properties := schema["properties"].(map[string]any)
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.Contains(options, "omitempty") || f.Type.Kind() != reflect.Pointer && f.Name != "Trials" {
			continue
		}
		p := properties[name].(map[string]any)
		p["type"] = []any{p["type"], "null"}
	}
}

func TestPublishedSchemasAreThoseOfTheTypes(t *testing.T) {
	for name, schema := range published {
		want := schema(t)
		if *update {
			if err := os.WriteFile(docs+name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(t, docs+name); !bytes.Equal(got, want) {
			t.Errorf("docs/schema/%s isn't what the types say; write it anew with: go test ./internal/exchange -run Schemas -update", name)
		}
	}
}

func compiled(t *testing.T, name string) *validate.Schema {
	t.Helper()
	doc, err := validate.UnmarshalJSON(bytes.NewReader(read(t, docs+name)))
	if err != nil {
		t.Fatal(err)
	}
	c := validate.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhatIsWrittenIsValid(t *testing.T) {
	record, flat := compiled(t, "record.schema.json"), compiled(t, "flat.schema.json")
	records := append(storetest.Demo(), imported(t))
	for _, list := range storetest.Empty() {
		records = append(records, list...)
	}
	searched := records[0]
	result := *searched.Result
	searched.Result, result.Sustainable = &result, &store.Sustainable{Goals: []store.GoalResult{{Undecided: "no rate passed"}}}
	records = append(records, searched)
	for _, r := range records {
		for what, c := range map[string]struct {
			schema *validate.Schema
			value  any
		}{"record": {record, r}, "flat": {flat, results.Flat(r)[0]}} {
			data, err := json.Marshal(c.value)
			if err != nil {
				t.Fatal(err)
			}
			v, err := validate.UnmarshalJSON(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.schema.Validate(v); err != nil {
				t.Fatalf("%s of %s, %s: %v", what, r.PointID, r.Status, err)
			}
		}
	}
}

func TestSchemasRefuseWhatIsNeverWritten(t *testing.T) {
	schema := compiled(t, "flat.schema.json")
	good, err := json.Marshal(results.Flat(storetest.Demo()[0])[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"a missing key": strings.Replace(string(good), `"point_id"`, `"id"`, 1),
		"another key":   strings.Replace(string(good), `{`, `{"beauty":1,`, 1),
		"a text figure": strings.Replace(string(good), `"lost":0`, `"lost":"0"`, 1),
	} {
		v, err := validate.UnmarshalJSON(strings.NewReader(data))
		if err != nil || data == string(good) {
			t.Fatalf("%s: %v", name, err)
		}
		if schema.Validate(v) == nil {
			t.Errorf("%s is valid", name)
		}
	}
}
