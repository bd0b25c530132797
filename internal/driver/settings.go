package driver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/suggest"
)

// Scope says to what a setting belongs.
type Scope string

// Scopes of a setting: the client library, or the topic (queue, stream) on the broker.
const (
	ClientScope Scope = "client"
	TopicScope  Scope = "topic"
)

// Setting documents one native setting of a driver. The type of Default is the type of its value: int64, float64, bool, string or
// time.Duration.
type Setting struct {
	Scope   Scope
	Name    string   // the native name, e.g. "linger.ms"
	Default any      // the value if the spec doesn't give the setting
	Allowed []string // for strings: the allowed values; nil: any
	Doc     string   // one line, with the unit
	// Elsewhere are values that other drivers have and this one doesn't: they are refused with Doc, which explains why.
	Elsewhere []string
	// Class is the class of the setting; "" if no other driver has a similar one.
	Class Class
	// Least and Most bound a number or a time, in the type of Default; nil: no bound but the driver's own checks.
	// Default itself is always allowed: -1 may stand for "unset".
	Least, Most any
	// Tries are the other values that brokermark tune tries, as a spec writes them; nil: it leaves the setting unchanged. None of
	// them changes the guarantee.
	Tries []string
	// Idle says why a value other than Default would have no effect under g; "" if it has one. v are all settings of the same
	// scope. Nil: it always has an effect.
	Idle func(g Guarantee, v Values) string
}

// Path is the setting's path in a spec: "client.linger.ms".
func (s Setting) Path() string { return s.Scope.path(s.Name) }

// If returns reason if holds, else "", as Setting.Idle does.
func If(holds bool, reason string) string {
	if holds {
		return reason
	}
	return ""
}

// In returns s with the class c.
func (s Setting) In(c Class) Setting {
	s.Class = c
	return s
}

// IdleWhere returns s with the Idle why.
func (s Setting) IdleWhere(why func(Guarantee, Values) string) Setting {
	s.Idle = why
	return s
}

// Trying returns s with these Tries.
func (s Setting) Trying(values ...string) Setting {
	s.Tries = values
	return s
}

// Never makes a Kind.Keyless that doesn't depend on settings.
func Never(reason string) func(Values) string { return func(Values) string { return reason } }

// Values are decoded settings: every known name is present, with a value of its default's type.
type Values map[string]any

// Int, Float, Bool, String and Duration return a setting; they panic on a name or type that the driver didn't declare.
func (v Values) Int(name string) int64              { return v[name].(int64) }
func (v Values) Float(name string) float64          { return v[name].(float64) }
func (v Values) Bool(name string) bool              { return v[name].(bool) }
func (v Values) String(name string) string          { return v[name].(string) }
func (v Values) Duration(name string) time.Duration { return v[name].(time.Duration) }

// Decode fills in defaults and checks given against the settings of scope. It refuses an undeclared name and suggests the nearest
// declared ones; the error for a value of the wrong type names the allowed values.
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
			return nil, scope.unknown(name, slices.Sorted(maps.Keys(known)))
		}
		if word := fmt.Sprint(given[name]); slices.Contains(s.Elsewhere, word) {
			return nil, &ErrUnsupported{Setting: fmt.Sprintf("%s setting %q: %s", scope, name, word), Reason: s.Doc, Path: scope.path(name)}
		}
		v, err := s.parse(given[name])
		if err == nil {
			err = s.bounded(v)
		}
		if err != nil {
			return nil, &ErrSetting{scope.path(name), fmt.Errorf("%s setting %q: %w", scope, name, err)}
		}
		out[name] = v
	}
	return out, nil
}

// path is the path of this native setting in a spec.
func (s Scope) path(name string) string {
	if s == TopicScope {
		return "topicConfig." + name
	}
	return string(s) + "." + name
}

// ofSpec maps native settings of brokers and clients to the spec's own key for the same thing.
var ofSpec = map[string]string{
	"acks": "acks: none, leader or quorum (Kafka's 0, 1 and all)", "request.required.acks": "acks: none, leader or quorum (Kafka's 0, 1 and all)",
	"replication.factor": "replicas", "num.partitions": "partitionsPerTopic", "transactional.id": "delivery: exactly-once", "bootstrap.servers": "attach", "metadata.broker.list": "attach",
	"security.protocol": "tls, with user or login for SASL", "sasl.username": "user", "ssl.ca.location": "caFile", "ssl.truststore.location": "caFile",
}

// Completed returns the settings asked for, and those defaults that they don't have.
func Completed(asked, defaults map[string]any) map[string]any {
	all := maps.Clone(defaults)
	maps.Copy(all, asked)
	return all
}

// Changed returns the topic settings that differ from their defaults.
func Changed(settings []Setting, topic Values) map[string]any {
	changed := map[string]any{}
	for _, s := range settings {
		if s.Scope == TopicScope && topic[s.Name] != s.Default {
			changed[s.Name] = topic[s.Name]
		}
	}
	return changed
}

// Flatten turns nested settings into a flat map by dotted paths.
func Flatten(settings map[string]any) map[string]any {
	flat := map[string]any{}
	for name, v := range settings {
		nested, ok := v.(map[string]any)
		if !ok {
			flat[name] = v
		}
		for below, value := range Flatten(nested) {
			flat[name+"."+below] = value
		}
	}
	return flat
}

// unknown refuses a name that is not among the known ones, and suggests the nearest, or else lists all.
func (s Scope) unknown(name string, known []string) error {
	if s == ClientScope && name == ackSetting { // some drivers have it; the nearest name would mean something else
		return Unsupported(s.path(name), "consumers can't choose here: where the broker wants acknowledgements, they give them before the application has a message at most once, and else after its work")
	}
	reason := "known: " + strings.Join(known, ", ")
	if ours := ofSpec[name]; ours != "" {
		return &ErrUnsupported{Setting: fmt.Sprintf("%s setting %q", s, name), Reason: "a spec says it itself: " + ours, Path: s.path(name), Unknown: true}
	}
	if near := suggest.Nearest(name, known); near != "" {
		reason = fmt.Sprintf("did you mean %q?", near)
	}
	return &ErrUnsupported{Setting: fmt.Sprintf("%s setting %q", s, name), Reason: reason, Path: s.path(name), Unknown: true}
}

// Idle refuses, by name, settings in the spec that would have no effect under g.
func Idle(settings []Setting, g Guarantee, client, topic Values) error {
	for _, s := range settings {
		values := client
		if s.Scope == TopicScope {
			values = topic
		}
		if s.Idle == nil || values[s.Name] == s.Default {
			continue
		}
		if why := s.Idle(g, values); why != "" {
			return &ErrUnsupported{Setting: fmt.Sprintf("%s setting %q", s.Scope, s.Name), Reason: "it would have no effect: " + why, Path: s.Path()}
		}
	}
	return nil
}

// bounded checks the range of v, which has the type of Default.
func (s Setting) bounded(v any) error {
	if v == s.Default || !below(v, s.Least) && !below(s.Most, v) {
		return nil
	}
	switch {
	case s.Most == nil:
		return fmt.Errorf("%v is out of range; allowed: %v or more", v, s.Least)
	case s.Least == nil:
		return fmt.Errorf("%v is out of range; allowed: %v or less", v, s.Most)
	}
	return fmt.Errorf("%v is out of range; allowed: %v to %v", v, s.Least, s.Most)
}

// below reports whether a < b for two values of one type; false if b is nil, which means no bound.
func below(a, b any) bool {
	if a == nil || b == nil {
		return false
	}
	switch a := a.(type) {
	case int64:
		return a < b.(int64)
	case float64:
		return !(a >= b.(float64)) // NaN is always out of range
	case time.Duration:
		return a < b.(time.Duration)
	}
	panic(fmt.Sprintf("driver: a bound of type %T", a))
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
