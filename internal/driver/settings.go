package driver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Scope says whose setting it is.
type Scope string

// Scopes of a setting: the client library's, or the topic's (queue's, stream's) on the broker.
const (
	ClientScope Scope = "client"
	TopicScope  Scope = "topic"
)

// Setting documents one native setting a driver understands. Its Default fixes the type of its value:
// int64, float64, bool, string or time.Duration.
type Setting struct {
	Scope   Scope
	Name    string   // the native name, e.g. "linger.ms"
	Default any      // what holds when the spec is silent
	Allowed []string // for strings: the closed set, nil for any
	Doc     string   // one line, with the unit
}

// Values are decoded settings: every known name is present, with a value of its default's type.
type Values map[string]any

// Int, Float, Bool, String and Duration return a setting; they panic on a name or type the driver didn't declare.
func (v Values) Int(name string) int64              { return v[name].(int64) }
func (v Values) Float(name string) float64          { return v[name].(float64) }
func (v Values) Bool(name string) bool              { return v[name].(bool) }
func (v Values) String(name string) string          { return v[name].(string) }
func (v Values) Duration(name string) time.Duration { return v[name].(time.Duration) }

// Decode fills in defaults and checks given against the settings of scope. A name that isn't declared is refused
// with the nearest known ones; a value of the wrong type is an error that names what is allowed.
func Decode(settings []Setting, scope Scope, given map[string]any) (Values, error) {
	out := Values{}
	known := map[string]Setting{}
	for _, s := range settings {
		if s.Scope == scope {
			known[s.Name] = s
			out[s.Name] = s.Default
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		s, ok := known[name]
		if !ok {
			return nil, Unsupported(fmt.Sprintf("%s setting %q", scope, name), "known: %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		v, err := s.parse(given[name])
		if err != nil {
			return nil, fmt.Errorf("%s setting %q: %w", scope, name, err)
		}
		out[name] = v
	}
	return out, nil
}

func (s Setting) parse(given any) (any, error) {
	text := fmt.Sprint(given)
	if f, ok := given.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	switch s.Default.(type) {
	case int64:
		if v, err := strconv.ParseInt(text, 10, 64); err == nil {
			return v, nil
		}
		return nil, fmt.Errorf("%q is not a whole number", text)
	case float64:
		if v, err := strconv.ParseFloat(text, 64); err == nil {
			return v, nil
		}
		return nil, fmt.Errorf("%q is not a number", text)
	case bool:
		if v, err := strconv.ParseBool(text); err == nil {
			return v, nil
		}
		return nil, fmt.Errorf("%q is not true or false", text)
	case time.Duration:
		if v, err := time.ParseDuration(text); err == nil && v >= 0 {
			return v, nil
		}
		return nil, fmt.Errorf("%q is not a duration such as 5ms", text)
	case string:
		if s.Allowed != nil && !slices.Contains(s.Allowed, text) {
			return nil, fmt.Errorf("%q is not one of %s", text, strings.Join(s.Allowed, ", "))
		}
		return text, nil
	}
	panic(fmt.Sprintf("driver: setting %q has a default of type %T", s.Name, s.Default))
}
