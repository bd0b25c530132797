package results

import (
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
//   - point or began, of which the beginning is enough: "began=2026-03-01",
//   - an axis, or any path of the spec, of settings.*, versions.* and host.*; "version" also matches the version that was measured.
//
// It is an error if no record has the name, or none has the value; the error names those that exist.
func Select(records []store.Record, expr string) ([]store.Record, error) {
	facts := new(factCache)
	for term := range strings.SplitSeq(expr, ",") {
		name, want, ok := strings.Cut(strings.TrimSpace(term), "=")
		name, want = strings.TrimSpace(name), strings.TrimSpace(want)
		if !ok || name == "" {
			return nil, fmt.Errorf("selection %q: %q is not name=value", expr, strings.TrimSpace(term))
		}
		matching, err := facts.selectTerm(records, name, want)
		if err != nil {
			return nil, fmt.Errorf("selection %q: %w", expr, err)
		}
		records = matching
	}
	return records, nil
}

// maxValuesListed is how many values an error lists at most.
const maxValuesListed = 12

// selectTerm picks the records that match one term. It is an error if there are none.
func (c *factCache) selectTerm(records []store.Record, name, want string) ([]store.Record, error) {
	if len(records) == 0 {
		return nil, errors.New("there are no records to select from")
	}
	var matching []store.Record
	names, values := map[string]bool{}, map[string]bool{} // of the records, for an error
	for _, r := range records {
		properties := c.selectable(r)
		for n := range properties {
			names[n] = true
		}
		for _, v := range properties[name] {
			values[v] = true
		}
		if matches(name, want, properties[name]) {
			matching = append(matching, r)
		}
	}
	switch {
	case !names[name]:
		return nil, fmt.Errorf("no record has a %q; did you mean %q?", name, suggest.Closest(name, sortedKeys(names)))
	case len(matching) == 0:
		known := sortedKeys(values)
		return nil, fmt.Errorf("no record has %s=%s; there are: %s", name, want, strings.Join(known[:min(len(known), maxValuesListed)], ", "))
	}
	return matching, nil
}

// Selectable lists the names that Select takes, with the values that records have.
func Selectable(records []store.Record) map[string][]string {
	facts := new(factCache)
	seen := Values{}
	for _, r := range records {
		for name, values := range facts.selectable(r) {
			for _, v := range values {
				seen.Add(name, v)
			}
		}
	}
	out := map[string][]string{}
	for name, values := range seen {
		out[name] = sortedKeys(values)
	}
	return out
}

// Named lists the names of a selection's terms. The sides of a comparison are meant to differ in them.
func Named(expr string) []string {
	var names []string
	for term := range strings.SplitSeq(expr, ",") {
		if name, _, ok := strings.Cut(strings.TrimSpace(term), "="); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// SideSelection is the selection for one side of a comparison, which is given as a broker (kafka, kafka@4.3.1) or as a selection.
func SideSelection(side string) string {
	if strings.Contains(side, "=") {
		return side
	}
	broker, version, found := strings.Cut(side, "@")
	if found {
		return "broker=" + broker + ",version=" + version
	}
	return "broker=" + broker
}

// Joined selects what matches both selections, either of which may be empty.
func Joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "," + b
}

// selectable lists the properties by which a record can be selected. One may have several values: a version that was asked for, and
// the one that was measured.
func (c *factCache) selectable(r store.Record) map[string][]string {
	out := map[string][]string{}
	for path, value := range c.of(r) {
		out[path] = append(out[path], value)
	}
	for axis, value := range r.Axes {
		out[axis] = append(out[axis], value)
	}
	out["study"] = []string{r.Study}
	out["label"] = []string{r.Label}
	out["status"] = []string{string(r.Status)}
	out["point"] = []string{r.PointID}
	out["began"] = []string{r.Began.UTC().Format(time.RFC3339)}
	out["repetition"] = []string{fmt.Sprint(r.Repetition)}
	out["version"] = append(out["version"], r.Versions.Broker)
	out["size"] = out["messageSize"]
	return out
}

// matches tells whether one of the values of a property is the wanted one, or begins with it if that is enough.
func matches(name, want string, values []string) bool {
	switch name {
	case "point", "began":
		return want != "" && strings.HasPrefix(values[0], want)
	case "size", "messageSize":
		if size, err := study.ParseSize(want); err == nil {
			want = size.String()
		}
	}
	return slices.Contains(values, want)
}
