package rabbitserver

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/brokermark/brokermark/internal/provision"
	"github.com/brokermark/brokermark/internal/suggest"
)

// key is one entry of the server's own schema for rabbitmq.conf.
type key struct {
	name string
	kind string   // integer, float, flag, bytesize, enum; empty where any text may do
	enum []string // of an enum
}

var (
	remark   = regexp.MustCompile(`(?m)^\s*%.*$`)
	mapping  = regexp.MustCompile(`\{\s*mapping\s*,\s*"([^"]+)"`)
	datatype = regexp.MustCompile(`\{\s*datatype\s*,\s*(?:(integer|float|flag|bytesize)\s*\}|\{\s*enum\s*,\s*\[([^\]]*)\]\s*\}\s*\})`)
	bytesize = regexp.MustCompile(`(?i)^[0-9]+([kmg]b?)?$`)
)

// knownKeys reads the schema of the server and of plugins; an empty name is none. The server checks against it as well, but only while booting, and some wrong
// values make it end with a stack trace of the check.
func knownKeys(server string, plugins ...string) ([]key, error) {
	files, err := filepath.Glob(filepath.Join(server, "plugins/rabbit-*/priv/schema/*.schema"))
	if err != nil {
		return nil, err
	}
	for _, plugin := range plugins {
		if plugin == "" {
			continue
		}
		more, err := filepath.Glob(filepath.Join(server, "plugins/"+plugin+"-*/priv/schema/*.schema"))
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	var keys []key
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		keys = append(keys, parseSchema(string(text))...)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("no settings schema below %s", server)
	}
	return keys, nil
}

// parseSchema finds the mappings; the text between two mappings belongs to the first.
func parseSchema(text string) (keys []key) {
	text = remark.ReplaceAllString(text, "")
	starts := mapping.FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		k := key{name: text[at[2]:at[3]]}
		if m := datatype.FindStringSubmatch(text[at[1]:end]); m != nil {
			k.kind = m[1]
			if k.kind == "" {
				k.kind, k.enum = "enum", strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == '\'' || r <= ' ' })
			}
		}
		keys = append(keys, k)
	}
	return keys
}

func checkKey(known []key, own []string, name, value string) error {
	if slices.ContainsFunc(slices.Concat(ours, own), func(o string) bool { return name == o || strings.HasPrefix(name, o+".") }) {
		return &provision.ErrSetting{Name: name, Reason: "it is set by the recipe, so that the broker is found and alone"}
	}
	var names []string
	for _, k := range known {
		names = append(names, k.name)
		if !keyMatches(k.name, name) {
			continue
		}
		if want := k.rejects(value); want != "" {
			return &provision.ErrSetting{Name: name, Reason: fmt.Sprintf("%q is not %s", value, want)}
		}
		return nil
	}
	return &provision.ErrSetting{Name: name, Reason: "rabbitmq.conf has no such key; the nearest is " + suggest.Closest(name, names)}
}

// rejects returns what value should have been; empty if it is valid.
func (k key) rejects(value string) (want string) {
	var err error
	switch k.kind {
	case "integer":
		_, err = strconv.ParseInt(value, 10, 64)
		want = "a whole number"
	case "float":
		_, err = strconv.ParseFloat(value, 64)
		want = "a number"
	case "bytesize":
		if want = "a size such as 64MB"; bytesize.MatchString(value) {
			return ""
		}
		return want
	case "flag":
		k.enum = []string{"on", "off"}
		fallthrough
	case "enum":
		if slices.Contains(k.enum, value) {
			return ""
		}
		return "one of " + strings.Join(k.enum, ", ")
	}
	if err == nil {
		return ""
	}
	return want
}

// keyMatches compares segment by segment; a segment of the schema that starts with $ stands for any.
func keyMatches(key, name string) bool {
	want, have := strings.Split(key, "."), strings.Split(name, ".")
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && !strings.HasPrefix(want[i], "$") {
			return false
		}
	}
	return true
}
