package results

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/lists"
	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// Source holds records: a store.
type Source interface {
	// Each reads the records that the filter selects, in the order in which they were stored. It may yield further ones. An error
	// ends the loop.
	Each(ctx context.Context, f store.Filter) iter.Seq2[store.Record, error]
}

// Select reads the records that match every term of expr, such as "broker=kafka,messageSize=1KiB", one by one. A term names
//
//   - study, label, status or repetition,
//   - point (in exports point_id) or began, with the beginning of a value or all of it: "began=2026-03-01",
//   - an axis, or any path of the spec, of settings.*, versions.* and host.*; "version" also matches the version that was measured.
//
// A term may use the short names of specs, such as rate for load.rate. An empty expr selects all records.
//
// Only records that the source selects by study, broker, status, repetition, point and time are read. If no record has the name,
// or none has the value, the error names those that exist; it is no error of the source.
func Select(ctx context.Context, from Source, expr string) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		terms, err := parseTerms(expr)
		if err != nil {
			yield(store.Record{}, err)
			return
		}
		facts := new(factCache)
		found := false
		for r, err := range from.Each(ctx, filterOf(terms)) {
			if err == nil && matching(r, terms, facts) < len(terms) {
				continue
			}
			found = true
			if !yield(r, err) || err != nil {
				return
			}
		}
		if !found && len(terms) > 0 {
			yield(store.Record{}, noMatch(ctx, from, expr, terms))
		}
	}
}

// term is one condition of a selection, with its name written out.
type term struct{ name, value string }

func parseTerms(expr string) (terms []term, err error) {
	if expr == "" {
		return nil, nil
	}
	for _, text := range termsOf(expr) {
		name, value, ok := cutTerm(text)
		if !ok {
			return nil, fmt.Errorf("selection %q: %q is not name=value", expr, strings.TrimSpace(text))
		}
		terms = append(terms, term{name, value})
	}
	return terms, nil
}

// filterOf makes a filter that selects every record that the terms select, and as few others as possible.
func filterOf(terms []term) (f store.Filter) {
	for _, t := range terms {
		switch t.name {
		case "study":
			f.Study = t.value
		case "broker":
			f.Broker = t.value
		case "status":
			f.Statuses = []store.Status{store.Status(t.value)}
		case "point":
			f.PointPrefix = t.value
		case "repetition":
			f.Repetition, _ = strconv.Atoi(t.value) // a text that is no number matches none
		case "began":
			f.From, f.Before = periodOf(t.value)
		}
	}
	return f
}

// periodOf returns the period of the times whose text begins with prefix: for "2026-03" the first of March and of April. Both are
// zero if there is no such period.
func periodOf(prefix string) (from, before time.Time) {
	const whole = "2006-01-02T15:04:05Z"
	end, known := map[int]func(time.Time) time.Time{
		len("2006"):                func(t time.Time) time.Time { return t.AddDate(1, 0, 0) },
		len("2006-01"):             func(t time.Time) time.Time { return t.AddDate(0, 1, 0) },
		len("2006-01-02"):          func(t time.Time) time.Time { return t.AddDate(0, 0, 1) },
		len("2006-01-02T15"):       func(t time.Time) time.Time { return t.Add(time.Hour) },
		len("2006-01-02T15:04"):    func(t time.Time) time.Time { return t.Add(time.Minute) },
		len("2006-01-02T15:04:05"): func(t time.Time) time.Time { return t.Add(time.Second) },
		len(whole):                 func(t time.Time) time.Time { return t.Add(time.Second) },
	}[len(prefix)]
	if !known {
		return from, before
	}
	from, err := time.Parse(whole[:len(prefix)], prefix)
	if err != nil || from.Year() < 2000 || from.Year() > 2099 {
		return time.Time{}, time.Time{}
	}
	return from, end(from)
}

// matching counts the terms that a record matches, up to the first that it doesn't.
func matching(r store.Record, terms []term, facts *factCache) int {
	own := ownProperties(r)
	var all map[string][]string
	for i, t := range terms {
		values := own[t.name]
		if values == nil {
			if all == nil {
				all = propertiesOf(r, facts)
			}
			values = all[t.name]
		}
		if !matches(t.name, t.value, values) {
			return i
		}
	}
	return len(terms)
}

// termsOf splits a selection at its commas. A value may hold commas, too: in "messageSize=100:1,1KiB:1,acks=1" a part without "="
// belongs to the term before it. No value holds both a comma and "=" behind it.
func termsOf(expr string) []string {
	var terms []string
	for part := range strings.SplitSeq(expr, ",") {
		if len(terms) > 0 && !strings.Contains(part, "=") {
			terms[len(terms)-1] += "," + part
		} else {
			terms = append(terms, part)
		}
	}
	return terms
}

// cutTerm splits "broker=kafka" into name and value, and expands a short name. ok is false for a text without a name or "=".
func cutTerm(term string) (name, value string, ok bool) {
	name, value, found := strings.Cut(term, "=")
	name, value = study.AxisName(strings.TrimSpace(name)), strings.TrimSpace(value)
	if name == "point_id" { // its key in exports
		name = "point"
	}
	return name, value, found && name != ""
}

// maxValuesListed is how many values an error lists at most.
const maxValuesListed = 12

// selectableNames is the hint for an unknown name without a similar one.
const selectableNames = "; there are study, label, status, repetition, point, began, and settings, such as broker or load.rate"

// noMatch says why no record matches the terms: the records that match the most terms lack the name of the next one, or its value.
func noMatch(ctx context.Context, from Source, expr string, terms []term) error {
	for n, t := range slices.Backward(terms) {
		known, err := valuesAmong(ctx, from, terms[:n], t.name)
		if err != nil {
			return err
		}
		if len(known) > 0 {
			return fmt.Errorf("selection %q: %s", expr, lacking(terms[:n], t, known))
		}
	}
	return fmt.Errorf("selection %q: there are no records to select from", expr)
}

// lister is a source that can list the values of some names over all its records without reading them. It returns nil for other names.
type lister interface {
	Values(ctx context.Context, name string) ([]string, error)
}

// valuesAmong returns the names in the records that match the terms, with the values of one of them.
func valuesAmong(ctx context.Context, from Source, terms []term, of string) (Values, error) {
	known, facts := Values{}, new(factCache)
	if s, ok := from.(lister); ok && len(terms) == 0 {
		if list, err := s.Values(ctx, of); list != nil || err != nil {
			known.Add(of, list...)
			return known, err
		}
	}
	for r, err := range from.Each(ctx, filterOf(terms)) {
		if err != nil {
			return nil, err
		}
		if matching(r, terms, facts) < len(terms) {
			continue
		}
		for name, values := range propertiesOf(r, facts) {
			known.Add(name, "")
			if name == of {
				known.Add(name, values...)
			}
		}
	}
	return known, nil
}

// lacking says which name or value is missing in all records that the terms before have selected.
func lacking(before []term, t term, known Values) string {
	none := "no record has"
	if len(before) > 0 {
		by := lists.Map(before, func(b term) string { return b.name + "=" + b.value })
		none = fmt.Sprintf("no record with %s has", strings.Join(by, ","))
	}
	values, hasName := known[t.name]
	if !hasName {
		hint := suggest.DidYouMean(t.name, sortedKeys(known))
		return fmt.Sprintf("%s anything called %q%s", none, t.name, cmp.Or(hint, selectableNames))
	}
	sorted := slices.DeleteFunc(sortedKeys(values), func(v string) bool { return v == "" })
	switch {
	case len(sorted) == 0:
		return fmt.Sprintf("%s any %s", none, t.name)
	case matches(t.name, t.value, sorted): // the record was stored meanwhile
		return "no record matched until now: select again"
	}
	return fmt.Sprintf("%s %s=%s; there are: %s", none, t.name, t.value, FirstFew(sorted, maxValuesListed))
}

// Selectable lists the names that Select takes, with the values in records, sorted. Empty values are left out.
func Selectable(records []store.Record) map[string][]string {
	facts := new(factCache)
	seen := Values{}
	for _, r := range records {
		for name, values := range propertiesOf(r, facts) {
			seen.Add(name, values...)
		}
	}
	sorted := map[string][]string{}
	for name, values := range seen {
		sorted[name] = slices.DeleteFunc(sortedKeys(values), func(v string) bool { return v == "" })
	}
	return sorted
}

// SelectionNames lists the names of a selection's terms. The sides of a comparison are meant to differ in them.
func SelectionNames(expr string) []string {
	var names []string
	for _, term := range termsOf(expr) {
		if name, _, ok := cutTerm(term); ok {
			names = append(names, name)
		}
	}
	return names
}

// SideSelection is the selection for one side of a comparison. A side is a selection, or else a broker with or without its
// version: "kafka@4.3.1" is short for "broker=kafka,version=4.3.1".
func SideSelection(side string) string {
	if strings.Contains(side, "=") {
		return side
	}
	broker, version, hasVersion := strings.Cut(side, "@")
	if hasVersion {
		return "broker=" + broker + ",version=" + version
	}
	return "broker=" + broker
}

// JoinSelections selects records that match both selections. An empty one matches everything.
func JoinSelections(a, b string) string {
	return lists.Join(",", a, b)
}

// propertiesOf lists the properties by which a record can be selected, with their values. One may have several: the version in
// the spec, and the measured one.
func propertiesOf(r store.Record, facts *factCache) map[string][]string {
	properties := map[string][]string{}
	for path, value := range facts.ofRecord(r) {
		properties[path] = append(properties[path], value)
	}
	for axis, value := range r.Axes {
		properties[axis] = append(properties[axis], value)
	}
	maps.Copy(properties, ownProperties(r))
	properties["version"] = append(properties["version"], r.Versions.Broker)
	return properties
}

// ownProperties lists the properties that are a record's own, not its settings or circumstances.
func ownProperties(r store.Record) map[string][]string {
	return map[string][]string{
		"study":      {r.Study},
		"label":      {r.Label},
		"status":     {string(r.Status)},
		"point":      {r.PointID},
		"began":      {r.Began.UTC().Format(time.RFC3339)},
		"repetition": {fmt.Sprint(r.Repetition)},
	}
}

// matches reports whether one of a property's values is the wanted one or, for some names, begins with it.
func matches(name, want string, values []string) bool {
	beginningIsEnough := name == "point" || name == "began"
	return slices.ContainsFunc(values, func(v string) bool {
		if beginningIsEnough {
			return want != "" && strings.HasPrefix(v, want)
		}
		return study.Same(name, v, want)
	})
}

// Values holds the distinct values of settings by the name of the setting. In {"acks": {"1", "all"}, "linger": {"5"}} acks varies.
type Values map[string]map[string]bool

// Add adds values of a setting.
func (v Values) Add(name string, values ...string) {
	for _, value := range values {
		if v[name] == nil {
			v[name] = map[string]bool{}
		}
		v[name][value] = true
	}
}

// AddAll adds the values of several settings, by their names.
func (v Values) AddAll(settings map[string]string) {
	for name, value := range settings {
		v.Add(name, value)
	}
}

// Vary reports whether a setting has several values.
func (v Values) Vary(name string) bool { return len(v[name]) > 1 }

// Varying lists the settings with several values, sorted.
func (v Values) Varying() []string {
	return lists.Filter(sortedKeys(v), v.Vary)
}
