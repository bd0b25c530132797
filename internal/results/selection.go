package results

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/brokermark/brokermark/internal/store"
	"github.com/brokermark/brokermark/internal/study"
	"github.com/brokermark/brokermark/internal/suggest"
)

// Select picks the records that match every term of expr, such as "broker=kafka,messageSize=1KiB". A term names
//
//   - study, label, status or repetition,
//   - point (in exports point_id) or began, with the beginning of a value or all of it: "began=2026-03-01",
//   - an axis, or any path of the spec, of settings.*, versions.* and host.*; "version" also matches the version that was measured.
//
// Where a spec may use a short name for a path, such as rate for load.rate, a term may, too.
//
// It is an error if no record has the name, or none has the value; the error names those that exist. An empty expr picks all.
func Select(records []store.Record, expr string) ([]store.Record, error) {
	if expr == "" {
		return records, nil
	}
	facts := new(factCache)
	var chosenBy []string // the terms so far
	for _, term := range termsOf(expr) {
		name, value, ok := cutTerm(term)
		if !ok {
			return nil, fmt.Errorf("selection %q: %q is not name=value", expr, strings.TrimSpace(term))
		}
		var matching []store.Record
		for _, r := range records {
			if matches(name, value, propertiesOf(r, facts)[name]) {
				matching = append(matching, r)
			}
		}
		if len(matching) == 0 {
			return nil, fmt.Errorf("selection %q: %w", expr, noMatch(records, chosenBy, name, value))
		}
		records, chosenBy = matching, append(chosenBy, name+"="+value)
	}
	return records, nil
}

// termsOf splits a selection at its commas. A value may hold commas, too: in "messageSize=100:1,1KiB:1,acks=1" a part
// without "=" belongs to the term before it. No value holds both a comma and "=" behind it.
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

// cutTerm splits "broker=kafka" into name and value, and writes out a short name. ok is false for a text without a name or
// "=".
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

// selectableNames hints at the names of a selection where none is near the one that was written.
const selectableNames = "; there are study, label, status, repetition, point, began, and settings, such as broker or load.rate"

// noMatch says why none of the records, which other terms have chosen, matches a term: none has the name, or none has the
// value.
func noMatch(records []store.Record, chosenBy []string, name, value string) error {
	if len(records) == 0 {
		return errors.New("there are no records to select from")
	}
	none := "no record has"
	if len(chosenBy) > 0 {
		none = fmt.Sprintf("no record with %s has", strings.Join(chosenBy, ","))
	}
	known := Selectable(records)
	values, hasName := known[name]
	if !hasName {
		hint := suggest.DidYouMean(name, sortedKeys(known))
		return fmt.Errorf("%s anything called %q%s", none, name, cmp.Or(hint, selectableNames))
	}
	if len(values) == 0 {
		return fmt.Errorf("%s any %s", none, name)
	}
	return fmt.Errorf("%s %s=%s; there are: %s", none, name, value, FirstFew(values, maxValuesListed))
}

// Selectable lists the names that Select takes, with the values that records have, sorted. No value is none.
func Selectable(records []store.Record) map[string][]string {
	facts := new(factCache)
	seen := Values{}
	for _, r := range records {
		for name, values := range propertiesOf(r, facts) {
			for _, v := range values {
				seen.Add(name, v)
			}
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

// JoinSelections selects what matches both selections. An empty one matches everything.
func JoinSelections(a, b string) string {
	selections := slices.DeleteFunc([]string{a, b}, func(s string) bool { return s == "" })
	return strings.Join(selections, ",")
}

// propertiesOf lists the properties by which a record can be selected, with their values. One may have several: a version
// that was asked for, and the one that was measured.
func propertiesOf(r store.Record, facts *factCache) map[string][]string {
	properties := map[string][]string{}
	for path, value := range facts.ofRecord(r) {
		properties[path] = append(properties[path], value)
	}
	for axis, value := range r.Axes {
		properties[axis] = append(properties[axis], value)
	}
	properties["study"] = []string{r.Study}
	properties["label"] = []string{r.Label}
	properties["status"] = []string{string(r.Status)}
	properties["point"] = []string{r.PointID}
	properties["began"] = []string{r.Began.UTC().Format(time.RFC3339)}
	properties["repetition"] = []string{fmt.Sprint(r.Repetition)}
	properties["version"] = append(properties["version"], r.Versions.Broker)
	return properties
}

// matches tells whether one of the values of a property is the wanted one, or begins with it if that is enough.
func matches(name, want string, values []string) bool {
	beginningIsEnough := name == "point" || name == "began"
	return slices.ContainsFunc(values, func(v string) bool {
		if beginningIsEnough {
			return want != "" && strings.HasPrefix(v, want)
		}
		return study.Same(name, v, want)
	})
}
